"""`workbench jobs list|show|cancel|resume`"""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from workbench.cli.context import manager, opened_to_read
from workbench.cli.output import print_json, say, table
from workbench.cli.parser import Parser, Verbs, add_json, add_manager, group, verb

if TYPE_CHECKING:
    from core.home import Workbench
    from core.jobs.store import Job, Jobs
    from core.types import Principal

LOG_LINES = 20


def add(verbs: Verbs) -> None:
    parts = group(verbs, "jobs", "look at, cancel and resume work in the background")

    parser = verb(parts, "list", list_all, "all jobs of collections that the asker manages, newest first")
    _add_common(parser)

    parser = verb(parts, "show", show, "one job: how far it is, what became of it, and its log")
    parser.add_argument("id", metavar="ID")
    help_text = f"newest lines of its log to show (default: {LOG_LINES})"
    parser.add_argument("--log", type=_count, default=LOG_LINES, metavar="LINES", help=help_text)
    _add_common(parser)

    parser = verb(parts, "cancel", cancel, "stop a job: at once while it waits, else between two files")
    parser.add_argument("id", metavar="ID")
    _add_common(parser)

    parser = verb(parts, "resume", resume, "run a failed, cancelled or interrupted job again, in the asker's name")
    parser.add_argument("id", metavar="ID")
    _add_common(parser)


def list_all(args: argparse.Namespace) -> int:
    jobs, principal = _opened(args)
    found = [job for job in jobs.list() if _may_see(job, principal)]
    if args.json:
        print_json({"jobs": found})
    elif found:
        header = ("id", "kind", "collection", "state", "done", "by", "")
        say(table(header, [_cells(job) for job in found]))
    else:
        say("no jobs that you may see")
    return 0


def show(args: argparse.Namespace) -> int:
    from core.types import to_json

    jobs, principal = _opened(args)
    job = _visible(jobs, args.id, principal)
    log = jobs.log(job.id, args.log)
    if args.json:
        print_json({**to_json(job), "log": log})
        return 0
    say(table(("", ""), [(key, value) for key, value in _facts(job).items() if value]).lstrip("\n"))
    if log:
        say()
        say("\n".join(log))
    return 0


def cancel(args: argparse.Namespace) -> int:
    jobs, principal = _opened(args)
    job = jobs.cancel(_visible(jobs, args.id, principal).id, principal)
    if args.json:
        print_json(job)
    else:
        say(f"cancelled {job.id}" if job.state == "cancelled" else f"{job.id} stops before its next file")
    return 0


def resume(args: argparse.Namespace) -> int:
    jobs, principal = _opened(args)
    job = jobs.resume(_visible(jobs, args.id, principal).id, principal)
    jobs.ensure_worker()
    if args.json:
        print_json(job)
    else:
        say_queued(job)
    return 0


def jobs_of(workbench: Workbench) -> Jobs:
    from core.jobs.store import Jobs

    return Jobs(workbench.home, workbench.audit)


def say_queued(job: Job) -> None:
    say(f"job {job.id}: {job.kind} of {job.collection!r} in the background; how far it is:")
    say(f"  workbench jobs show {job.id}")


def _add_common(parser: Parser) -> None:
    add_manager(parser)
    add_json(parser)


def _opened(args: argparse.Namespace) -> tuple[Jobs, Principal]:
    workbench = opened_to_read(args)
    return jobs_of(workbench), manager(args, workbench)


def _may_see(job: Job, principal: Principal) -> bool:
    from core.jobs.store import may_see

    return may_see(job, principal)


def _visible(jobs: Jobs, identity: str, principal: Principal) -> Job:
    """Raises InputError alike for a job that is not there and one that the asker may not see."""
    job = jobs.get(identity)
    if not _may_see(job, principal):
        raise InputError(f"no job {identity!r}", "`workbench jobs list` shows those there are")
    return job


def _cells(job: Job) -> tuple[str, ...]:
    return (job.id, job.kind, job.collection, _state(job), _done(job), job.actor, job.message or job.current)


def _facts(job: Job) -> dict[str, str]:
    rate = f", {job.rate:.1f} a second" if job.rate else ""
    left = f", about {_duration(job.remaining_s)} left" if job.remaining_s is not None else ""
    return {
        "id": job.id,
        "kind": job.kind,
        "collection": job.collection,
        "by": job.actor,
        "state": _state(job),
        "done": f"{_done(job)}{rate}{left}",
        "at": job.current,
        "message": job.message,
        "created": _moment(job.created_at),
        "started": _moment(job.started_at),
        "ended": _moment(job.ended_at),
        "arguments": "; ".join(f"{key} {_argument(value)}" for key, value in job.arguments.items()),
    }


def _state(job: Job) -> str:
    return f"{job.state}, stopping" if job.cancelling else job.state


def _done(job: Job) -> str:
    return "" if job.total is None else f"{job.done} of {job.total}"


def _argument(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _moment(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of lines")
    return number
