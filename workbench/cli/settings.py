"""`workbench settings show`"""

from __future__ import annotations

import argparse

from workbench.cli.context import home_of
from workbench.cli.output import print_json, say, table
from workbench.cli.parser import Verbs, add_json, group, verb


def add(verbs: Verbs) -> None:
    parts = group(verbs, "settings", "the values that steer everything")
    parser = verb(parts, "show", show, "every setting: its value, and where that comes from")
    parser.add_argument("--collection", metavar="NAME", help="as they hold for this collection")
    parser.add_argument("--settings", metavar="FILE", help="as they would be with this file")
    add_json(parser)


def show(args: argparse.Namespace) -> int:
    from core.store.registry import read_collection
    from workbench.services.effective_settings import effective

    home = home_of(args)
    if args.collection is not None:
        read_collection(home, args.collection)
    settings, rows = effective(home, args.settings)
    if args.json:
        listed = [{"key": row.key, "value": row.value, "origin": row.origin} for row in rows]
        print_json({"fingerprint": settings.fingerprint(), "settings": listed})
    else:
        say(table(("key", "value", "from"), [(row.key, shown(row.value), row.origin) for row in rows]))
    return 0


def shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return "none" if value is None else str(value)
