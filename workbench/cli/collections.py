"""`workbench collections list|create|set|drop`"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from workbench.cli.context import home_of, manager, opened
from workbench.cli.output import print_json, say, table
from workbench.cli.parser import Verbs, add_json, add_labels, add_manager, group, labels_given, verb

if TYPE_CHECKING:
    from core.home import Workbench
    from core.store.registry import Collection
    from core.types import Labels

HIDDEN = "documents that state no labels of their own stay hidden from everyone"


def add(verbs: Verbs) -> None:
    parts = group(verbs, "collections", "list, create, change and drop collections")

    add_json(verb(parts, "list", list_all, "every collection of the home"))

    parser = verb(parts, "create", create, "make an empty collection", usage="NAME [options]")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--embedder", metavar="SPEC", help="what makes its vectors (default: embedding.default)")
    add_labels(parser)
    add_manager(parser)
    add_json(parser)

    description = "Change a collection's default labels; those that are not given stay as they are."
    parser = verb(parts, "set", change, "change default labels", description, usage="NAME [options]")
    parser.add_argument("name", metavar="NAME")
    add_labels(parser)
    parser.add_argument("--no-defaults", action="store_true", help="no default labels at all")
    add_manager(parser)
    add_json(parser)

    parser = verb(parts, "drop", drop, "delete a collection and everything in it")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--yes", action="store_true", help="required: there is no way back")
    add_manager(parser)


def list_all(args: argparse.Namespace) -> int:
    from core.store.registry import list_collections

    found = list_collections(home_of(args))
    workbench = opened(args) if found else None  # a home is not made by looking
    rows = [row(workbench, collection) for collection in found] if workbench is not None else []
    if args.json:
        print_json({"collections": rows})
    elif rows:
        header = ("name", "embedder", "dimension", "index version", "defaults")
        cells = [(r["name"], r["embedder"], str(r["dimension"]), str(r["index_version"])) for r in rows]
        defaults = [labels_line(collection.default_labels) for collection in found]
        say(table(header, [(*cell, line) for cell, line in zip(cells, defaults, strict=True)]))
    else:
        say("no collections; `workbench demo` loads one to look at, `workbench ingest` makes one of your files")
    return 0


def create(args: argparse.Namespace) -> int:
    workbench = opened(args)
    collection = workbench.create_collection(
        args.name, manager(args, workbench), defaults=labels_given(args, None), embedder=args.embedder
    )
    return show(args, workbench, collection, "created")


def change(args: argparse.Namespace) -> int:
    workbench = opened(args)
    present = workbench.library.collection(args.name).default_labels
    labels = labels_given(args, None if args.no_defaults else present)
    if labels == present and not args.no_defaults:
        raise InputError("nothing to set", "give --classification, --allow, --deny or --no-defaults")
    return show(args, workbench, workbench.set_defaults(args.name, manager(args, workbench), labels), "changed")


def drop(args: argparse.Namespace) -> int:
    if not args.yes:
        raise InputError(f"dropping {args.name!r} deletes its documents for good", "add --yes")
    workbench = opened(args)
    workbench.drop_collection(args.name, manager(args, workbench))
    say(f"dropped collection {args.name!r}")
    return 0


def show(args: argparse.Namespace, workbench: Workbench, collection: Collection, done: str) -> int:
    if args.json:
        print_json(row(workbench, collection))
        return 0
    say(f"{done} collection {collection.name!r} ({collection.embedder}, {collection.dimension} dimensions)")
    say(f"default labels: {labels_line(collection.default_labels)}")
    labels = collection.default_labels
    if labels is None or labels.classification is None or labels.acl_allow is None:
        say(f"{HIDDEN} until both --classification and --allow are set")
    return 0


def row(workbench: Workbench, collection: Collection) -> dict[str, Any]:
    """A collection as `--json` shows it."""
    return {
        "name": collection.name,
        "embedder": collection.embedder,
        "fingerprint": collection.fingerprint,
        "dimension": collection.dimension,
        "defaults": collection.default_labels,
        "index_version": workbench.library.store(collection.name).head(),
        "created_at": collection.created_at,
    }


def labels_line(labels: Labels | None) -> str:
    if labels is None:
        return "none"
    parts = [labels.classification or "no classification"]
    parts.append(f"allow {', '.join(labels.acl_allow)}" if labels.acl_allow else "no allow list")
    parts += [f"deny {', '.join(labels.acl_deny)}"] if labels.acl_deny else []
    return "; ".join(parts)
