"""Synthetic chunks, labels, vectors and queries of any number, the same for the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.ports import DocumentWrite
from core.tokens import STOP_WORDS
from core.types import Chunk, Document, Labels, Principal, chunk_hash, chunk_id, document_id, text_hash

Array = npt.NDArray[Any]

COLLECTION = "benchmark"
DIMENSION = 384
SEED = 20260601
WORDS = 50_000
WORDS_A_CHUNK = 120
CHARACTERS = 3_000
CHARACTERS_A_CHUNK = 60
CHINESE_EVERY = 10
CHUNKS_A_DOCUMENT = 5
TOPICS = 200
SYLLABLES = [consonant + vowel for consonant in "bcdfglmnprstv" for vowel in "aeiou"]

CLASSES = ("public", "internal", "staff", "finance", "legal")
SHARES = (0.3, 0.2, 0.1, 0.25, 0.15)
"""Of the documents in each access class; the first three are those that `sixty_percent` sees."""
LABELS = {
    "public": Labels("public", ("*",)),
    "internal": Labels("internal", ("*",)),
    "staff": Labels("internal", ("staff",)),
    "finance": Labels("confidential", ("finance",)),
    "legal": Labels("restricted", ("legal",)),
}


def everything() -> Principal:
    return Principal("director", frozenset({"staff", "finance", "legal"}), "restricted")


def sixty_percent() -> Principal:
    return Principal("clerk", frozenset({"staff"}), "internal")


@dataclass(frozen=True, eq=False)
class Synthetic:
    texts: Sequence[str]
    vectors: Array
    """float32 (chunks, DIMENSION), unit length"""
    classes: Sequence[str]
    """Access class of each chunk; the chunks of a document share it."""
    queries: Sequence[str]
    query_vectors: Array

    @property
    def documents(self) -> int:
        return -(-len(self.texts) // CHUNKS_A_DOCUMENT)

    @property
    def visible(self) -> float:
        """Share of the chunks that `sixty_percent` sees."""
        return sum(name in CLASSES[:3] for name in self.classes) / len(self.classes)

    @staticmethod
    def make(chunks: int, queries: int) -> Synthetic:
        draw = np.random.default_rng(SEED)
        words = _vocabulary(draw)
        numbers = draw.choice(WORDS, (chunks, WORDS_A_CHUNK), p=_zipf(WORDS))
        texts = [" ".join(words[row].tolist()) for row in numbers]
        for at in range(0, chunks, CHINESE_EVERY):
            texts[at] += "\n" + _chinese(draw)
        topics = draw.normal(size=(TOPICS, DIMENSION))
        vectors = _unit(topics[draw.integers(0, TOPICS, chunks)] + draw.normal(size=(chunks, DIMENSION)))
        classes = _classes(draw, -(-chunks // CHUNKS_A_DOCUMENT)).repeat(CHUNKS_A_DOCUMENT)[:chunks]
        sources = draw.choice(chunks, queries)
        return Synthetic(
            texts=texts,
            vectors=vectors,
            classes=[str(name) for name in classes],
            queries=[_query(draw, texts[at]) for at in sources],
            query_vectors=_unit(vectors[sources] + draw.normal(size=(queries, DIMENSION)) / np.sqrt(DIMENSION)),
        )


def document_write(data: Synthetic, number: int) -> DocumentWrite:
    """One document of five chunks, its text theirs with an empty line between them."""
    first = number * CHUNKS_A_DOCUMENT
    texts = data.texts[first : first + CHUNKS_A_DOCUMENT]
    whole = "\n\n".join(texts)
    path = f"folder-{number % 100}/document-{number}.md"
    name, digest = document_id(COLLECTION, path), text_hash(whole)
    chunks, start = [], 0
    for ordinal, text in enumerate(texts):
        end = start + len(text)
        identity = chunk_id(name, start, end, text)
        chunks.append(Chunk(identity, name, ordinal, start, end, text, chunk_hash(text), "section"))
        start = end + 2
    labels = LABELS[data.classes[first]]
    document = Document(name, path, path, digest, digest, "benchmark 1", labels, name, digest[:12])
    return DocumentWrite(document, whole, tuple(chunks), data.vectors[first : first + len(texts)])


def _vocabulary(draw: np.random.Generator) -> Array:
    """English function words first, then made-up words of two to five syllables."""
    found = dict.fromkeys(sorted(STOP_WORDS))
    while len(found) < WORDS:
        count = int(draw.integers(2, 6))
        found["".join(SYLLABLES[at] for at in draw.integers(0, len(SYLLABLES), count))] = None
    return np.array(list(found))


def _classes(draw: np.random.Generator, count: int) -> Array:
    """Access classes in exactly their shares, in random order."""
    ends = np.rint(np.cumsum(SHARES) * count).astype(int)
    return draw.permutation(np.array(CLASSES)[np.searchsorted(ends, np.arange(count), side="right")])


def _chinese(draw: np.random.Generator) -> str:
    return "".join(chr(0x4E00 + int(at)) for at in draw.choice(CHARACTERS, CHARACTERS_A_CHUNK, p=_zipf(CHARACTERS)))


def _query(draw: np.random.Generator, text: str) -> str:
    """A question of six words of a chunk that are no function words; for half of those with Chinese, a piece of it."""
    english, _, chinese = text.partition("\n")
    if chinese and draw.random() < 0.5:
        start = int(draw.integers(0, len(chinese) - 9))
        return chinese[start : start + 9]
    words = [word for word in english.split() if word not in STOP_WORDS]
    return f"how does the {' '.join(str(word) for word in draw.choice(words, 6))}"


def _zipf(count: int) -> Array:
    """Probabilities by rank (Zipf and Mandelbrot)."""
    weights = 1 / (np.arange(1, count + 1) + 2.7)
    return np.asarray(weights / weights.sum())


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
