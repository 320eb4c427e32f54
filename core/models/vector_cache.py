"""The home's vector cache: nothing is embedded twice, and a text has one vector whoever embedded it.

Keys are an embedder's fingerprint, the role of the text (passage or query) and the SHA-256 of the text; the text
itself is never stored. A vector is little-endian float32 with a CRC-32 over key and numbers. A row whose checksum
or length is wrong is dropped and embedded anew; a file that SQLite finds damaged is renamed and begun afresh.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from core.errors import EmbedderUnavailable, InputError, StoreFailure
from core.models.vector_file import VectorFile
from core.models.vectors import unit_rows
from core.ports import Embedder, Vectors
from core.types import text_hash

TextRole = Literal["passage", "query"]
Progress = Callable[[int, int], None]
"""Called with (distinct texts done, distinct texts in all)."""

TABLE: Mapping[TextRole, str] = {"passage": "passages", "query": "queries"}
KEYS_IN_STATEMENT = 500
ROWS_IN_TRANSACTION = 2048


class VectorCache:
    """Vectors as bytes by text hash (64 hex digits). Safe for several threads and several processes."""

    def __init__(self, path: Path, *, queries_max: int = 100_000, busy_timeout_s: float = 60.0) -> None:
        """`queries_max`: cached queries over all embedders; the oldest give way."""
        self._file = VectorFile(path, busy_timeout_s)
        self._queries_max = queries_max

    def fetch(self, fingerprint: str, role: TextRole, hashes: Sequence[str]) -> dict[str, bytes]:
        """What is held of `hashes`; those not held are left out. Raises StoreFailure."""
        held: dict[str, bytes] = {}
        for part in _parts(hashes, ROWS_IN_TRANSACTION):
            found, broken = self._file.read(partial(_select, fingerprint=fingerprint, role=role, hashes=part))
            if broken:
                self._file.write(partial(_delete, table=TABLE[role], keys=broken))
            held |= found
        return held

    def keep(self, fingerprint: str, role: TextRole, vectors: Mapping[str, bytes]) -> dict[str, bytes]:
        """Add those not yet held, and return for each what is held now.

        Raises StoreFailure, and EmbedderUnavailable where the embedder's vectors had another dimension before.
        """
        held: dict[str, bytes] = {}
        for part in _parts(list(vectors), ROWS_IN_TRANSACTION):
            rows = {name: vectors[name] for name in part}
            held |= self._file.write(partial(self._insert, fingerprint=fingerprint, role=role, vectors=rows))
        return held

    def dimension(self, fingerprint: str) -> int | None:
        """Of the vectors held for an embedder; None: none were ever held. Raises StoreFailure."""
        row = self._file.read(partial(_embedder, fingerprint=fingerprint))
        return None if row is None else row[1]

    def counts(self) -> dict[str, int]:
        """Held passages and queries over all embedders. Raises StoreFailure."""
        return {table: self._file.read(partial(_count, table=table)) for table in TABLE.values()}

    def forget(self, hashes: Sequence[str]) -> int:
        """Remove the vectors of these texts for every embedder and role, overwritten in the file; gives how many.

        Files that were set aside as damaged go as well: they may hold the same vectors.
        Raises StoreFailure, also where a reader kept the log from being emptied.
        """
        keys = [bytes.fromhex(name) for name in hashes]
        removed = sum(self._file.write(partial(_delete, table=table, keys=keys)) for table in TABLE.values())
        if not self._file.read(_empty_log):
            raise StoreFailure("removed vectors are still in the vector cache's log", "run the same again")
        for path in self._file.set_aside():
            path.unlink(missing_ok=True)
        return removed

    def close(self) -> None:
        self._file.close()

    def _insert(
        self, connection: sqlite3.Connection, fingerprint: str, role: TextRole, vectors: Mapping[str, bytes]
    ) -> dict[str, bytes]:
        embedder = _embedder_for(connection, fingerprint, vectors)
        table = TABLE[role]
        found, broken = _select(connection, fingerprint, role, list(vectors))
        _delete(connection, table, broken)
        seed = _seed(fingerprint)
        added = {bytes.fromhex(name): vector for name, vector in vectors.items() if name not in found}
        new = [(key, embedder, _checksum(seed, key, vector), vector) for key, vector in added.items()]
        statement = f"INSERT OR IGNORE INTO {table} (hash, embedder, checksum, vector) VALUES (?, ?, ?, ?)"
        connection.executemany(statement, new)
        if role == "query":
            # ids grow without gaps but for removed rows, so this never leaves more than queries_max
            connection.execute("DELETE FROM queries WHERE id <= (SELECT max(id) FROM queries) - ?", [self._queries_max])
        return {**vectors, **found}


class CachedEmbedder:
    """An embedder whose every vector comes out of the cache, first embedded where it is missing.

    Two processes that embed one text at once, each with its own last bits, therefore agree to the byte.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache, batch: int = 16) -> None:
        """`batch`: texts embedded, and kept, at a time."""
        self._embedder = embedder
        self._cache = cache
        self._batch = batch

    @property
    def spec(self) -> str:
        return self._embedder.spec

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimension(self) -> int:
        """Asks the model only where nothing of it is cached. Raises EmbedderUnavailable, StoreFailure."""
        return self._cache.dimension(self.fingerprint) or self._embedder.dimension

    def passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Shape (texts, dimension). What was embedded before a failure stays cached.

        Raises EmbedderUnavailable, StoreFailure.
        """
        return self._vectors("passage", texts, self._embedder.embed_passages, progress)

    def missing(self, texts: Sequence[str]) -> int:
        """How many distinct ones of these passages are not embedded yet. Raises StoreFailure."""
        hashes = {text_hash(text) for text in texts}
        return len(hashes) - len(self._cache.fetch(self.fingerprint, "passage", sorted(hashes)))

    def query(self, text: str) -> npt.NDArray[np.float32]:
        """Shape (dimension,). Raises EmbedderUnavailable, StoreFailure."""
        vector: npt.NDArray[np.float32] = self.queries([text])[0]
        return vector

    def queries(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """`query` of each text, shape (texts, dimension)."""

        def embed(missing: Sequence[str]) -> list[npt.NDArray[np.float32]]:
            return [self._embedder.embed_query(text) for text in missing]

        return self._vectors("query", texts, embed, progress)

    def put_passages(self, texts: Sequence[str], vectors: npt.NDArray[Any]) -> None:
        """Take vectors that this very embedder made elsewhere, of any float type and length; held ones stay.

        Raises InputError for vectors that cannot be this embedder's, StoreFailure.
        """
        self._put("passage", texts, vectors)

    def put_queries(self, texts: Sequence[str], vectors: npt.NDArray[Any]) -> None:
        """As `put_passages`, for queries."""
        self._put("query", texts, vectors)

    def _vectors(
        self, role: TextRole, texts: Sequence[str], embed: Callable[[Sequence[str]], Any], progress: Progress | None
    ) -> Vectors:
        hashes = [text_hash(text) for text in texts]
        by_hash = dict(zip(hashes, texts, strict=True))
        held = self._cache.fetch(self.fingerprint, role, list(by_hash))
        # texts of like length in one batch: models pad to the longest
        missing = sorted(by_hash.keys() - held.keys(), key=lambda name: (len(by_hash[name]), name))
        if progress:
            progress(len(held), len(by_hash))
        for part in _parts(missing, self._batch):
            raw = embed([by_hash[name] for name in part])
            rows = unit_rows(raw, len(part), self._embedder.dimension)
            held |= self._cache.keep(self.fingerprint, role, _as_bytes(part, rows))
            if progress:
                progress(len(held), len(by_hash))
        joined = bytearray().join(held[name] for name in hashes)
        return np.frombuffer(joined, dtype="<f4").reshape(len(hashes), self.dimension if not hashes else -1)

    def _put(self, role: TextRole, texts: Sequence[str], vectors: npt.NDArray[Any]) -> None:
        if len(texts) != len(vectors):
            raise InputError(f"{len(vectors)} vectors for {len(texts)} texts", "give one vector a text, in order")
        hashes = [text_hash(text) for text in texts]
        for first in range(0, len(hashes), ROWS_IN_TRANSACTION):
            part = hashes[first : first + ROWS_IN_TRANSACTION]
            try:
                rows = unit_rows(
                    vectors[first : first + ROWS_IN_TRANSACTION], len(part), self.dimension, any_length=True
                )
            except EmbedderUnavailable as error:
                problem = error.message.replace("the embedder gave", "the given vectors have")
                raise InputError(problem, f"make them with {self.spec}") from None
            self._cache.keep(self.fingerprint, role, _as_bytes(part, rows))


def _as_bytes(hashes: Sequence[str], rows: Vectors) -> dict[str, bytes]:
    return {name: row.astype("<f4").tobytes() for name, row in zip(hashes, rows, strict=True)}


def _parts(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (items[first : first + size] for first in range(0, len(items), size))


def _checksum(seed: int, key: bytes, vector: bytes) -> int:
    """`seed`: CRC-32 of the fingerprint, so that a row moved to another embedder does not pass."""
    return zlib.crc32(vector, zlib.crc32(key, seed))


def _seed(fingerprint: str) -> int:
    return zlib.crc32(fingerprint.encode())


def _embedder(connection: sqlite3.Connection, fingerprint: str) -> tuple[int, int] | None:
    row = connection.execute("SELECT id, dimension FROM embedders WHERE fingerprint = ?", [fingerprint]).fetchone()
    return None if row is None else (int(row[0]), int(row[1]))


def _embedder_for(connection: sqlite3.Connection, fingerprint: str, vectors: Mapping[str, bytes]) -> int:
    given = {len(vector) // 4 for vector in vectors.values()}
    row = _embedder(connection, fingerprint)
    if row is None:
        statement = "INSERT INTO embedders (fingerprint, dimension) VALUES (?, ?) RETURNING id"
        row = (int(connection.execute(statement, [fingerprint, min(given)]).fetchone()[0]), min(given))
    if given != {row[1]}:
        raise EmbedderUnavailable(
            f"the embedder gives {max(given)} dimensions and gave {row[1]} before",
            "its model was exchanged: state another embedder, with its dimension",
        )
    return row[0]


def _select(
    connection: sqlite3.Connection, fingerprint: str, role: TextRole, hashes: Sequence[str]
) -> tuple[dict[str, bytes], list[bytes]]:
    """The sound rows by hash, and the keys of the broken ones."""
    row = _embedder(connection, fingerprint)
    if row is None:
        return {}, []
    embedder, dimension = row
    seed = _seed(fingerprint)
    found: dict[str, bytes] = {}
    broken: list[bytes] = []
    for part in _parts(hashes, KEYS_IN_STATEMENT):
        marks = ", ".join("?" * len(part))
        statement = f"SELECT hash, checksum, vector FROM {TABLE[role]} WHERE hash IN ({marks}) AND embedder = ?"
        for key, checksum, vector in connection.execute(statement, [*map(bytes.fromhex, part), embedder]):
            if len(vector) == 4 * dimension and _checksum(seed, key, vector) == checksum:
                found[key.hex()] = vector
            else:
                broken.append(key)
    return found, broken


def _delete(connection: sqlite3.Connection, table: str, keys: Sequence[bytes]) -> int:
    """For every embedder; a broken row's twin under another embedder is embedded anew as well, which harms nothing."""
    statement = f"DELETE FROM {table} WHERE hash = ?"
    return sum(connection.execute(statement, [key]).rowcount for key in keys)


def _empty_log(connection: sqlite3.Connection) -> bool:
    return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]


def _count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
