"""One document opened: its canonical text beside its chunks, and what was indexed where that differs."""

from __future__ import annotations

from dataclasses import dataclass

from core.home import DocumentView, Workbench
from core.provenance import format_location
from core.types import Principal
from workbench.services.document_view import OpenedDocument, at_passage


@dataclass(frozen=True, slots=True)
class ShownChunk:
    number: int
    """From 1, in text order."""
    chunk_id: str
    start: int
    end: int
    location: str
    section: str
    indexed: str
    """What was tokenised and embedded, where it is other than the canonical text of the span; else empty."""


@dataclass(frozen=True, slots=True)
class Inspected:
    view: DocumentView
    chunks: tuple[ShownChunk, ...]

    def chunk(self, number: int) -> ShownChunk | None:
        """None for a number that no chunk has: an address may come from an older revision."""
        return self.chunks[number - 1] if 1 <= number <= len(self.chunks) else None

    def around(self, number: int) -> OpenedDocument:
        """The text, with that chunk's span standing out; from its beginning where there is no such chunk."""
        chunk = self.chunk(number)
        return at_passage(self.view, (chunk.start, chunk.end) if chunk else (0, 0), "")


def inspect(workbench: Workbench, collection: str, name: str, principal: Principal) -> Inspected:
    """Raises UnknownDocument, also where it may not be seen, PermissionUnavailable, StoreFailure."""
    view = workbench.document(collection, name, principal)
    indexed = _indexed(workbench, collection, [chunk.chunk_id for chunk in view.chunks])
    chunks = []
    for number, chunk in enumerate(view.chunks, start=1):
        text = indexed.get(chunk.chunk_id, "")
        same = text.strip() == view.text[chunk.start : chunk.end].strip()
        chunks.append(
            ShownChunk(
                number=number,
                chunk_id=chunk.chunk_id,
                start=chunk.start,
                end=chunk.end,
                location=format_location(chunk.provenance),
                section=chunk.section_anchor,
                indexed="" if same else text,
            )
        )
    return Inspected(view, tuple(chunks))


def _indexed(workbench: Workbench, collection: str, chunk_ids: list[str]) -> dict[str, str]:
    if not chunk_ids:
        return {}
    rows = workbench.library.store(collection).chunk_rows(chunk_ids)
    return dict(zip(rows["chunk_id"].to_pylist(), rows["indexed_text"].to_pylist(), strict=True))
