"""The values that flow through retrieval. All frozen; all hashable but those that hold a mapping or an array.

Times are timezone-aware UTC datetimes. Offsets count characters of a document's canonical text, `[start, end)`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Status = Literal["active", "deprecated", "revoked"]
"""`expired` is not a status: a document expires when its `valid_until` has passed."""

Role = Literal["reader", "owner", "evaluator", "auditor"]
Channel = Literal["exact", "bm25", "dense"]
CHANNELS: tuple[Channel, ...] = ("exact", "bm25", "dense")

Provenance = Mapping[str, tuple[Any, ...]]
"""Where a piece of text stands in its source: `pages`, `sheet`, `section` (path joined by ` > `),
`lines` (pairs of first and last line, from 1), or any other key. Each key holds every value that applies."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A person on whose behalf text is sought. The agent that asks for them is named, but lends no rights."""

    actor: str
    groups: frozenset[str] = frozenset()
    clearance: str = "public"
    roles: tuple[tuple[str, tuple[Role, ...]], ...] = ()
    """Pairs of collection name (`*`: every collection) and roles held there."""
    agent: str | None = None

    def has_role(self, role: Role, collection: str) -> bool:
        return any(name in (collection, "*") and role in held for name, held in self.roles)


@dataclass(frozen=True, slots=True)
class Labels:
    """Who may see a document, as stated in its metadata. `None`: not stated."""

    classification: str | None = None
    acl_allow: tuple[str, ...] | None = None
    acl_deny: tuple[str, ...] = ()
    inherits_from: str | None = None
    """Path, id or knowledge_id of the parent in the same collection; its labels can only tighten these."""


LABEL_KEYS: tuple[str, ...] = ("classification", "acl_allow", "acl_deny", "inherits_from")
"""The metadata keys that decide who may see a document: the fields of `Labels`."""


