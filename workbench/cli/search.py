"""`workbench search`"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from core.errors import InputError, PermissionUnavailable
from workbench.cli.context import opened_to_read
from workbench.cli.locations import moment
from workbench.cli.logs import logged
from workbench.cli.output import complain, one_line, print_json, say, wrapped
from workbench.cli.parser import Verbs, add_json, add_reader, level, verb

if TYPE_CHECKING:
    from core.home import Workbench
    from core.types import Location, Passage, Principal, SearchResult, TraceRow

INDENT = "    "


def add(verbs: Verbs) -> None:
    description = "Find what answers a question among what the asker may see."
    usage = "QUERY --collection NAME [NAME …] [options]"
    parser = verb(verbs, "search", run, "find passages", description, usage=usage)
    parser.add_argument("query", metavar="QUERY", help="in quotes; a phrase in double quotes inside them: '\"as is\"'")
    parser.add_argument("--collection", required=True, nargs="+", action="extend", metavar="NAME", dest="collections")
    add_reader(parser)
    parser.add_argument("--top-k", type=int, metavar="N", help="most passages (default: retrieval.top_k)")
    parser.add_argument("--document", metavar="NAME_OR_ID", help="only in this document: id, path or file name")
    parser.add_argument("--pages", metavar="PAGES", help="only on these pages of it: 7, 3-5, iv")
    parser.add_argument("--sheet", metavar="NAME", help="only on this sheet of it")
    help_text = "search as if cleared no higher than this"
    parser.add_argument("--min-classification", type=level, metavar="LEVEL", help=help_text)
    help_text = "what was in force then: 2026-01-31 (00:00 UTC) or 2026-01-31T09:00+02:00 (without zone: UTC)"
    parser.add_argument("--as-of", type=moment, metavar="TIME", help=help_text)
    parser.add_argument("--settings", metavar="FILE", help="settings on top of the home's own")
    parser.add_argument("--explain", action="store_true", help="each passage's rank after every stage")
    parser.add_argument("--answer", action="store_true", help="an answer in words of the passages, with citations")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    location = location_of(args)
    workbench = opened_to_read(args, args.settings)
    principal, why = asker(workbench, args.principal)
    with logged("core.pipeline") as causes:
        result = workbench.search(
            args.query,
            collections=args.collections,
            principal=principal,
            top_k=args.top_k,
            location=location,
            min_classification=args.min_classification,
            as_of=args.as_of,
            explain=args.explain,
            answer=args.answer,
        )
    if args.json:
        print_json(result.to_dict())
    if result.refusal is not None and result.refusal.code == "permission_unavailable":
        known = why or "; ".join(causes) or result.refusal.message
        return complain(f"{args.leaf.prog}: {known}", PermissionUnavailable.exit_code)
    if causes:
        complain(f"{args.leaf.prog}: {'; '.join(causes)}", 0)
    if not args.json:
        say_result(result)
    return 0


def location_of(args: argparse.Namespace) -> Location:
    """Raises InputError for pages that are none."""
    from core.types import Location
    from workbench.services.page_labels import expand_pages

    pages = expand_pages(args.pages or "")
    if args.pages is not None and not pages:
        raise InputError("--pages names no page", "write pages as 7, 3-5, iv or 1, 3-5")
    return Location(args.document, pages, args.sheet)


def asker(workbench: Workbench, name: str | None) -> tuple[Principal | None, str]:
    """Who asks; for nobody, why: the search then refuses, and the refusal is on record."""
    try:
        return workbench.principal(name), ""
    except PermissionUnavailable as error:
        return None, error.line()


def say_result(result: SearchResult) -> None:
    if result.answer is not None:
        say(wrapped(result.answer.text, ""))
        say()
    if result.refusal is not None:
        say(result.refusal.message)
    for passage in result.passages:
        say_passage(passage, result.trace)
    for notice in result.notices:
        say(wrapped(f"{notice.code}: {notice.message}", ""))
    if result.degradation_flags:
        say(f"degraded: {', '.join(result.degradation_flags)}")


def say_passage(passage: Passage, trace: tuple[TraceRow, ...] | None) -> None:
    status = "" if passage.status == "active" else f" · {passage.status}"
    say(f"{passage.rank:>2}. {one_line(passage.title)} [{passage.classification}{status}]")
    first, last = passage.lines
    place = f"{passage.path}:{first}-{last}" + (f" · {passage.location}" if passage.location else "")
    say(wrapped(one_line(place), INDENT))
    if trace is not None:
        say(wrapped(ranks_line(passage, trace), INDENT))
    for twin in passage.also_in:
        say(f"{INDENT}also in {one_line(twin.path)}")
    say(wrapped(passage.text.strip("\n"), INDENT))
    say()


def ranks_line(passage: Passage, trace: tuple[TraceRow, ...]) -> str:
    """The best rank of the passage's chunks after each stage that saw one."""
    from core.types import CHANNELS, STAGES

    chunks = {ref.chunk_id for ref in passage.chunk_refs}
    rows = [row for row in trace if row.chunk_id in chunks]
    parts = []
    for stage in STAGES:
        ranks = [rank for row in rows if (rank := getattr(row, stage)) is not None]
        if ranks or stage in CHANNELS:
            parts.append(f"{stage} {min(ranks) if ranks else '–'}")
    return " · ".join([*parts, f"score {passage.score:.4f}"])
