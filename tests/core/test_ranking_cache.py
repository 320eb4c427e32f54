from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

from core.audit import MemoryAudit
from core.candidates import CandidateSet
from core.pipeline import Request, search
from core.ranking_cache import RankingCache, Recalled
from core.types import Location, Principal, SearchResult
from tests.support.engine import ANN, DEFAULTS, GUEST, NOW, PUBLIC, STAFF, library_of, seen
from tests.support.memory_library import MemoryLibrary, document_write

BOB = replace(ANN, actor="bob")


class Keeping(MemoryLibrary):
    """Gives the same candidate set for the same scope, as the library of a home does."""

    def __init__(self) -> None:
        super().__init__()
        self.scopes: dict[Any, CandidateSet] = {}

    def candidates(self, collections: Any, permission: Any, as_of: int) -> CandidateSet:
        found = super().candidates(collections, permission, as_of)
        key = (*found.snapshot.versions.items(), found.mask.tobytes())
        return self.scopes.setdefault(key, found)


def made() -> Keeping:
    library = Keeping()
    for number, labels in enumerate((PUBLIC, STAFF, PUBLIC)):
        library.commit("c", [document_write("c", f"d{number}", [f"refund {number}"], labels=labels)])
    return library


class Asked:
    def __init__(self) -> None:
        self.library, self.cache, self.audit = made(), RankingCache(), MemoryAudit()

    def __call__(self, principal: Principal = ANN, settings: Any = DEFAULTS, **request: Any) -> str:
        """`hit` or `miss`, as the audit has it; the result equals that of a search without a cache."""
        asked = Request("refund", **{"collections": ("c",), "as_of": NOW, **request})
        result = search(asked, principal, settings, self.library, self.audit, self.cache)
        assert result.core() == search(asked, principal, settings, self.library, MemoryAudit()).core()
        self.result: SearchResult = result
        return str(self.audit.records[-1]["payload"]["cache"])


def test_the_same_again_is_a_hit_with_ids_and_a_record_of_its_own() -> None:
    ask = Asked()
    assert ask() == "miss"
    first = ask.result
    assert ask() == "hit"
    assert ask.result.trace_id != first.trace_id and ask.result.passages[0].evidence_id != first.passages[0].evidence_id
    assert ask(explain=True) == "hit" and ask.result.trace, "a hit is as whole as a search"
    assert [record["kind"] for record in ask.audit.records] == ["search.intent", "search.outcome"] * 3


def test_whatever_can_change_the_answer_is_another_key() -> None:
    ask = Asked()
    ask()
    other = DEFAULTS.with_retrieval(fusion="rrf", rrf_k=7)
    assert ask(BOB) == "miss", "the same rights, but another person"
    assert ask(GUEST) == "miss"
    assert ask(replace(ANN, groups=frozenset({"staff", "new"}))) == "miss"
    assert ask(min_classification="public") == "miss"
    assert ask(settings=other) == "miss"
    assert ask(location=Location("d0")) == "miss"
    assert ask(depth=9) == "miss"
    assert ask() == ask(settings=other) == ask(location=Location("d0")) == "hit"
    assert ask(top_k=1) == "hit", "how many are shown does not change their order"
    ask.library.commit("c", [document_write("c", "d9", ["refund 9"])])
    assert ask() == "miss" and "d9" in {passage.path for passage in ask.result.passages}


def test_a_degraded_search_is_not_kept() -> None:
    ask = Asked()

    def fail(*args: Any) -> Any:
        raise ValueError

    ask.library.embed_query = fail  # type: ignore[method-assign]
    settings = DEFAULTS
    asked = Request("refund", ("c",), as_of=NOW)
    for _ in range(2):
        result = search(asked, ANN, settings, ask.library, ask.audit, ask.cache)
        assert result.degradation_flags == ("vector_channel_down",)
        assert ask.audit.records[-1]["payload"]["cache"] == "miss"


def test_what_is_kept_does_not_keep_a_snapshot_alive_and_is_bounded() -> None:
    cache = RankingCache(kept=2)
    candidates = seen(library_of(["refund"]))
    recalled: Any = Recalled(None, 0)  # type: ignore[arg-type]
    for key in ("a", "b", "c"):
        cache.put(candidates, key, recalled)
    assert [cache.get(candidates, key) for key in ("a", "b", "c")] == [None, recalled, recalled]
    reference = weakref.ref(candidates)
    del candidates
    gc.collect()
    assert reference() is None
    assert cache.get(seen(library_of(["refund"])), "c") is None
