"""How each kind of job is run through the Workbench."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from core.errors import InputError, PermissionUnavailable, RoleMissing, UnknownDocument
from core.jobs import records
from core.jobs.arguments import ROLES
from core.jobs.progress import Reporter
from core.jobs.queue import End
from core.jobs.records import Record, Request
from core.principals import require_role
from core.types import Principal, to_json

if TYPE_CHECKING:
    from core.home import Workbench
    from core.ingest.report import IngestReport


class Cancelled(Exception):
    """Somebody wants the job to stop, and it is between two documents."""


@dataclass(frozen=True, slots=True)
class Task:
    """A job that has begun."""

    workbench: Workbench
    principal: Principal
    request: Request
    record: Record
    folder: Path
    reporter: Reporter
    cancelling: Callable[[], bool]
    forget: Callable[[], None]
    """Delete what is kept of the collection's ended jobs."""

    def log(self, *lines: str) -> None:
        records.append_log(self.folder, lines)


def principal_of(workbench: Workbench, record: Record, request: Request) -> Principal:
    """In whose name the job runs, with the rights that he has now. Raises PermissionUnavailable, RoleMissing."""
    if record.named:
        principal = workbench.principal(record.actor)
    elif record.actor.startswith("operator "):
        principal = replace(workbench.operator(), actor=record.actor)
    else:
        raise PermissionUnavailable(f"{record.actor!r} is not known", "resume the job in the name of somebody who is")
    try:
        require_role(principal, ROLES[request.kind], request.collection)
    except RoleMissing as error:
        error.remedy += ", or an owner resumes the job"
        raise
    return replace(principal, agent=record.agent)


def run(task: Task) -> End:
    """Raises Cancelled, and whatever the Workbench raises."""
    runner = RUNNERS.get(task.request.kind)
    if runner is None:
        raise InputError(f"a job of the kind {task.request.kind!r} cannot be run here", "remove it")
    return runner(task)


def ingest(task: Task) -> End:
    from core.ingest.read import walk

    given = dict(task.request.arguments)
    paths = [Path(path) for path in given.pop("paths")]
    uploads = task.folder / records.UPLOADS
    if uploads.is_dir():
        paths.append(uploads)
    metadata = given.pop("metadata", None)
    task.reporter.expect(len(walk(paths).files))

    def begin(path: str) -> None:
        task.reporter.end()
        if task.cancelling():
            raise Cancelled
        task.reporter.begin(path)
        task.log(f"reading {path}")

    report = task.workbench.ingest(
        paths,
        task.request.collection,
        task.principal,
        metadata=None if metadata is None else Path(metadata),
        progress=begin,
        **given,
    )
    task.reporter.finish()
    task.log(*_lines(report))
    counts = _counts(report)
    return End(
        "done",
        _summary(report, counts),
        exit_code=1 if report.refused else 0,
        report={**to_json(report), "counts": counts, "hidden": len(report.hidden)},
    )


def rebuild(task: Task) -> End:
    report = task.workbench.rebuild(task.request.collection, task.principal, task.request.arguments.get("embedder"))
    message = f"rebuilt: {report.documents} documents in {report.chunks} chunks, {report.embedder}"
    return End("done", f"{message} (index version {report.index_version})", 0, to_json(report))


def purge(task: Task) -> End:
    """Nothing that is kept of it names a document but by its id: else the purge would find its own traces."""
    names = _as_ids(task)
    arguments = {"names": names, "resolved": True}
    records.write_request(task.folder, replace(task.request, arguments=arguments))
    task.forget()
    report = task.workbench.purge_documents(task.request.collection, names, task.principal)
    message = f"{len(report.paths)} purged, {report.words} of their words looked for in {report.files} files"
    rest = {key: value for key, value in to_json(report).items() if key != "paths"}
    return End("done", message, 0, {**rest, "documents": len(report.paths)})


def _as_ids(task: Task) -> list[str]:
    """Ids of the documents to purge. Raises UnknownDocument, AmbiguousDocument.

    On a later start, of those that are left: the others were purged by the one before.
    """
    from core.location import resolve_document

    candidates = task.workbench.library.everything(task.request.collection)
    found = []
    for name in task.request.arguments["names"]:
        try:
            found.append(candidates.snapshot.documents[resolve_document(candidates, name)].document_id)
        except UnknownDocument:
            if not task.request.arguments.get("resolved"):
                raise
    return found


RUNNERS: Mapping[str, Callable[[Task], End]] = {"ingest": ingest, "rebuild": rebuild, "purge": purge}


def _counts(report: IngestReport) -> dict[str, int]:
    from core.ingest.report import Outcome

    return {outcome: report.count(outcome) for outcome in get_args(Outcome)}


def _summary(report: IngestReport, counts: Mapping[str, int]) -> str:
    said = ", ".join(f"{number} {outcome}" for outcome, number in counts.items() if number) or "no files"
    hidden = f"; {len(report.hidden)} hidden from everyone, for want of labels" if report.hidden else ""
    return f"{said} (index version {report.index_version}){hidden}"


def _lines(report: IngestReport) -> list[str]:
    lines = []
    for file in report.files:
        what = file.reason if file.outcome == "refused" else "1 chunk" if file.chunks == 1 else f"{file.chunks} chunks"
        lines.append(f"{file.outcome} {file.path}: {what}{'; hidden from everyone' if file.hidden else ''}")
        lines += [f"warning {file.path}: {warning}" for warning in file.warnings]
    return lines
