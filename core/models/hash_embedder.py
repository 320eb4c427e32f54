"""A deterministic embedder without a model: for tests, for the laws, and where no model may be loaded."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.models.fingerprint import fingerprint
from core.ports import Vectors

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
WORDS = re.compile(rf"([{CJK}]+)|((?:(?![{CJK}])\w)+)")
REMEMBERED = 10_000


class HashEmbedder:
    """Words, and characters and bigrams of CJK text, hashed to signed coordinates; texts that share words are near.

    Weinberger et al., Feature Hashing for Large Scale Multitask Learning, ICML 2009. Queries and passages are
    treated alike. A text without words is the zero vector. Safe to call from several threads.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.spec = f"hash:{dimension}"
        self.fingerprint = fingerprint("hash", {"version": 1, "dimension": dimension})
        self.calls = 0
        """Calls of `embed_passages` and `embed_query` so far."""
        self.embedded: deque[str] = deque(maxlen=REMEMBERED)
        """The texts embedded last, oldest first."""
        self._lock = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            self.calls += 1
            self.embedded.extend(texts)
        rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        vector: npt.NDArray[np.float32] = self.embed_passages([text])[0]
        return vector

    def _vector(self, text: str) -> npt.NDArray[np.float64]:
        counts = np.zeros(self.dimension)
        for word in words(text):
            number = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest())
            counts[(number >> 1) % self.dimension] += 1.0 if number & 1 else -1.0
        length = np.sqrt(counts @ counts)
        return counts / length if length else counts


def words(text: str) -> list[str]:
    """Lower-cased words; of a run of CJK characters each character and each pair of neighbours."""
    found: list[str] = []
    for run, word in WORDS.findall(text.lower()):
        found += [word] if word else [*run, *(run[at : at + 2] for at in range(len(run) - 1))]
    return found
