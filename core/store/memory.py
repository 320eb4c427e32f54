"""A collection in memory: the double of the LanceDB store, with the same contract and none of its files."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from core.errors import IntegrityFailure, StoreFailure, UnknownDocument
from core.ports import Delta, DocumentWrite, chunk_schema
from core.store.documents import document_from_json, document_to_json
from core.store.rows import check_batch, chunk_table
from core.types import Document


@dataclass(frozen=True, slots=True)
class _Entry:
    seq: int
    chunks_seq: int
    document: Document | None
    chunks: pa.Table


class MemoryStore:
    """Implements `ChunkStore`; safe to share between threads."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._seq = 0
        self._entries: dict[str, _Entry] = {}
        self._texts: dict[str, str] = {}
        self._mutex = threading.RLock()

    @property
    def dimension(self) -> int:
        return self._dimension

    def head(self) -> int:
        return self._seq

    def commit(self, writes: Sequence[DocumentWrite], removed: Sequence[str] = ()) -> int:
        """A commit that changes nothing gives the present number. Raises InputError, UnknownDocument, StoreFailure."""
        check_batch(writes, removed, self._dimension)
        with self._mutex:
            gone = [identity for identity in removed if self._is_live(identity)]
            if not writes and not gone:
                return self._seq
            seq = self._seq + 1
            entries = {write.document.document_id: self._entry(seq, write) for write in writes}
            nothing = chunk_schema(self._dimension).empty_table()
            entries.update({identity: _Entry(seq, seq, None, nothing) for identity in gone})
            self._texts.update({write.document.text_hash: write.text for write in writes if write.text is not None})
            self._entries.update(entries)
            self._seq = seq
            return seq

    def since(self, seq: int) -> Delta:
        """Raises IntegrityFailure for a number above the head."""
        with self._mutex:
            if seq > self._seq:
                raise IntegrityFailure(f"the collection stands at commit {self._seq}, before {seq}", "open it anew")
            changed = {key: entry for key, entry in sorted(self._entries.items()) if entry.seq > seq}
            live = {key: entry for key, entry in changed.items() if entry.document is not None}
            tables = [entry.chunks for entry in live.values() if entry.chunks_seq > seq]
            return Delta(
                seq=self._seq,
                documents=tuple(entry.document for entry in live.values() if entry.document is not None),
                removed=tuple(key for key in changed if key not in live) if seq else (),
                document_seq={key: entry.seq for key, entry in live.items()},
                chunks_seq={key: entry.chunks_seq for key, entry in live.items()},
                chunks=pa.concat_tables([chunk_schema(self._dimension).empty_table(), *tables]),
            )

    def text(self, text_hash: str) -> str:
        """Raises StoreFailure."""
        return self.texts([text_hash])[text_hash]

    def texts(self, text_hashes: Sequence[str]) -> dict[str, str]:
        """Raises StoreFailure."""
        missing = [name for name in text_hashes if name not in self._texts]
        if missing:
            raise StoreFailure(f"no text {missing[0]!r} is stored", "re-ingest the document or restore a backup")
        return {name: self._texts[name] for name in text_hashes}

    def chunk_rows(self, chunk_ids: Sequence[str]) -> pa.Table:
        chunks = self.since(0).chunks
        return chunks.filter(pc.is_in(chunks["chunk_id"], pa.array(sorted(set(chunk_ids)), pa.string())))

    def compact(self) -> None:
        """Nothing superseded is kept here."""

    def _is_live(self, identity: str) -> bool:
        entry = self._entries.get(identity)
        return entry is not None and entry.document is not None

    def _entry(self, seq: int, write: DocumentWrite) -> _Entry:
        document = document_from_json(document_to_json(write.document))
        if write.text is None and document.text_hash not in self._texts:
            raise StoreFailure(f"the text of {document.path!r} is not stored", "commit it with its text")
        if write.chunks is not None:
            chunks = chunk_table(seq, write.chunks, write.vectors, self._dimension)
            return _Entry(seq, seq, document, chunks)
        if not self._is_live(document.document_id):
            raise UnknownDocument(document.path)
        kept = self._entries[document.document_id]
        return _Entry(seq, kept.chunks_seq, document, kept.chunks)
