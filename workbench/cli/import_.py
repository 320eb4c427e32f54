"""`workbench import beir`"""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.context import Progress, manager, opened
from workbench.cli.output import print_json, say
from workbench.cli.parser import Verbs, add_collection, add_json, add_manager, group, verb


def add(verbs: Verbs) -> None:
    parts = group(verbs, "import", "bring in a data set")
    description = "corpus.jsonl, queries.jsonl and qrels.tsv become a collection (public) and an eval set of its name."
    parser = verb(parts, "beir", beir, "a folder in BEIR's format", description)
    parser.add_argument("folder", type=Path, metavar="DIR")
    add_collection(parser)
    parser.add_argument("--vectors", type=Path, metavar="FILE.npz", help="vectors that its embedder made elsewhere")
    parser.add_argument("--embedder", metavar="SPEC", help="what makes its vectors (default: embedding.default)")
    add_manager(parser)
    add_json(parser)


def beir(args: argparse.Namespace) -> int:
    from core.ingest.beir import import_beir
    from core.types import to_json

    workbench = opened(args)
    progress = Progress()
    try:
        report = import_beir(
            args.folder,
            args.collection,
            workbench,
            manager(args, workbench),
            vectors=args.vectors,
            embedder=args.embedder,
            progress=progress,
        )
    finally:
        progress.done()
    if args.json:
        print_json({**to_json(report), "eval_set": str(report.eval_set)})
    else:
        say(f"{report.collection}: {report.documents} documents in {report.chunks} chunks")
        say(f"eval set: {report.questions} questions, {report.judgments} judgments in {report.eval_set}")
        for count, what in ((report.unknown_queries, "queries"), (report.unknown_documents, "documents")):
            if count:
                say(f"left out: {count} judgments of {what} that are not in the data set")
    return 0
