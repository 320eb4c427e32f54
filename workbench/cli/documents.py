"""`workbench documents list|show|source|edit|remove`"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from workbench.cli import documents_edit
from workbench.cli.context import manager, opened, opened_to_read
from workbench.cli.output import print_json, say, table, wrapped
from workbench.cli.parser import Verbs, add_collection, add_json, add_manager, add_reader, group, verb

if TYPE_CHECKING:
    from core.home import DocumentRow, DocumentView, HiddenDocument
    from core.ingest.purge import PurgeReport


def add(verbs: Verbs) -> None:
    parts = group(verbs, "documents", "list, show, edit and remove the documents of a collection")

    parser = verb(parts, "list", list_all, "the documents that the asker may see, in force or not")
    add_collection(parser)
    hidden = "instead those that nobody may see: for their owner, or without --as for the operator"
    parser.add_argument("--hidden", action="store_true", help=hidden)
    add_reader(parser)
    add_json(parser)

    parser = verb(parts, "show", show, "one document: its metadata and its chunks")
    parser.add_argument("name", metavar="NAME_OR_ID", help="id, path or file name")
    add_collection(parser)
    parser.add_argument("--text", action="store_true", help="its text as well")
    add_reader(parser)
    add_json(parser)

    parser = verb(parts, "source", source, "write out the file that a document was read from, as it came")
    parser.add_argument("name", metavar="NAME_OR_ID", help="id, path or file name")
    add_collection(parser)
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="where to; nothing is overwritten")
    add_reader(parser)

    documents_edit.add(parts)

    parser = verb(parts, "remove", remove, "remove documents, all at once or none")
    parser.add_argument("names", nargs="*", metavar="NAME_OR_ID", help="id, path or file name")
    parser.add_argument(
        "--purge",
        action="store_true",
        help="leave no trace of their words on disk, nor of what was removed or updated before",
    )
    add_collection(parser)
    add_manager(parser)
    add_json(parser)


def list_all(args: argparse.Namespace) -> int:
    workbench = opened_to_read(args)
    if args.hidden:
        return _say_hidden(args, workbench.hidden_documents(args.collection, manager(args, workbench)))
    rows = workbench.documents(args.collection, workbench.principal(args.principal))
    if args.json:
        print_json({"collection": args.collection, "documents": [summary(row) for row in rows]})
    elif rows:
        header = ("path", "title", "classification", "status", "revision", "chunks", "in force")
        say(table(header, [cells(row) for row in rows]))
    else:
        say("no documents that you may see")
    return 0


def _say_hidden(args: argparse.Namespace, rows: list[HiddenDocument]) -> int:
    if args.json:
        shown = [{"document_id": row.document.document_id, "path": row.document.path} for row in rows]
        print_json({"collection": args.collection, "hidden": shown})
    elif rows:
        header = ("path", "title", "states", "chunks")
        say(table(header, [_hidden_cells(row) for row in rows]))
    else:
        say("no document is hidden from everyone")
    return 0


def _hidden_cells(row: HiddenDocument) -> tuple[str, ...]:
    """With the labels of its own, which do not suffice."""
    from core.types import LABEL_KEYS

    labels = [(key, getattr(row.document.labels, key)) for key in LABEL_KEYS]
    stated = "; ".join(f"{key} {fact(value)}" for key, value in labels if value)
    return row.document.path, row.document.title, stated or "no labels", str(row.chunks)


def show(args: argparse.Namespace) -> int:
    workbench = opened_to_read(args)
    view = workbench.document(args.collection, args.name, workbench.principal(args.principal))
    if args.json:
        shown = {"document": details(view.row), "chunks": view.chunks, "text": view.text if args.text else None}
        print_json({"collection": args.collection, **shown})
    else:
        say_view(view, args.text)
    return 0


def source(args: argparse.Namespace) -> int:
    workbench = opened_to_read(args)
    document, data = workbench.source(args.collection, args.name, workbench.principal(args.principal))
    try:
        with open(args.output, "xb") as file:
            file.write(data)
    except FileExistsError:
        raise InputError(f"{args.output} is there already", "name another file") from None
    except OSError as error:
        raise InputError(f"{args.output} cannot be written ({error.strerror})", "name another file") from None
    say(f"wrote {document.path} to {args.output} ({len(data):,} bytes)")
    return 0


def remove(args: argparse.Namespace) -> int:
    if not args.names and not args.purge:
        args.leaf.error("the following arguments are required: NAME_OR_ID, or --purge for what was removed before")
    workbench = opened(args)
    principal = manager(args, workbench)
    if args.purge:
        return _say_purged(args, workbench.purge_documents(args.collection, args.names, principal))
    removed = workbench.remove_documents(args.collection, args.names, principal)
    if args.json:
        print_json({"collection": args.collection, "removed": removed})
    else:
        say("\n".join(f"removed {path}" for path in removed))
    return 0


def _say_purged(args: argparse.Namespace, report: PurgeReport) -> int:
    if args.json:
        counts = {"words": report.words, "files": report.files}
        print_json({"collection": report.collection, "purged": report.paths, **counts})
        return 0
    say("\n".join(f"purged {path}" for path in report.paths) or "purged what was removed and updated before")
    say(f"looked for {report.words} of their words in {report.files} files of the home: none is left")
    return 0


def summary(row: DocumentRow) -> dict[str, Any]:
    """A document as the list shows it in JSON."""
    document = row.document
    return {
        "document_id": document.document_id,
        "path": document.path,
        "title": document.title,
        "classification": row.classification,
        "status": document.status,
        "knowledge_id": document.knowledge_id,
        "revision": document.revision,
        "revised_at": document.revised_at,
        "valid_until": document.valid_until,
        "chunks": row.chunks,
        "in_force": row.in_force,
    }


def details(row: DocumentRow) -> dict[str, Any]:
    """All that is known of a document. `labels` are those it states, `classification` the one that holds."""
    from core.types import to_json

    return {
        **to_json(row.document),
        "classification": row.classification,
        "chunks": row.chunks,
        "in_force": row.in_force,
    }


def cells(row: DocumentRow) -> tuple[str, ...]:
    document = row.document
    in_force = "yes" if row.in_force else "no"
    facts = (row.classification, document.status, document.revision, str(row.chunks), in_force)
    return (document.path, document.title, *facts)


def say_view(view: DocumentView, with_text: bool) -> None:
    from core.provenance import format_location

    facts = {key: value for key, value in details(view.row).items() if value not in (None, [], "")}
    labels = facts.pop("labels")
    facts |= {key: value for key, value in labels.items() if value and key != "classification"}
    say(table(("", ""), [(key, fact(value)) for key, value in facts.items()]).lstrip("\n"))
    say()
    places = [format_location(chunk.provenance) for chunk in view.chunks]
    chunks = zip(view.chunks, places, strict=True)
    say(table(("chunk", "start", "end", "where"), [(c.chunk_id, str(c.start), str(c.end), at) for c, at in chunks]))
    if with_text:
        say()
        say(wrapped(view.text, ""))


def fact(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return " ".join(map(fact, value.values()))
    if isinstance(value, list | tuple):
        return ", ".join(map(fact, value))
    return str(value)
