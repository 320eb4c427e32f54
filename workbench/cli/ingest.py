"""`workbench ingest`"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from core.errors import InputError, UnknownCollection
from workbench.cli.context import Progress, manager, opened
from workbench.cli.jobs import jobs_of, say_queued
from workbench.cli.output import print_json, say
from workbench.cli.parser import Verbs, add_collection, add_json, add_manager, verb

if TYPE_CHECKING:
    from core.home import Workbench
    from core.ingest.report import IngestReport, Outcome
    from core.types import Principal

HIDDEN_NAMED = 20
"""Documents hidden from everyone that a report names."""


def add(verbs: Verbs) -> None:
    description = "Bring files, and all files of folders, into a collection, which is made where there is none."
    parser = verb(verbs, "ingest", run, "bring files into a collection", description)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    add_collection(parser)
    parser.add_argument("--metadata", type=Path, metavar="FILE", help="metadata of the files, by path")
    parser.add_argument("--background", action="store_true", help="leave it to a process of its own: see jobs")
    add_manager(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from core.types import to_json

    if not any(path.exists() for path in args.paths):
        raise InputError(f"no such file or folder: {args.paths[0]}", "check the path")
    workbench = opened(args)
    principal = manager(args, workbench)
    created = ensure(workbench, args.collection, principal)
    if args.background:
        return _in_background(args, workbench, principal, created)
    progress = Progress()
    try:
        report = workbench.ingest(args.paths, args.collection, principal, metadata=args.metadata, progress=progress)
    finally:
        progress.done()
    if args.json:
        counts = {outcome: report.count(outcome) for outcome in outcomes()}
        print_json({**to_json(report), "created": created, "counts": counts, "hidden": len(report.hidden)})
    else:
        if created:
            say(f"created collection {args.collection!r}, without default labels")
        say_report(report)
    return 1 if report.refused else 0


def _in_background(args: argparse.Namespace, workbench: Workbench, principal: Principal, created: bool) -> int:
    from core.types import to_json

    jobs = jobs_of(workbench)
    arguments = {"paths": args.paths, "metadata": args.metadata}
    job = jobs.submit("ingest", args.collection, principal, arguments)
    jobs.ensure_worker()
    if args.json:
        print_json({**to_json(job), "created": created})
    else:
        say_queued(job)
    return 0


def ensure(workbench: Workbench, name: str, principal: Principal) -> bool:
    """Whether the collection had to be made. Raises RoleMissing, InputError, EmbedderUnavailable."""
    try:
        workbench.library.collection(name)
    except UnknownCollection:
        workbench.create_collection(name, principal)
        return True
    return False


def say_report(report: IngestReport) -> None:
    """A line for each file that was refused or has warnings, then what became of all."""
    for file in report.files:
        if file.outcome == "refused":
            say(f"refused  {file.path}: {file.reason}")
        for warning in file.warnings:
            say(f"warning  {file.path}: {warning}")
    counts = [f"{report.count(outcome)} {outcome}" for outcome in outcomes() if report.count(outcome)]
    say(f"{report.collection}: {', '.join(counts) or 'no files'} (index version {report.index_version})")
    if report.remembered:
        said = f"said of them before by a table or sidecar still holds for {len(report.remembered)}"
        say(f"what was {said}; a table or sidecar that names them changes it")
    if report.hidden:
        _say_hidden([file.path for file in report.hidden], shlex.quote(report.collection))


def _say_hidden(paths: list[str], collection: str) -> None:
    for path in paths[:HIDDEN_NAMED]:
        say(f"hidden   {path}: no labels let anybody see it")
    if len(paths) > HIDDEN_NAMED:
        say(f"and {len(paths) - HIDDEN_NAMED} more: workbench documents list --collection {collection} --hidden")
    say(f"hidden from everyone, for want of labels: {len(paths)}; state default labels with")
    say(f"  workbench collections set {collection} --classification internal --allow staff")


def outcomes() -> tuple[Outcome, ...]:
    from core.ingest.report import Outcome

    return get_args(Outcome)
