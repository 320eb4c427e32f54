"""Rankings that were just made, so that turning a page or opening a panel does not rank again.

Only the order is kept. What is released is checked against labels and hashes at every hit as at the first time, and
every hit is written down. A ranking belongs to one candidate set, which is one version of the collections and one
moment of force, and to everything else that can change it, the person's permission set included.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from core.candidates import CandidateSet
from core.ranking import Ranking

KEPT = 64


@dataclass(frozen=True, slots=True)
class Recalled:
    ranking: Ranking
    filtered_out: int
    """See `core.filtered`."""


class RankingCache:
    """Thread-safe."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._held: OrderedDict[Hashable, tuple[weakref.ref[CandidateSet], Recalled]] = OrderedDict()

    def get(self, candidates: CandidateSet, key: Hashable) -> Recalled | None:
        place = id(candidates), key
        with self._lock:
            reference, recalled = self._held.get(place, (None, None))
            if reference is None or reference() is not candidates:  # an id is given again once its owner is gone
                return None
            self._held.move_to_end(place)
        return recalled

    def put(self, candidates: CandidateSet, key: Hashable, recalled: Recalled) -> None:
        with self._lock:
            self._held[id(candidates), key] = weakref.ref(candidates), recalled
            while len(self._held) > self._kept:
                self._held.popitem(last=False)
