"""Purging: documents go, and with them every trace of their words in the home's tables, caches and snapshots.

A removed row stays in the tables until its version is old and compacted, so what remains is written into new tables
and the old ones are deleted. Then every file of the home is read for the purged words, but for the audit log, which
holds what was asked, and other collections, which may have the same words of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import IntegrityFailure
from core.ingest.generations import replace_tables, stored_writes
from core.library import Library
from core.location import resolve_document
from core.settings import Settings
from core.store.documents import document_to_json
from core.store.registry import Collection, collection_folder
from core.text import fold, tokens
from core.types import text_hash

WORDS_MAX = 200
"""Words looked for, the longest ones: a file's bytes are read once for each."""
_WORD_MIN_BYTES = 6
_OVERLAP_BYTES = 4_096
_BLOCK_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class PurgeReport:
    collection: str
    paths: tuple[str, ...]
    index_version: int
    words: int
    """Words of the purged documents, and of nothing else in the collection, that were looked for."""
    files: int
    """Files that were read for them; none had one."""


def purge(
    home: Path, collection: Collection, library: Library, settings: Settings, names: Sequence[str]
) -> PurgeReport:
    """Purge documents by id, path or file name, and what earlier removals and updates have left of any others.

    Searches go on meanwhile. Raises UnknownDocument, AmbiguousDocument (then nothing is purged), StoreFailure, and
    IntegrityFailure where a purged word is still found, with the file.
    """
    with library.writing(collection.name) as (current, store):
        candidates = library.everything(collection.name)
        numbers = sorted({resolve_document(candidates, name) for name in names})
        documents = [candidates.snapshot.documents[number] for number in numbers]
        gone = {document.document_id for document in documents}
        delta = store.since(0)
        goes = [identity in gone for identity in delta.chunks["document_id"].to_pylist()]
        texts = delta.chunks["indexed_text"].to_pylist()
        kept = {text for text, is_gone in zip(texts, goes, strict=True) if not is_gone}
        purged = {text for text, is_gone in zip(texts, goes, strict=True) if is_gone}
        writes = stored_writes(delta.documents, delta.chunks, None)
        replace_tables(
            home,
            current,
            store,
            [write for write in writes if write.document.document_id not in gone],
            settings,
            embedder=current.embedder,
            fingerprint=current.fingerprint,
            dimension=current.dimension,
        )
        library.forget(collection.name)
        library.sources(collection.name).sweep({d.source_hash for d in delta.documents if d.document_id not in gone})
        library.forget_vectors([text_hash(text) for text in purged - kept])
    known = [document_to_json(document) for document in delta.documents if document.document_id not in gone]
    words = _own_words(purged, "\n".join((*kept, *known)))
    files = _look_for(home, collection_folder(home, current.name), words)
    paths = tuple(sorted(document.path for document in documents))
    return PurgeReport(collection.name, paths, library.head(collection.name), len(words), files)


def _own_words(purged: set[str], others: str) -> list[bytes]:
    """Words of the purged texts that stand nowhere in the others, as written or folded; the longest first."""
    haystack = f"{others}\n{fold(others)}".encode("utf-8", "replace")
    own: list[bytes] = []
    for word in sorted({word for text in purged for word in _words(text)}, key=lambda word: (-len(word), word)):
        if word not in haystack:
            own.append(word)
        if len(own) == WORDS_MAX:
            break
    return own


def _words(text: str) -> Iterator[bytes]:
    """Stretches between white space, and the pieces of at least six bytes that they are made of."""
    for word in text.split():
        encoded = word.encode("utf-8", "replace")
        if len(encoded) >= _WORD_MIN_BYTES:
            yield encoded
    for token in tokens(text):
        encoded = token.encode("utf-8", "replace")
        if len(encoded) >= 2 * _WORD_MIN_BYTES:
            yield encoded


def _look_for(home: Path, own: Path, words: Sequence[bytes]) -> int:
    """How many files were read: all but the audit log and the other collections. Raises IntegrityFailure for the
    first that has one of the words."""
    count = 0
    for folder, folders, names in os.walk(home):
        at = Path(folder)
        if at == home:
            folders[:] = [name for name in folders if name != "audit"]
        elif at == home / "collections":
            folders[:] = [name for name in folders if at / name == own]
        for path in (at / name for name in names):
            if path.is_file() and not path.is_symlink():
                count += 1
                if _holds(path, words):
                    raise IntegrityFailure(
                        f"a purged word still stands in {path.relative_to(home)}", "remove that file, or what names it"
                    )
    return count


def _holds(path: Path, words: Sequence[bytes]) -> bool:
    before = b""
    try:
        with open(path, "rb") as file:
            while block := file.read(_BLOCK_BYTES):
                data = before + block
                if any(word in data for word in words):
                    return True
                before = data[-_OVERLAP_BYTES:]
    except FileNotFoundError:  # another process has tidied it away
        return False
    return False