@dataclass(frozen=True, slots=True)
class Relation:
    type: str
    target: str


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a collection as of one commit, without its text."""

    document_id: str
    """32 hex digits, derived from collection and path."""
    path: str
    """Relative POSIX path under which it was ingested; unique in its collection."""
    title: str
    text_hash: str
    """SHA-256 of the canonical text (hex): its key in the texts table."""
    source_hash: str
    """SHA-256 of the file's bytes (hex)."""
    parser: str
    """Name and version of the parser that made the canonical text."""
    labels: Labels
    knowledge_id: str
    """Equal for all revisions of one piece of knowledge; the document_id where the metadata name none."""
    revision: str
    revised_at: datetime | None = None
    status: Status = "active"
    valid_until: datetime | None = None
    owner: str | None = None
    quality: float | None = None
    """0–100, higher is better; None: unscored."""
    source_uri: str | None = None
    relations: tuple[Relation, ...] = ()
    language: str | None = None
    edited: tuple[str, ...] = ()
    """Metadata keys that were set by hand: ingesting the file again leaves them as they are."""
    outside: str = ""
    """What a metadata table and a sidecar said of it, as JSON (`core.ingest.said`); empty where there was neither."""

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a canonical text that is ranked as one."""

    chunk_id: str
    """32 hex digits, derived from document, span and indexed text."""
    document_id: str
    ordinal: int
    start: int
    end: int
    indexed_text: str
    """What is tokenised and embedded."""
    chunk_hash: str
    """`sha256:` + hex of the canonical text in `[start, end)`."""
    section_anchor: str
    """Slug path of the headings above it; empty at the top of a document."""
    provenance: Provenance = field(default_factory=dict)


def document_id(collection: str, path: str) -> str:
    return hashlib.sha256(f"document\0{collection}\0{path}".encode()).hexdigest()[:32]


def chunk_id(document: str, start: int, end: int, indexed_text: str) -> str:
    return hashlib.sha256(f"chunk\0{document}\0{start}\0{end}\0{indexed_text}".encode()).hexdigest()[:32]


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def chunk_hash(canonical_span: str) -> str:
    return f"sha256:{text_hash(canonical_span)}"


@dataclass(frozen=True, slots=True)
class Location:
    """A part of one document to search in. `pages` are labels as printed; ranges come already expanded."""

    document: str | None = None
    """Id, path or file name."""
    pages: tuple[str, ...] = ()
    sheet: str | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """One entry of a ranking: a chunk (or passage) key and its score at this stage; higher is better."""

    key: str
    score: float


@dataclass(frozen=True, slots=True)
class ChunkRef:
    """The lasting name of a chunk, good beyond the search that returned it."""

    chunk_id: str
    knowledge_id: str
    knowledge_revision: str
    section_anchor: str
    chunk_hash: str


@dataclass(frozen=True, slots=True)
class Twin:
    """Another visible place where the same text stands."""

    document_id: str
    path: str
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """Released text: consecutive chunks of one document, cut from its canonical text."""

    rank: int
    evidence_id: str
    collection: str
    document_id: str
    path: str
    title: str
    source_uri: str | None
    start: int
    end: int
    lines: tuple[int, int]
    """First and last line of the canonical text, from 1."""
    text: str
    location: str
    classification: str
    status: Status
    score: float
    rerank_score: float | None
    retrieved_at: datetime
    chunk_refs: tuple[ChunkRef, ...]
    also_in: tuple[Twin, ...] = ()


RefusalCode = Literal["no_evidence", "only_expired", "permission_unavailable", "integrity", "unavailable"]


@dataclass(frozen=True, slots=True)
class Refusal:
    code: RefusalCode
    message: str


@dataclass(frozen=True, slots=True)
class Notice:
    code: Literal["conflict", "stale_citation", "location_degraded"]
    message: str
    evidence_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitationMark:
    n: int
    evidence_id: str


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    citations: tuple[CitationMark, ...]
    rejected_claims: int
    mode: Literal["extractive", "llm"]


STAGES: tuple[str, ...] = ("exact", "bm25", "dense", "fused", "diversified", "prior", "merged", "reranked")


@dataclass(frozen=True, slots=True)
class TraceRow:
    """Where one chunk stood after each stage; ranks from 1, None: not in that list."""

    chunk_id: str
    document_id: str
    exact: int | None = None
    bm25: int | None = None
    dense: int | None = None
    fused: int | None = None
    diversified: int | None = None
    prior: int | None = None
    merged: int | None = None
    """Rank of the passage that holds the chunk."""
    reranked: int | None = None
    lost_at: str | None = None
    """First stage that dropped it from what is released; None for a released chunk."""
    margin: float | None = None
    """Score at `lost_at` minus the score of the last one kept there; negative or zero."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    trace_id: str
    query: str
    collections: tuple[str, ...]
    index_versions: Mapping[str, int]
    engine: str
    as_of: datetime
    passages: tuple[Passage, ...]
    refusal: Refusal | None
    notices: tuple[Notice, ...]
    answer: Answer | None
    latency_ms: Mapping[str, float]
    degradation_flags: tuple[str, ...]
    trace: tuple[TraceRow, ...] | None = None

    def core(self) -> dict[str, Any]:
        """What the laws compare: everything but ids and times of this one search."""
        whole: dict[str, Any] = to_json(self)
        for key in ("trace_id", "index_versions", "latency_ms"):
            del whole[key]
        for passage in whole["passages"]:
            del passage["evidence_id"], passage["retrieved_at"]
        for notice in whole["notices"]:
            del notice["evidence_ids"]
        for citation in (whole["answer"] or {}).get("citations", ()):
            del citation["evidence_id"]
        return whole

    def to_dict(self) -> dict[str, Any]:
        """The shape of `workbench search --json`."""
        whole: dict[str, Any] = to_json(self)
        return whole


def to_json(value: Any) -> Any:
    """Dataclasses, mappings and tuples as JSON types; datetimes as ISO 8601 with `Z`."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: to_json(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, frozenset | set):
        return sorted(to_json(item) for item in value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value
