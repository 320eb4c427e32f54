"""A home: the folder in which everything lives, and the object through which app, command line and agents use it."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core import pipeline
from core.access import LEVELS, PermissionSet, check_labels, permission_set
from core.audit import JsonlAudit
from core.candidates import CandidateSet
from core.errors import InputError
from core.evidence_book import EvidenceBook
from core.library import Library
from core.location import resolve_document
from core.models.embedders import check_named
from core.pipeline import Request
from core.ports import AuditSink
from core.principals import load_principals, require_role
from core.ranking_cache import RankingCache
from core.resolve import Resolved, resolve_passage
from core.scope import microseconds
from core.settings import Settings, load
from core.snapshot import HIDDEN
from core.store.registry import Collection, create_collection, drop_collection, update_collection
from core.types import ChunkRef, Document, Labels, Location, Principal, Role, SearchResult, to_json

if TYPE_CHECKING:
    from core.ingest.edit import Audience
    from core.ingest.purge import PurgeReport
    from core.ingest.rebuild import RebuildReport
    from core.ingest.report import IngestReport

SETTINGS_FILE = "settings.toml"


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as a list shows it to somebody who may see it."""

    document: Document
    collection: str
    classification: str
    chunks: int
    waiting: int
    """Of these, those that have no vector yet: they are found by their words alone."""
    in_force: bool
    """It takes part in a search now: active, not expired, the newest of its revisions."""


@dataclass(frozen=True, slots=True)
class HiddenDocument:
    """What its owner is told of a document that nobody may see: never its text."""

    document: Document
    chunks: int
    waiting: int
    """Of these, those that have no vector yet."""


