"""Where a citation stands now: a chunk reference, good for ever, resolved against what its reader may see today."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from core.access import LEVELS
from core.candidates import CandidateSet
from core.documents import knowledge_number
from core.errors import UnknownEvidence
from core.provenance import aggregate, format_location
from core.types import ChunkRef, Document, Notice, chunk_hash

Array = npt.NDArray[Any]
TextOf = Callable[[str, str], str]
Step = Literal["chunk", "section", "document"]

SIMILAR_ANCHOR = 0.6
"""Least similarity (Ratcliff and Obershelp's, 0–1) of a section's anchor to the cited one."""

MESSAGES = {
    "stale_citation": "The cited section has changed since it was cited: what follows may not say the same any more.",
    "location_degraded": "The cited place is not there any more: this is the whole document that it stood in.",
}


@dataclass(frozen=True, slots=True)
class Resolved:
    """A cited text as it is now."""

    step: Step
    """How it was found: by the chunk's own text, by its section, or by its document alone."""
    collection: str
    document: Document
    classification: str
    start: int
    end: int
    text: str
    """Canonical text in `[start, end)`."""
    location: str
    notices: tuple[Notice, ...]
    """None where the text is what was cited."""


def resolve(candidates: CandidateSet, ref: ChunkRef, text_of: TextOf, max_chars: int) -> Resolved:
    """The cited chunk among `candidates`: by its hash, else the nearest section of its knowledge, else the document.

    `text_of` gives the canonical text of a collection by its hash; of a section or a document, the first `max_chars`
    characters are given. Raises UnknownEvidence where nothing of that knowledge is in scope, whether it never
    existed, was removed or may not be seen.
    """
    snapshot = candidates.snapshot
    wanted = snapshot.documents.knowledge == _numbers(candidates, ref)[snapshot.document_collection]
    rows = np.flatnonzero(candidates.mask & wanted[snapshot.document])
    if not len(rows):
        raise UnknownEvidence(ref.knowledge_id)
    key = np.uint64(int(ref.chunk_hash.removeprefix("sha256:")[:16], 16))
    for row in _in_order(candidates, rows[snapshot.text_key[rows] == key], ref):
        found = _resolved(candidates, "chunk", np.array([row]), text_of, None)
        if chunk_hash(found.text) == ref.chunk_hash:
            return found
    nearest = _nearest_section(candidates, rows, ref)
    if len(nearest):
        return _resolved(candidates, "section", nearest, text_of, max_chars)
    first = snapshot.document[_in_order(candidates, rows, ref)[0]]
    return _resolved(candidates, "document", rows[snapshot.document[rows] == first], text_of, max_chars)


def resolve_passage(
    candidates: CandidateSet, refs: Sequence[ChunkRef], text_of: TextOf, max_chars: int
) -> tuple[Resolved, ...]:
    """`resolve` of each chunk of a passage; as one where they still stand together, and each place once."""
    found = [resolve(candidates, ref, text_of, max_chars) for ref in refs]
    first = found[0]
    together = all(one.step == "chunk" and one.document == first.document for one in found)
    if not together or any(after.start > before.end for before, after in pairwise(sorted(found, key=_start))):
        return tuple({(one.document.document_id, one.start, one.end): one for one in found}.values())
    start, end = min(one.start for one in found), max(one.end for one in found)
    text = text_of(first.collection, first.document.text_hash)[start:end]
    location = " · ".join(dict.fromkeys(one.location for one in found if one.location))
    return (replace(first, start=start, end=end, text=text, location=location),)


def _start(found: Resolved) -> int:
    return found.start


def _numbers(candidates: CandidateSet, ref: ChunkRef) -> Array:
    """The number that the knowledge has in each collection of the snapshot, see `documents.join`."""
    count = len(candidates.snapshot.collections)
    number = knowledge_number(ref.knowledge_id)
    return np.array([number] if count == 1 else [number ^ (index << 8) for index in range(count)], np.int64)


def _in_order(candidates: CandidateSet, rows: Array, ref: ChunkRef) -> list[int]:
    """Those under the cited anchor first, then by document and place."""
    snapshot = candidates.snapshot

    def place(row: int) -> tuple[bool, bytes, int]:
        segment, local = snapshot.locate(row)
        elsewhere = segment.anchors[local] != ref.section_anchor
        return elsewhere, bytes(segment.document_ids[local]), int(segment.start[local])

    return sorted(rows.tolist(), key=place)


def _nearest_section(candidates: CandidateSet, rows: Array, ref: ChunkRef) -> Array:
    """The rows of the section whose anchor is most like the cited one; none where no anchor is like it."""
    if not ref.section_anchor:
        return rows[:0]
    snapshot = candidates.snapshot
    sections: dict[tuple[int, str], list[int]] = {}
    for row in _in_order(candidates, rows, ref):
        segment, local = snapshot.locate(row)
        sections.setdefault((int(snapshot.document[row]), segment.anchors[local]), []).append(row)
    likeness = {place: _likeness(place[1], ref.section_anchor) for place in sections}
    best = max(likeness, key=lambda place: likeness[place])
    return np.array(sections[best] if likeness[best] >= SIMILAR_ANCHOR else [], np.int64)


def _likeness(anchor: str, cited: str) -> float:
    return SequenceMatcher(None, anchor, cited, autojunk=False).ratio() if anchor else 0.0


def _resolved(candidates: CandidateSet, step: Step, rows: Array, text_of: TextOf, max_chars: int | None) -> Resolved:
    snapshot = candidates.snapshot
    number = int(snapshot.document[rows[0]])
    document = snapshot.documents[number]
    collection = snapshot.collections[snapshot.document_collection[number]]
    text = text_of(collection, document.text_hash)
    start, end, located = 0, len(text), {}
    if step != "document":
        start, end = int(snapshot.start[rows].min()), int(snapshot.end[rows].max())
        located = aggregate([snapshot.provenance(int(row)) for row in rows])
    if max_chars is not None:
        end = min(end, start + max_chars)
    code: Any = {"section": "stale_citation", "document": "location_degraded"}.get(step)
    return Resolved(
        step=step,
        collection=collection,
        document=document,
        classification=LEVELS[snapshot.classes[snapshot.document_class[number]].level],
        start=start,
        end=end,
        text=text[start:end],
        location=format_location(located),
        notices=(Notice(code, MESSAGES[code]),) if code else (),
    )
