"""`search()`: the one way from a question to released text. App, command line, agents, evaluation and probe call it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from core.access import PermissionSet, permission_set
from core.answer.extractive import extract
from core.candidates import CandidateSet
from core.errors import (
    AuditUnavailable,
    CoreError,
    EmbedderUnavailable,
    InputError,
    IntegrityFailure,
    PermissionUnavailable,
    StoreFailure,
)
from core.evidence import passages, texts_needed
from core.location import within
from core.ports import AuditSink
from core.ranking import Clock, Ranking, rank
from core.scope import microseconds
from core.settings import Retrieval, Settings
from core.snapshot import Snapshot
from core.trace import trace
from core.types import (
    Answer,
    CitationMark,
    Location,
    Passage,
    Principal,
    Refusal,
    RefusalCode,
    SearchResult,
    TraceRow,
    to_json,
)

Vector = npt.NDArray[np.float32]

_logger = logging.getLogger(__name__)

VECTOR_CHANNEL_DOWN = "vector_channel_down"

STAGES_MS = (
    *("audit", "glossary", "scope", "embed", "exact", "bm25", "dense"),
    *("fuse", "diversify", "prior", "merge", "rerank", "evidence", "answer"),
)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. `collections` are searched as one; `depth` 0 reads no further than the windows."""

    query: str
    collections: tuple[str, ...]
    top_k: int | None = None
    location: Location | None = None
    min_classification: str | None = None
    as_of: datetime | None = None
    explain: bool = False
    depth: int = 0
    answer: bool = False


class Library(Protocol):
    """What a search needs of the place where collections live."""

    def candidates(self, collections: Sequence[str], permission: PermissionSet, as_of: int) -> CandidateSet:
        """The newest state of the collections, as `permission` may see it."""
        ...

    def embed_query(self, collections: Sequence[str], query: str, fingerprint: str) -> Vector:
        """Raises EmbedderUnavailable, and StoreFailure where the collections' embedder is none of that fingerprint."""
        ...

    def texts(self, collection: str, text_hashes: Sequence[str]) -> Mapping[str, str]:
        """Canonical texts, checked. Raises IntegrityFailure, StoreFailure."""
        ...


def search(
    request: Request, principal: Principal | None, settings: Settings, library: Library, audit: AuditSink
) -> SearchResult:
    """Find what answers `request` among what `principal` may see.

    Raises InputError for a request that cannot be meant. Everything else that goes wrong is a refusal: nothing is
    released without an established principal, a durable audit record and intact text. The refusal is generic; its
    cause goes to this module's logger, one line a search.
    """
    run = _Run(request, settings)
    try:
        top_k = checked(request, settings)
        run.intend(audit, principal)
        permission = permission_set(principal, request.min_classification, settings.limits)
        candidates = within(
            library.candidates(request.collections, permission, microseconds(run.as_of)), request.location
        )
        run.clock.lap("scope")
        vector = run.embed(library, candidates.snapshot)
        ranking = rank(candidates, request.query, vector, settings.retrieval, request.depth, run.clock)
        spans = ranking.merged[:top_k]
        texts: dict[str, str] = {}
        for collection, hashes in sorted(texts_needed(candidates, spans).items()):
            texts.update(library.texts(collection, sorted(hashes)))
        found = passages(candidates, ranking, spans, texts, permission, run.trace_id, run.started)
        run.clock.lap("evidence")
        result = run.finish(candidates, ranking, found)
    except InputError as error:
        run.conclude(audit, run.failed(error), permitted=None)
        raise
    except (PermissionUnavailable, IntegrityFailure, StoreFailure, AuditUnavailable) as error:
        return run.conclude(audit, run.refused(error), permitted=None)
    return run.conclude(audit, result, permitted=permission)


def checked(request: Request, settings: Settings) -> int:
    """The number of passages to release. Raises InputError for a request that cannot be meant."""
    if not isinstance(request.query, str) or not request.query.strip():
        raise InputError("the query is empty", "say what you are looking for")
    if len(request.query) > settings.limits.query_max_chars:
        raise InputError(
            f"the query has {len(request.query)} characters", f"the limit is {settings.limits.query_max_chars}"
        )
    if not request.collections:
        raise InputError("no collection is named", "name one with --collection")
    if type(request.depth) is not int or not 0 <= request.depth <= settings.limits.depth_max:
        raise InputError(f"depth {request.depth!r} is out of range", f"allowed: 0 to {settings.limits.depth_max}")
    top_k = settings.retrieval.top_k if request.top_k is None else request.top_k
    if type(top_k) is not int or top_k < 1:
        raise InputError(f"top_k {top_k!r} is no positive whole number")
    return min(top_k, settings.limits.top_k_max)


MESSAGES: Mapping[RefusalCode, str] = {
    "no_evidence": "Nothing relevant was found in the knowledge base.",
    "only_expired": "What was found has expired; ask its owner.",
    "permission_unavailable": "It could not be established what you may see, so nothing was searched.",
    "integrity": "A stored text failed its integrity check, so nothing is shown.",
    "unavailable": "The search is not available at the moment.",
}


def _cause(error: CoreError) -> str:
    return f"{type(error).__name__}: {error.line()}"


def _code(error: Exception) -> RefusalCode:
    if isinstance(error, PermissionUnavailable):
        return "permission_unavailable"
    return "integrity" if isinstance(error, IntegrityFailure) else "unavailable"


