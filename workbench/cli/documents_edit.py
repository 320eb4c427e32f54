"""`workbench documents edit`: metadata by hand, and first of all who would see what."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli.context import manager, opened
from workbench.cli.output import print_json, say, table
from workbench.cli.parser import Verbs, add_collection, add_json, add_manager, verb

if TYPE_CHECKING:
    from core.ingest.edit import Audience


def add(parts: Verbs) -> None:
    description = (
        "Change metadata of a document by hand. What is edited stays when its file is ingested again, until released."
    )
    parser = verb(parts, "edit", edit, "change a document's metadata", description, usage="NAME_OR_ID [options]")
    parser.add_argument("name", metavar="NAME_OR_ID", help="id, path or file name")
    add_collection(parser)
    parser.add_argument(
        "--set", dest="changes", action="append", default=[], type=_pair, metavar="KEY=VALUE", help="docs/metadata.md"
    )
    parser.add_argument("--clear", action="append", default=[], metavar="KEY", help="let it state nothing")
    parser.add_argument(
        "--release", action="append", default=[], metavar="KEY", help="let the next ingestion set it again"
    )
    parser.add_argument("--preview", action="store_true", help="only show who would see what, before and after")
    add_manager(parser)
    add_json(parser)


def edit(args: argparse.Namespace) -> int:
    changes = {**dict(args.changes), **dict.fromkeys(args.clear)}
    if not changes and not args.release:
        args.leaf.error("one of the arguments --set, --clear, --release is required")
    workbench = opened(args)
    principal = manager(args, workbench)
    if args.preview:
        return _say_audience(args, workbench.audience(args.collection, args.name, changes, principal, args.release))
    document = workbench.edit_document(args.collection, args.name, changes, principal, released=args.release)
    if args.json:
        print_json({"collection": args.collection, "document": document})
    else:
        edited = ", ".join(document.edited) or "nothing"
        say(f"{document.path}: edited by hand: {edited}")
        if args.release:
            say(f"released: {', '.join(args.release)}; what was edited holds until the file is ingested again")
    return 0


def _say_audience(args: argparse.Namespace, audience: Audience) -> int:
    if args.json:
        print_json({"collection": args.collection, "audience": audience})
        return 0
    say("\n".join(f"labels change: {path}" for path in audience.paths) or "no document's effective labels change")
    for path in audience.hidden:
        say(f"nobody would see {path}")
    rows = [(seer.name, str(seer.before), str(seer.after)) for seer in audience.people]
    if rows:
        say()
        say(table(("of these documents", "sees now", "would see"), rows))
    return 0


def _pair(text: str) -> tuple[str, str]:
    """Raises ArgumentTypeError."""
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE; to state nothing, use --clear KEY")
    return key, value
