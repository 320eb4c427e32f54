"""Files into a collection: parsed, cut, embedded, and committed one document at a time, each all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np

from core.candidates import CandidateSet
from core.errors import InputError, MetadataError, UnreadableFile
from core.ingest.chunk import chunk_document
from core.ingest.edit import keep_edits, labels_changed
from core.ingest.metadata import DocumentMetadata, head, marking, read_front_matter, unread_labels
from core.ingest.metadata_files import read_sidecar, read_table
from core.ingest.read import FoundFile, read_file, walk
from core.ingest.report import FileOutcome, IngestReport, Outcome
from core.ingest.said import Said
from core.ingest.sandbox import ParserProcess
from core.library import Library
from core.ports import ChunkStore, DocumentWrite
from core.settings import Settings
from core.snapshot import HIDDEN, Snapshot
from core.store.documents import provenance_to_json
from core.store.registry import Collection
from core.types import Chunk, Document, Labels, document_id, text_hash

Progress = Callable[[str], None]
"""Called with the path of each file before it is read."""
Embedding = Callable[[int, int], None]
"""Called with how many documents have got their vectors and how many were to get them, once all words are in."""
AT_ONCE = 64
"""Texts that an ingestion embeds as it goes; beyond that, words come first and vectors follow."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document as it would be committed, without vectors."""

    bare: Document
    """Without what is said about it."""
    said: Said
    document: Document
    text: str
    chunks: tuple[Chunk, ...]
    warnings: tuple[str, ...]
    source: bytes
    """The file as it came."""
    remembered: tuple[str, ...] = ()
    """Metadata keys decided by what a table or a sidecar said when it was ingested before."""


def ingest(
    paths: Sequence[Path],
    collection: Collection,
    library: Library,
    settings: Settings,
    metadata: Path | None = None,
    progress: Progress | None = None,
    embedding: Embedding | None = None,
) -> IngestReport:
    """Bring `paths` (files and folders) in. A file that cannot be read is refused in the report; the others go in.

    Where there is much to embed, every document is first committed without vectors, so that its words are found at
    once, and a second time with them. An ingestion that ends in between is completed by the next one.

    Raises InputError where two files would be the same document, MetadataError for a `metadata` file that is wrong
    anywhere (then nothing goes in), EmbedderUnavailable, EmbedderMismatch, StoreFailure.
    """
    found = walk(paths)
    table = read_table(metadata) if metadata is not None else {}
    unknown = sorted(set(table) - {file.relative_path for file in found.files})
    if unknown:
        raise MetadataError(
            f"{metadata}: {unknown[0]!r} is none of the files", "write paths as the collection has them"
        )
    embedder = library.embedder_of(collection)
    budget, waiting = AT_ONCE, list[Prepared]()
    outcomes = [FileOutcome(error.path, "refused", reason=_reason(error)) for error in found.refused]
    with ParserProcess(settings.limits) as parser:
        for file in found.files:
            if progress:
                progress(file.relative_path)
            try:
                prepared = prepare(file, collection.name, table, settings, parser)
                if settings.store.keep_sources:
                    library.sources(collection.name).put(prepared.document.source_hash, prepared.source)
                missing = embedder.missing(_texts(prepared))
                outcomes.append(_commit(prepared, collection.name, library, with_vectors=missing <= budget))
                if missing > budget:
                    waiting.append(replace(prepared, source=b""))
                elif outcomes[-1].outcome != "unchanged":
                    budget -= missing
            except (UnreadableFile, MetadataError) as error:
                outcomes.append(FileOutcome(str(file.path), "refused", reason=_reason(error)))
    for number, prepared in enumerate(waiting, start=1):
        _add_vectors(prepared, collection.name, library)
        if embedding:
            embedding(number, len(waiting))
    return IngestReport(
        collection.name, _with_hidden(outcomes, collection.name, library), library.head(collection.name)
    )


