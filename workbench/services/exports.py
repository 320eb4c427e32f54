"""A search as a file: CSV for spreadsheets, JSON as the command line prints it, Markdown for people."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence

from workbench.services.search_view import SearchView

COLUMNS = (
    *("rank", "title", "path", "location", "first_line", "last_line", "classification", "status"),
    *("exact", "bm25", "dense", "text", "evidence_id", "document_id", "collection", "source_uri"),
)

_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠|%]|[\t\r\n]")


def guarded(cell: str) -> str:
    """The cell with an apostrophe in front where a spreadsheet would take it for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def to_csv(view: SearchView) -> bytes:
    """UTF-8 with a byte order mark, which spreadsheets need to read Chinese."""
    output = io.StringIO(newline="")
    writer = csv.writer(output)
    writer.writerow(COLUMNS)
    for card in view.cards:
        passage, ranks = card.passage, dict(card.channels)
        writer.writerow(
            [
                passage.rank,
                *map(guarded, (passage.title, passage.path, passage.location)),
                *passage.lines,
                passage.classification,
                passage.status,
                *(ranks.get(channel) or "" for channel in ("exact", "bm25", "dense")),
                guarded(passage.text),
                passage.evidence_id,
                passage.document_id,
                guarded(passage.collection),
                guarded(passage.source_uri or ""),
            ]
        )
    return output.getvalue().encode("utf-8-sig", "replace")


def to_json_file(view: SearchView) -> bytes:
    return json.dumps(view.result.to_dict(), ensure_ascii=False, indent=2).encode("utf-8", "replace")


def to_markdown(view: SearchView) -> bytes:
    """Passages as code blocks, so that nothing inside them is rendered."""
    result = view.result
    parts = [fenced(result.query)]
    if result.answer is not None:
        parts.append(fenced(result.answer.text))
    if result.refusal is not None:
        parts.append(fenced(f"{result.refusal.code}: {result.refusal.message}"))
    for passage in result.passages:
        where = " · ".join(part for part in (passage.title, passage.path, passage.location) if part)
        first, last = passage.lines
        notes = f"L{first}–{last} · {passage.classification} · {passage.status} · {passage.evidence_id}"
        parts.append(f"## [{passage.rank}]\n\n{fenced(where)}\n\n{notes}\n\n{fenced(passage.text)}")
    return ("\n\n".join(parts) + "\n").encode("utf-8", "replace")


def fenced(text: str) -> str:
    """A code block whose fence no run of backticks in the text can close."""
    fence = "`" * max(3, 1 + max(map(len, _runs(text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def _runs(text: str) -> Sequence[str]:
    return re.findall("`+", text)
