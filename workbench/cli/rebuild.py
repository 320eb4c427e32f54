"""`workbench rebuild`"""

from __future__ import annotations

import argparse

from workbench.cli.context import manager, opened
from workbench.cli.output import print_json, say
from workbench.cli.parser import Verbs, add_collection, add_json, add_manager, verb


def add(verbs: Verbs) -> None:
    description = "Every derived structure of a collection anew, from its stored texts and caches."
    parser = verb(verbs, "rebuild", run, "make a collection's index anew", description)
    add_collection(parser)
    add_manager(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    workbench = opened(args)
    report = workbench.rebuild(args.collection, manager(args, workbench))
    if args.json:
        print_json(report)
    else:
        say(
            f"rebuilt collection {report.collection!r}: {report.documents} documents in {report.chunks} chunks,"
            f" {report.embedder}, index version {report.index_version}"
        )
    return 0
