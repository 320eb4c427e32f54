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

from core.access import LEVELS, PermissionSet, permission_set
from core.answer.extractive import extract
from core.candidates import CandidateSet
from core.errors import (
    AuditUnavailable,
    CoreError,
    InputError,
    IntegrityFailure,
    PermissionUnavailable,
    StoreFailure,
)
from core.evidence import passages, texts_needed
from core.filtered import filtered_out
from core.guard import Guard
from core.location import within
from core.ports import AuditSink
from core.ranking import Clock, Ranking, rank
from core.ranking_cache import RankingCache, Recalled
from core.scope import microseconds
from core.settings import Retrieval, Settings
from core.snapshot import Snapshot
from core.trace import trace
from core.types import (
    Answer,
    Channel,
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
    request: Request,
    principal: Principal | None,
    settings: Settings,
    library: Library,
    audit: AuditSink,
    cache: RankingCache | None = None,
) -> SearchResult:
    """Find what answers `request` among what `principal` may see.

    Raises InputError for a request that cannot be meant. Everything else that goes wrong is a refusal: nothing is
    released without an established principal, a durable audit record and intact text. The refusal is generic; its
    cause goes to this module's logger, one line a search.
    """
    run = _Run(request, settings, library, cache or RankingCache(0))
    try:
        top_k = checked(request, settings)
        run.intend(audit, principal)
        permission = permission_set(principal, request.min_classification, settings.limits)
        scope = library.candidates(request.collections, permission, microseconds(run.as_of))
        candidates = within(scope, request.location)
        run.clock.lap("scope")
        ranking = run.rank(scope, candidates, permission)
        found = run.release(candidates, ranking, top_k, permission)
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

    def __init__(self, request: Request, settings: Settings, library: Library, cache: RankingCache) -> None:
        self.request, self.settings, self.library, self.cache = request, settings, library, cache
        self.started = datetime.now(UTC)
        self.as_of = request.as_of or self.started
        self.trace_id = secrets.token_hex(8)
        self.clock = Clock()
        self.guard = Guard(settings.budget, self.trace_id)
        self.cached = False
        self.filtered_out = 0
        self.intended = False
        self.causes: tuple[str, ...] = ()
        """What a refusal keeps from the asker and the log tells the operator. No words of query or documents."""

    def intend(self, audit: AuditSink, principal: Principal | None) -> None:
        """Write down what is about to happen. Raises AuditUnavailable."""
        audit.record("search.intent", {**self._who(principal), **self._what()})
        self.intended = True
        self.clock.lap("audit")

    def rank(self, scope: CandidateSet, candidates: CandidateSet, permission: PermissionSet) -> Ranking:
        """The ranking of `candidates`, which lie in `scope`; as it was, where the very same was asked before.

        Raises StoreFailure where no channel is left, InputError for collections that need to be rebuilt.
        """
        asked = self.request
        key = permission.digest, asked.query, asked.location, asked.depth, self.settings.retrieval
        known = self.cache.get(scope, key)
        if known is not None:
            self.cached, self.filtered_out = True, known.filtered_out
            return known.ranking
        retrieval = self.settings.retrieval
        vector = self._embed(scope.snapshot)
        ranking = rank(candidates, asked.query, vector, retrieval, asked.depth, self.clock, self.guard.channel)
        if not any(_weight(retrieval, channel) > 0 for channel in ranking.lists):
            raise StoreFailure(f"no channel is available ({'; '.join(self.guard.causes)})", "mend one of them")
        if asked.location is None:
            moment = microseconds(self.as_of)
            self.filtered_out = filtered_out(scope, asked.query, vector, retrieval, moment, self.guard.channel)
            self.clock.lap("audit")
        if not self.flags:
            self.cache.put(scope, key, Recalled(ranking, self.filtered_out))
        return ranking

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.guard.flags))

    def _embed(self, snapshot: Snapshot) -> Vector | None:
        if "dense" not in self.settings.retrieval.channels:
            return None
        asked = self.request
        found = self.guard.embed(lambda: self.library.embed_query(asked.collections, asked.query, snapshot.embedder))
        self.clock.lap("embed")
        return found

    def release(
        self, candidates: CandidateSet, ranking: Ranking, top_k: int, permission: PermissionSet
    ) -> tuple[Passage, ...]:
        """The texts of the first passages, each checked once more. Raises IntegrityFailure, StoreFailure."""
        spans = ranking.merged[:top_k]
        texts: dict[str, str] = {}
        for collection, hashes in sorted(texts_needed(candidates, spans).items()):
            texts.update(self.library.texts(collection, sorted(hashes)))
        found = passages(candidates, ranking, spans, texts, permission, self.trace_id, self.started)
        self.clock.lap("evidence")
        return found

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
            "actor": permitted.actor if permitted else None,
            "permission_set": permitted.digest if permitted else None,
            "cache": "hit" if self.cached else "miss",
            "filtered_out_count": self.filtered_out,
            "classification": _highest(result.passages),
            "chunk_refs": [
                {"score": passage.score, "evidence_id": passage.evidence_id, "refs": to_json(passage.chunk_refs)}
                for passage in result.passages
            ],
            "claims": _claims(result.answer),
            "rejected_claims": result.answer.rejected_claims if result.answer else 0,
            "refusal": to_json(result.refusal),
            "notices": to_json(result.notices),
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


def _weight(settings: Retrieval, channel: Channel) -> float:
    return {"exact": settings.weight_exact, "bm25": settings.weight_bm25, "dense": settings.weight_dense}[channel]


def _highest(found: Sequence[Passage]) -> str | None:
    """Of what is released: whoever reads the record learns of it."""
    return max((passage.classification for passage in found), key=LEVELS.index, default=None)


def _claims(answer: Answer | None) -> list[dict[str, Any]]:
    if answer is None:
        return []
    return [{"text": answer.text, "evidence_ids": [mark.evidence_id for mark in answer.citations]}]


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