def prepare(
    file: FoundFile,
    collection: str,
    table: Mapping[str, DocumentMetadata],
    settings: Settings,
    parser: ParserProcess,
) -> Prepared:
    """Parse and cut one file; nothing is written. Raises UnreadableFile, MetadataError."""
    raw = read_file(file.path, file.root, settings.limits)
    parsed = parser.parse(raw)
    if not parsed.metadata and (key := unread_labels(parsed.text) or unread_labels(head(raw.data))):
        raise UnreadableFile(
            str(file.path),
            f"{key} stands at its top, but not in front matter that is read",
            "put labels between --- lines from the first line of a Markdown file, or into a sidecar",
        )
    front, warnings = read_front_matter(parsed.metadata, file.relative_path)
    said = Said(table.get(file.relative_path), read_sidecar(file.path), front)
    if said.metadata().classification is None and (level := marking(parsed.text)):
        warnings = (*warnings, f"its text calls it {level}, which is no label; state labels in a sidecar")
    identity = document_id(collection, file.relative_path)
    chunks = chunk_document(identity, parsed, settings.chunking)
    bare = Document(
        document_id=identity,
        path=file.relative_path,
        title=parsed.title or PurePosixPath(file.relative_path).stem,
        text_hash=text_hash(parsed.text),
        source_hash=raw.source_hash,
        parser=parsed.parser,
        labels=Labels(),
        knowledge_id=identity,
        revision=raw.source_hash[:12],
        language=parsed.language,
    )
    document = described(bare, said)
    return Prepared(bare, said, document, parsed.text, chunks, (*parsed.warnings, *warnings), raw.data)


def described(bare: Document, said: Said) -> Document:
    """The document with what is said about it."""
    stated = said.metadata()
    return replace(
        bare,
        title=stated.title or bare.title,
        labels=stated.labels(),
        knowledge_id=stated.knowledge_id or bare.knowledge_id,
        revision=stated.revision or bare.revision,
        revised_at=stated.revised_at,
        status=stated.status or "active",
        valid_until=stated.valid_until,
        owner=stated.owner,
        quality=stated.quality,
        source_uri=stated.source_uri,
        relations=stated.relations or (),
        language=stated.language or bare.language,
        outside=said.outside(),
    )


def _texts(prepared: Prepared) -> list[str]:
    return [chunk.indexed_text for chunk in prepared.chunks]


def _commit(prepared: Prepared, collection: str, library: Library, *, with_vectors: bool) -> FileOutcome:
    everything = library.everything(collection)
    prepared = _settled(prepared, everything)
    _check_revisions(prepared.document, everything)
    outcome = _compare(prepared, everything, library.store(collection))
    if outcome == "unchanged":
        return _outcome(prepared, outcome)
    if with_vectors:
        # Embedding takes long and needs no lock; it fills the cache, and what is committed comes from there.
        library.embedder_of(library.collection(collection)).passages(_texts(prepared))
    with library.writing(collection) as (current, store):
        everything = library.everything(collection)
        prepared = _settled(prepared, everything)
        _check_revisions(prepared.document, everything)
        if outcome == "relabelled" and _compare(prepared, everything, store) == "relabelled":
            write = DocumentWrite(prepared.document, None, None, None)
        else:
            vectors = library.embedder_of(current).passages(_texts(prepared)) if with_vectors else None
            write = DocumentWrite(prepared.document, prepared.text, prepared.chunks, vectors)
        store.commit([write])
    return _outcome(prepared, outcome)


def _outcome(prepared: Prepared, outcome: Outcome) -> FileOutcome:
    return FileOutcome(
        prepared.document.path,
        outcome,
        len(prepared.chunks),
        warnings=prepared.warnings,
        remembered=prepared.remembered,
    )


def _add_vectors(prepared: Prepared, collection: str, library: Library) -> None:
    """Unless another text was committed in the document's place meanwhile."""
    library.embedder_of(library.collection(collection)).passages(_texts(prepared))
    with library.writing(collection) as (current, store):
        everything = library.everything(collection)
        table = everything.snapshot.documents
        number = table.numbers.get(prepared.document.document_id.encode())
        if number is not None and everything.documents[number] and _same_chunks(prepared, everything, number):
            vectors = library.embedder_of(current).passages(_texts(prepared))
            store.commit([DocumentWrite(table[number], None, prepared.chunks, vectors)])