class _Run:
    """One search from its start to its record: ids, clock and flags."""

    def __init__(self, request: Request, settings: Settings) -> None:
        self.request, self.settings = request, settings
        self.started = datetime.now(UTC)
        self.as_of = request.as_of or self.started
        self.trace_id = secrets.token_hex(8)
        self.clock = Clock()
        self.flags: tuple[str, ...] = ()
        self.intended = False
        self.causes: tuple[str, ...] = ()
        """What a refusal keeps from the asker and the log tells the operator. No words of query or documents."""

    def intend(self, audit: AuditSink, principal: Principal | None) -> None:
        """Write down what is about to happen. Raises AuditUnavailable."""
        audit.record("search.intent", {**self._who(principal), **self._what()})
        self.intended = True
        self.clock.lap("audit")

    def embed(self, library: Library, snapshot: Snapshot) -> Vector | None:
        if "dense" not in self.settings.retrieval.channels:
            return None
        try:
            return library.embed_query(self.request.collections, self.request.query, snapshot.embedder)
        except EmbedderUnavailable as error:
            self.flags = (*self.flags, VECTOR_CHANNEL_DOWN)
            if not _words_count(self.settings.retrieval):
                raise StoreFailure(f"no channel is available ({error.message})", error.remedy) from None
            _logger.warning("search %s without its dense channel: %s", self.trace_id, _cause(error))
            return None
        finally:
            self.clock.lap("embed")

    def finish(self, candidates: CandidateSet, ranking: Ranking, found: tuple[Passage, ...]) -> SearchResult:
        answer = _answer(self.request.query, found) if self.request.answer and found else None
        self.clock.lap("answer")
        rows: tuple[TraceRow, ...] | None = None
        if self.request.explain:
            rows = trace(ranking, self.settings.retrieval, len(found), _document_of(candidates, ranking))
        refusal = None if found else Refusal("no_evidence", MESSAGES["no_evidence"])
        return self._result(found, refusal, answer, rows, dict(candidates.snapshot.versions))

    def refused(self, error: CoreError) -> SearchResult:
        self.causes = (*self.causes, _cause(error))
        code = _code(error)
        return self._result((), Refusal(code, MESSAGES[code]), None, None, {})

    def failed(self, error: InputError) -> SearchResult:
        return self._result((), Refusal("unavailable", error.message), None, None, {})

    def conclude(self, audit: AuditSink, result: SearchResult, permitted: PermissionSet | None) -> SearchResult:
        """Write down what is about to be released, and only then give it back."""
        outcome = {
            "trace_id": self.trace_id,
            "permission_set": permitted.digest if permitted else None,
            "chunk_refs": [
                {"score": passage.score, "evidence_id": passage.evidence_id, "refs": to_json(passage.chunk_refs)}
                for passage in result.passages
            ],
            "refusal": to_json(result.refusal),
            "degradation_flags": list(result.degradation_flags),
            "index_versions": dict(result.index_versions),
            "latency_ms": {stage: round(ms, 3) for stage, ms in self.clock.ms.items()},
        }
        try:
            if self.intended or result.refusal is None:
                audit.record("search.outcome", outcome)
        except AuditUnavailable as error:
            result = self.refused(error)
        if self.causes:
            _logger.error("search %s refused: %s", self.trace_id, "; ".join(dict.fromkeys(self.causes)))
        self.clock.lap("audit")
        return _timed(result, self.clock)

    def _result(
        self,
        found: tuple[Passage, ...],
        refusal: Refusal | None,
        answer: Answer | None,
        rows: tuple[TraceRow, ...] | None,
        versions: dict[str, int],
    ) -> SearchResult:
        return SearchResult(
            trace_id=self.trace_id,
            query=self.request.query,
            collections=self.request.collections,
            index_versions=versions,
            engine="memory",
            as_of=self.as_of,
            passages=found,
            refusal=refusal,
            notices=(),
            answer=answer,
            latency_ms={},
            degradation_flags=self.flags,
            trace=rows,
        )

    def _who(self, principal: Principal | None) -> dict[str, Any]:
        if not isinstance(principal, Principal):
            return {"trace_id": self.trace_id, "actor": None, "agent": None}
        return {"trace_id": self.trace_id, "actor": str(principal.actor), "agent": principal.agent}

    def _what(self) -> dict[str, Any]:
        return {
            "query": self.request.query,
            "collections": list(self.request.collections),
            "location": to_json(self.request.location),
            "min_classification": self.request.min_classification,
            "as_of": to_json(self.as_of),
            "settings": self.settings.fingerprint(),
        }


def _words_count(settings: Retrieval) -> bool:
    """Whether a channel that needs no vector takes part with a weight."""
    weights = {"exact": settings.weight_exact, "bm25": settings.weight_bm25}
    return any(weights.get(channel, 0) > 0 for channel in settings.channels)


def _answer(query: str, found: Sequence[Passage]) -> Answer | None:
    extracted = extract(query, [passage.text for passage in found])
    if extracted is None:
        return None
    marks = tuple(CitationMark(n, found[n - 1].evidence_id) for n in extracted.citations)
    return Answer(extracted.text, marks, 0, "extractive")


def _document_of(candidates: CandidateSet, ranking: Ranking) -> Any:
    snapshot = candidates.snapshot

    def document_of(key: str) -> str:
        return snapshot.documents.ids[snapshot.document[ranking.rows[key]]].decode("ascii")  # type: ignore[no-any-return]

    return document_of


def _timed(result: SearchResult, clock: Clock) -> SearchResult:
    from dataclasses import replace

    stages = {stage: round(clock.ms.get(stage, 0.0), 3) for stage in STAGES_MS}
    return replace(result, latency_ms={"total": round(sum(clock.ms.values()), 3), **stages})
