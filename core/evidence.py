"""Evidence: the released passages, each with its id, its place and the lasting references of its chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from core.access import LEVELS, EffectiveLabels, PermissionSet
from core.candidates import CandidateSet
from core.errors import IntegrityFailure
from core.merge import MergedSpan
from core.provenance import aggregate, format_location
from core.ranking import Ranking
from core.text import lines_of
from core.types import ChunkRef, Document, Passage, Provenance, Twin, chunk_hash


def evidence_id(trace_id: str, number: int) -> str:
    """`number` from 1."""
    return f"ev-{trace_id}-{number:03d}"


def passages(
    candidates: CandidateSet,
    ranking: Ranking,
    spans: Sequence[MergedSpan],
    texts: Mapping[str, str],
    permission: PermissionSet,
    trace_id: str,
    retrieved_at: datetime,
) -> tuple[Passage, ...]:
    """The passages of `spans`, cut from the canonical `texts` (by text hash).

    Every row is checked once more: its document's labels from their own record, its text against its chunk hash.
    Raises IntegrityFailure if a check fails; then nothing is released.
    """
    return tuple(
        _passage(candidates, ranking, span, texts, permission, rank, evidence_id(trace_id, rank), retrieved_at)
        for rank, span in enumerate(spans, start=1)
    )


def _passage(
    candidates: CandidateSet,
    ranking: Ranking,
    span: MergedSpan,
    texts: Mapping[str, str],
    permission: PermissionSet,
    rank: int,
    identity: str,
    retrieved_at: datetime,
) -> Passage:
    snapshot = candidates.snapshot
    number = int(span.document)
    document = snapshot.documents[number]
    labels = _seen_labels(candidates, number, permission)
    text = texts[document.text_hash]
    rows = [ranking.rows[key] for key in span.chunks]
    refs = tuple(_reference(candidates, document, row, text) for row in rows)
    located = [snapshot.provenance(row) for row in rows]
    return Passage(
        rank=rank,
        evidence_id=identity,
        collection=snapshot.collections[snapshot.document_collection[number]],
        document_id=document.document_id,
        path=document.path,
        title=document.title,
        source_uri=document.source_uri,
        start=span.start,
        end=span.end,
        lines=lines_of(text, span.start, span.end),
        text=text[span.start : span.end],
        location=_location(located, document.title),
        classification=LEVELS[labels.level],
        status=document.status,
        score=span.score,
        rerank_score=None,
        retrieved_at=retrieved_at,
        chunk_refs=refs,
        also_in=_twins(candidates, rows, permission),
    )


def _seen_labels(candidates: CandidateSet, number: int, permission: PermissionSet) -> EffectiveLabels:
    """A document's labels from its own record. Raises IntegrityFailure where they do not let it be seen."""
    labels = candidates.snapshot.effective_labels(number)
    if labels is None or not permission.sees(labels):
        raise IntegrityFailure("a document was about to be released to somebody who may not see it")
    return labels


def _location(provenances: Sequence[Provenance], title: str) -> str:
    """The header over a passage: without lines, which stand apart, and with its sections brought to one glance."""
    united = aggregate(provenances)
    united.pop("lines", None)
    if "section" in united:
        united["section"] = _glance([str(path) for path in united["section"]], title)
    return format_location({key: values for key, values in united.items() if values})


def _glance(paths: Sequence[str], title: str) -> tuple[str, ...]:
    """Section paths without the document's title in front and without those that others continue; of more than two,
    the first and the last."""
    front = f"{title} > "
    short = [path.removeprefix(front) for path in paths if path != title]
    innermost = [path for path in short if not any(other.startswith(f"{path} > ") for other in short)]
    if not innermost:
        return tuple(paths[:1])
    return tuple(innermost) if len(innermost) <= 2 else (f"{innermost[0]} … {innermost[-1]}",)


def _reference(candidates: CandidateSet, document: Document, row: int, text: str) -> ChunkRef:
    segment, local = candidates.snapshot.locate(row)
    digest = chunk_hash(text[int(segment.start[local]) : int(segment.end[local])])
    if int(digest.removeprefix("sha256:")[:16], 16) != int(segment.text_key[local]):
        raise IntegrityFailure(f"{document.path}: the stored text is not what was indexed", "ingest the document again")
    return ChunkRef(
        chunk_id=segment.ids[local].decode("ascii"),
        knowledge_id=document.knowledge_id,
        knowledge_revision=document.revision,
        section_anchor=segment.anchors[local],
        chunk_hash=digest,
    )


def _twins(candidates: CandidateSet, rows: Sequence[int], permission: PermissionSet) -> tuple[Twin, ...]:
    snapshot = candidates.snapshot
    found = []
    for representative, group in candidates.twins_of(np.asarray(rows)).items():
        for row in group.tolist():
            if row != representative:
                segment, local = snapshot.locate(row)
                number = int(snapshot.document[row])
                _seen_labels(candidates, number, permission)
                document = snapshot.documents[number]
                span = int(segment.start[local]), int(segment.end[local])
                found.append(Twin(document.document_id, document.path, document.title, *span))
    return tuple(sorted(found, key=lambda twin: (twin.path, twin.start, twin.document_id)))


def texts_needed(candidates: CandidateSet, spans: Sequence[MergedSpan]) -> dict[str, set[str]]:
    """Text hashes of the spans' documents, by collection."""
    snapshot = candidates.snapshot
    needed: dict[str, set[str]] = {}
    for number in {int(span.document) for span in spans}:
        collection = snapshot.collections[snapshot.document_collection[number]]
        needed.setdefault(collection, set()).add(snapshot.documents[number].text_hash)
    return needed