def _settled(prepared: Prepared, everything: CandidateSet) -> Prepared:
    """With what was said outside the file before, and what was edited by hand; a change of labels is warned of."""
    table = everything.snapshot.documents
    number = table.numbers.get(prepared.document.document_id.encode())
    if number is None or not everything.documents[number]:
        return prepared
    held = table[number]
    said, remembered = prepared.said.with_remembered(held.outside)
    document = keep_edits(held, described(prepared.bare, said))
    warnings = []
    if held.edited:
        warnings.append(f"kept as edited here, whatever the file says: {', '.join(held.edited)}")
    if held.labels != document.labels:
        warnings.append(f"its labels change: {labels_changed(held.labels, document.labels)}")
    together = tuple(dict.fromkeys((*prepared.warnings, *warnings)))
    return replace(prepared, document=document, warnings=together, remembered=remembered)


def _compare(prepared: Prepared, everything: CandidateSet, store: ChunkStore) -> Outcome:
    """What committing it would do to the collection as it stands."""
    snapshot = everything.snapshot
    number = snapshot.documents.numbers.get(prepared.document.document_id.encode())
    if number is None or not everything.documents[number]:
        return "added"
    if not _same_chunks(prepared, everything, number):
        return "updated"
    rows = np.flatnonzero(everything.mask & (snapshot.document == number))
    without = [identity.decode("ascii") for identity in snapshot.ids[rows[~snapshot.has_vector[rows]]].tolist()]
    # A text without words has a vector too, a zero one; only a missing one is still to be made.
    if without and store.chunk_rows(without)["vector"].null_count:
        return "updated"
    return "unchanged" if snapshot.documents[number] == prepared.document else "relabelled"


def _same_chunks(prepared: Prepared, everything: CandidateSet, number: int) -> bool:
    snapshot = everything.snapshot
    rows = np.flatnonzero(everything.mask & (snapshot.document == number))
    chunks = {(c.chunk_id, c.section_anchor, provenance_to_json(c.provenance)) for c in prepared.chunks}
    same_text = snapshot.documents[number].text_hash == prepared.document.text_hash
    return same_text and chunks == {_held_chunk(snapshot, row) for row in rows.tolist()}


def _held_chunk(snapshot: Snapshot, row: int) -> tuple[str, str, str]:
    segment, local = snapshot.locate(row)
    return segment.ids[local].decode("ascii"), segment.anchors[local], segment.provenance[local]


def _check_revisions(document: Document, everything: CandidateSet) -> None:
    """Two revisions of one knowledge need `revised_at`, else neither can be called the newer. Raises MetadataError."""
    from core.documents import knowledge_number
    from core.scope import NEVER_REVISED

    table = everything.snapshot.documents
    others = (table.knowledge == knowledge_number(document.knowledge_id)) & everything.documents
    own = table.numbers.get(document.document_id.encode())
    if own is not None:
        others[own] = False
    if others.any() and (document.revised_at is None or (table.revised_at[others] == NEVER_REVISED).any()):
        raise MetadataError(
            f"{document.path}: another document has the knowledge_id {document.knowledge_id!r} too",
            "give each of them a revised_at, so that the newer can be told",
        )


def _with_hidden(outcomes: Sequence[FileOutcome], collection: str, library: Library) -> tuple[FileOutcome, ...]:
    """Mark the documents that nobody may see: known only when all are in, since one may inherit from another."""
    snapshot = library.snapshot([collection])
    marked = []
    for outcome in outcomes:
        if outcome.outcome != "refused":  # whose path is the user's, and may be none of a document
            number = snapshot.documents.numbers.get(document_id(collection, outcome.path).encode())
            hidden = number is not None and snapshot.document_class[number] == HIDDEN
            outcome = replace(outcome, hidden=bool(hidden))
        marked.append(outcome)
    return tuple(marked)


def _reason(error: InputError) -> str:
    message = error.reason if isinstance(error, UnreadableFile) else error.message
    return f"{message}: {error.remedy}" if error.remedy else message