@dataclass(frozen=True, slots=True)
class ChunkRow:
    chunk_id: str
    start: int
    end: int
    section_anchor: str
    provenance: dict[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document opened: its canonical text and the chunks that lie on it, in text order."""

    row: DocumentRow
    text: str
    chunks: tuple[ChunkRow, ...]


class Workbench:
    """Thread-safe; one per home and process is enough. Every method that reads takes the principal it reads for."""

    def __init__(self, home: Path, settings: Settings, audit: AuditSink) -> None:
        self.home, self.settings, self.audit = home, settings, audit
        self.library = Library(home, settings)
        self._evidence, self._rankings = EvidenceBook(), RankingCache()

    @classmethod
    def open(cls, home: str | Path, settings_file: str | Path | None = None) -> Workbench:
        """Open a home, made where there is none. Raises SettingsError, InputError."""
        folder = Path(home).expanduser().resolve()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"the home {folder} cannot be made ({error.strerror})", "set WORKBENCH_HOME") from None
        return cls(folder, read_settings(folder, settings_file), JsonlAudit(folder / "audit"))

    def principal(self, name: str | None = None) -> Principal:
        """Somebody of principals.toml; None: its `[default]`. Raises PermissionUnavailable."""
        return load_principals(self.home).named(name)

    def principals(self) -> tuple[Principal, ...]:
        """Everybody of principals.toml. Raises PermissionUnavailable."""
        return load_principals(self.home).everyone

    def operator(self) -> Principal:
        """Whoever has the home's files in hand: every role that manages, and no more clearance than a guest."""
        return Principal(f"operator {getpass.getuser()}", roles=(("*", ("owner", "evaluator", "auditor")),))

    def search(
        self,
        query: str,
        *,
        collections: Sequence[str],
        principal: Principal | None,
        top_k: int | None = None,
        location: Location | None = None,
        min_classification: str | None = None,
        as_of: datetime | None = None,
        settings: Settings | None = None,
        explain: bool = False,
        depth: int = 0,
        answer: bool = False,
    ) -> SearchResult:
        """See `pipeline.search`. `settings` None: those of the home."""
        request = Request(
            query, tuple(dict.fromkeys(collections)), top_k, location, min_classification, as_of, explain, depth, answer
        )
        result = pipeline.search(
            request, principal, settings or self.settings, self.library, self.audit, self._rankings
        )
        if isinstance(principal, Principal):
            self._evidence.note(principal.actor, result)
        return result

    def evidence(self, evidence_id: str, principal: Principal) -> tuple[Resolved, ...]:
        """What was released under an evidence id, as it is now: one passage, or its parts where an edit tore it apart.

        Raises UnknownEvidence, also where it was shown to somebody else or may no longer be seen.
        """
        collection, refs = self._evidence.find(permission_set(principal, None, self.settings.limits).actor, evidence_id)
        return self.resolve(collection, refs, principal)

    def resolve(self, collection: str, refs: Sequence[ChunkRef], principal: Principal) -> tuple[Resolved, ...]:
        """The chunks of one cited passage as they are now, see `core.resolve`. Raises UnknownEvidence."""
        permission = permission_set(principal, None, self.settings.limits)
        who = {"actor": principal.actor, "agent": principal.agent, "collection": collection}
        self.audit.record("evidence.open", {**who, "chunk_refs": to_json(refs)})
        candidates = self.library.candidates([collection], permission, microseconds(datetime.now(UTC)))
        return resolve_passage(candidates, refs, self._text, self.settings.retrieval.passage_max_chars)

    def _text(self, collection: str, text_hash: str) -> str:
        return self.library.texts(collection, [text_hash])[text_hash]

    def collections(self) -> list[Collection]:
        return self.library.collections()

    def create_collection(
        self, name: str, principal: Principal, *, defaults: Labels | None = None, embedder: str | None = None
    ) -> Collection:
        """Raises InputError where it exists or no such embedder does, RoleMissing, EmbedderUnavailable."""
        self._require(
            principal, "owner", name, "collection.create", {"defaults": to_json(defaults), "embedder": embedder}
        )
        spec = embedder or self.settings.embedding.default
        check_named(spec)
        chosen = self.library.embedder(spec)
        labels = None if defaults is None else check_labels(defaults)
        return create_collection(
            self.home,
            name,
            defaults=labels,
            embedder=chosen.spec,
            fingerprint=chosen.fingerprint,
            dimension=chosen.dimension,
        )

    def set_defaults(self, name: str, principal: Principal, defaults: Labels | None) -> Collection:
        """Replace the collection's default labels. Counts from the next search in every process."""
        self._require(principal, "owner", name, "collection.set", {"defaults": to_json(defaults)})
        collection = self.library.collection(name)
        return update_collection(self.home, collection, defaults=None if defaults is None else check_labels(defaults))

    def drop_collection(self, name: str, principal: Principal) -> None:
        self._require(principal, "owner", name, "collection.drop", {})
        drop_collection(self.home, self.library.collection(name).name)
        self.library.forget(name)

    def documents(self, collection: str, principal: Principal) -> list[DocumentRow]:
        """What the principal may see of a collection, by path, in force or not. Raises PermissionUnavailable."""
        candidates, visible = self._visible(collection, principal)
        rows = [self._row(candidates, number) for number in visible]
        return sorted(rows, key=lambda row: row.document.path)

    def hidden_documents(self, collection: str, principal: Principal) -> list[HiddenDocument]:
        """For its owner: the documents that nobody may see, by path, without their text. Raises RoleMissing."""
        snapshot = self._as_owner(collection, principal).snapshot
        chunks, waiting = snapshot.counts
        numbers = np.flatnonzero(snapshot.documents.present & (snapshot.document_class == HIDDEN)).tolist()
        rows = [HiddenDocument(snapshot.documents[n], int(chunks[n]), int(waiting[n])) for n in numbers]
        return sorted(rows, key=lambda row: row.document.path)

    def document(self, collection: str, name: str, principal: Principal) -> DocumentView:
        """Open a document by id, path or file name. Raises UnknownDocument, also where it may not be seen."""
        candidates, number = self._named(collection, name, principal)
        snapshot = candidates.snapshot
        rows = np.flatnonzero((snapshot.document == number) & snapshot.alive).tolist()
        chunks = sorted((_chunk_row(candidates, row) for row in rows), key=lambda chunk: (chunk.start, chunk.end))
        row = self._row(candidates, number)
        text = self.library.texts(collection, [row.document.text_hash])[row.document.text_hash]
        self.audit.record(
            "document.open",
            {"actor": principal.actor, "collection": collection, "document_id": row.document.document_id},
        )
        return DocumentView(row, text, tuple(chunks))

    def source(self, collection: str, name: str, principal: Principal) -> tuple[Document, bytes]:
        """The file that a document was read from, as it came. Raises UnknownDocument, also where it may not be seen,
        InputError where it was not kept, IntegrityFailure."""
        candidates, number = self._named(collection, name, principal)
        document = candidates.snapshot.documents[number]
        data = self.library.sources(collection).read(document.source_hash)
        self.audit.record(
            "document.source",
            {"actor": principal.actor, "collection": collection, "document_id": document.document_id},
        )
        return document, data

    def remove_documents(self, collection: str, names: Sequence[str], principal: Principal) -> list[str]:
        """Remove documents by id, path or file name, all in one commit; gives their paths."""
        self._require(principal, "owner", collection, "documents.remove", {"documents": list(names)})
        with self.library.writing(collection) as (_, store):
            candidates = self.library.everything(collection)
            numbers = {resolve_document(candidates, name) for name in names}
            documents = [candidates.snapshot.documents[number] for number in sorted(numbers)]
            store.commit([], [document.document_id for document in documents])
        return [document.path for document in documents]

    def edit_document(
        self,
        collection: str,
        name: str,
        changes: Mapping[str, Any],
        principal: Principal,
        *,
        released: Sequence[str] = (),
        expected: str | None = None,
    ) -> Document:
        """Change a document's metadata by hand. See `core.ingest.edit.edit`."""
        from core.ingest.edit import edit

        details = {"document": name, "changes": to_json(changes), "released": list(released)}
        self._require(principal, "owner", collection, "document.edit", details)
        return edit(self.library.collection(collection).name, self.library, name, changes, released, expected)

    def audience(
        self, collection: str, name: str, changes: Mapping[str, Any], principal: Principal, released: Sequence[str] = ()
    ) -> Audience:
        """Who of principals.toml would see what after `edit_document`. Raises as it does, RoleMissing."""
        from core.ingest.edit import audience_of_edit, changed_document

        candidates = self._as_owner(collection, principal)
        number = resolve_document(candidates, name)
        changed = changed_document(candidates.snapshot.documents[number], changes, released)
        return audience_of_edit(candidates.snapshot, number, changed, self._everybody())

    def audience_of_defaults(self, collection: str, defaults: Labels | None, principal: Principal) -> Audience:
        """Who of principals.toml would see what after `set_defaults`. Raises RoleMissing, MetadataError."""
        from core.ingest.edit import audience_of_defaults

        candidates = self._as_owner(collection, principal)
        labels = None if defaults is None else check_labels(defaults)
        return audience_of_defaults(candidates.snapshot, labels, self._everybody())

    def _as_owner(self, collection: str, principal: Principal) -> CandidateSet:
        permission_set(principal, None, self.settings.limits)
        require_role(principal, "owner", collection)
        return self.library.everything(collection)

    def _everybody(self) -> list[PermissionSet]:
        return [permission_set(person, None, self.settings.limits) for person in self.principals()]

    def purge_documents(self, collection: str, names: Sequence[str], principal: Principal) -> PurgeReport:
        """Remove documents and every trace of their words, ended jobs of the collection among it, which may hold
        uploads. See `core.ingest.purge.purge`."""
        from core.ingest.purge import purge
        from core.jobs.store import Jobs

        self._require(principal, "owner", collection, "documents.purge", {"documents": list(names)})
        Jobs(self.home, self.audit).forget(collection)
        return purge(self.home, self.library.collection(collection), self.library, self.settings, names)

    def ingest(
        self,
        paths: Sequence[Path],
        collection: str,
        principal: Principal,
        *,
        metadata: Path | None = None,
        progress: Callable[[str], None] | None = None,
        embedding: Callable[[int, int], None] | None = None,
    ) -> IngestReport:
        """Bring files into a collection, one commit a document. See `core.ingest.write.ingest`."""
        from core.ingest.write import ingest

        self._require(principal, "owner", collection, "ingest", {"paths": [str(path) for path in paths]})
        return ingest(
            paths, self.library.collection(collection), self.library, self.settings, metadata, progress, embedding
        )

    def rebuild(self, collection: str, principal: Principal, embedder: str | None = None) -> RebuildReport:
        """Every derived structure anew from what is stored. See `core.ingest.rebuild.rebuild`."""
        from core.ingest.rebuild import rebuild

        self._require(principal, "owner", collection, "rebuild", {"embedder": embedder})
        if embedder is not None:
            check_named(embedder)
        return rebuild(self.home, self.library.collection(collection), self.library, self.settings, embedder)

    def require_owner(self, principal: Principal, collection: str, action: str) -> None:
        """Raises RoleMissing; writes down that the action is about to happen."""
        self._require(principal, "owner", collection, action, {})

    def _require(self, principal: Principal, role: Role, collection: str, action: str, details: dict[str, Any]) -> None:
        """The role, or RoleMissing; the action is written down before it happens."""
        permission_set(principal, None, self.settings.limits)
        require_role(principal, role, collection)
        self.audit.record(action, {"actor": principal.actor, "collection": collection, **details})

    def _visible(self, collection: str, principal: Principal) -> tuple[CandidateSet, list[int]]:
        permission = permission_set(principal, None, self.settings.limits)
        candidates = self.library.candidates([collection], permission, microseconds(datetime.now(UTC)))
        snapshot = candidates.snapshot
        sees = [permission.sees(labels) for labels in snapshot.classes]
        codes = snapshot.document_class.tolist()
        present = snapshot.documents.present.tolist()
        return candidates, [n for n, code in enumerate(codes) if code >= 0 and sees[code] and present[n]]

    def _named(self, collection: str, name: str, principal: Principal) -> tuple[CandidateSet, int]:
        """The number of the document that `name` means among those that the principal may see."""
        candidates, visible = self._visible(collection, principal)
        mask = np.zeros(len(candidates.snapshot.documents), bool)
        mask[visible] = True
        return candidates, resolve_document(replace(candidates, documents=mask), name)

    def _row(self, candidates: CandidateSet, number: int) -> DocumentRow:
        snapshot = candidates.snapshot
        chunks, waiting = snapshot.counts
        labels = snapshot.classes[snapshot.document_class[number]]
        return DocumentRow(
            document=snapshot.documents[number],
            collection=snapshot.collections[snapshot.document_collection[number]],
            classification=LEVELS[labels.level],
            chunks=int(chunks[number]),
            waiting=int(waiting[number]),
            in_force=bool(candidates.documents[number]),
        )


def read_settings(home: Path, file: str | Path | None = None) -> Settings:
    """Settings of a home: its own file, then `file`, then the environment. Raises SettingsError."""
    own = home / SETTINGS_FILE
    files = [own] if own.exists() else []
    return load([*files, Path(file)] if file is not None else files)


def _chunk_row(candidates: CandidateSet, row: int) -> ChunkRow:
    segment, local = candidates.snapshot.locate(row)
    return ChunkRow(
        chunk_id=segment.ids[local].decode("ascii"),
        start=int(segment.start[local]),
        end=int(segment.end[local]),
        section_anchor=segment.anchors[local],
        provenance=candidates.snapshot.provenance(row),
    )
