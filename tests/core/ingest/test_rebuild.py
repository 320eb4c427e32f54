from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import EmbedderUnavailable, InputError, RoleMissing
from core.home import Workbench
from core.ingest.generations import stored_writes
from core.models.hash_embedder import HashEmbedder
from core.ports import DocumentWrite
from core.store.lance import open_store
from core.store.registry import store_folder
from core.types import Document, Labels, document_id, text_hash
from tests.support.homes import GUEST, OWNER, files, opened

CONTENTS = {
    "refunds.md": "# Refunds\n\nA refund takes three days.\n\n## Vouchers\n\nCode ERR-4012.\n",
    "public/guide.md": "# Guide\n\nAsk for a refund.\n",
    "staff.md": "---\nclassification: internal\nacl_allow: [staff]\n---\nrefund for staff\n",
    "wordless.txt": "--- !!! ---",
}


@pytest.fixture
def wb(home: Path, tmp_path: Path) -> Workbench:
    made = opened(home)
    made.ingest([files(tmp_path / "files", CONTENTS)], "c", OWNER)
    return made


def found(wb: Workbench, query: str = "refund ERR-4012", principal: Any = GUEST) -> list[tuple[str, str, float]]:
    result = wb.search(query, collections=["c"], principal=principal)
    assert result.refusal is None
    return [(passage.path, passage.text, passage.score) for passage in result.passages]


def calls(wb: Workbench) -> int:
    inner = wb.library.embedder_of(wb.library.collection("c"))._embedder
    assert isinstance(inner, HashEmbedder)
    return inner.calls


def test_nothing_to_mend_changes_nothing(wb: Workbench) -> None:
    before, head = found(wb), wb.library.head("c")
    for _ in range(2):
        report = wb.rebuild("c", OWNER)
        assert (report.documents, report.embedder, report.index_version) == (4, "hash:64", head)
        assert report.chunks == len(wb.library.store("c").since(0).chunks)
    assert found(wb) == before


def test_an_empty_collection(home: Path) -> None:
    wb = opened(home)
    for embedder in (None, "hash:32", None):
        report = wb.rebuild("c", OWNER, embedder)
        assert (report.documents, report.chunks, report.index_version) == (0, 0, 0)


def test_a_document_without_chunks_is_not_mended(home: Path) -> None:
    wb = opened(home)
    text = "x"
    digest = text_hash(text)
    document = Document(document_id("c", "a"), "a", "a", digest, digest, "test 1", Labels(), "K", "1")
    wb.library.store("c").commit([DocumentWrite(document, text, (), None)])
    assert wb.rebuild("c", OWNER).index_version == 1


def test_missing_vectors_are_made(wb: Workbench) -> None:
    before = found(wb)
    store = wb.library.store("c")
    delta = store.since(0)
    document = next(held for held in delta.documents if held.path == "refunds.md")
    chunks = _chunks(wb, document)
    store.commit([DocumentWrite(document, None, chunks, None)])
    assert store.since(0).chunks["vector"].null_count == len(chunks)
    assert wb.rebuild("c", OWNER).index_version == delta.seq + 2
    assert store.since(0).chunks["vector"].null_count == 0
    assert found(wb) == before
    assert wb.rebuild("c", OWNER).index_version == delta.seq + 2


def _chunks(wb: Workbench, document: Document) -> Any:
    delta = wb.library.store("c").since(0)
    vectors = np.zeros((len(delta.chunks), 64), np.float32)
    return next(w.chunks for w in stored_writes(delta.documents, delta.chunks, vectors) if w.document == document)


def test_another_embedder_takes_over(wb: Workbench) -> None:
    words = wb.settings.with_retrieval(channels=("exact", "bm25"))
    ask: dict[str, Any] = {"collections": ["c"], "principal": OWNER, "settings": words}
    before = [p.text for p in wb.search("refund ERR-4012", **ask).passages]
    documents = wb.documents("c", OWNER)
    report = wb.rebuild("c", OWNER, "hash:32")
    assert (report.embedder, report.documents) == ("hash:32", 4)
    assert wb.library.collection("c").dimension == wb.library.store("c").dimension == 32
    assert wb.library.candidates(["c"], _guest(), 0).snapshot.dimension == 32
    assert [p.text for p in wb.search("refund ERR-4012", **ask).passages] == before
    assert wb.documents("c", OWNER) == documents
    assert found(wb)
    assert wb.rebuild("c", OWNER, "hash:64").embedder == "hash:64"
    assert wb.library.collection("c").generation == 3
    folder = store_folder(wb.home, "c", 1)
    assert [path.name for path in folder.glob("generation-*")] == ["generation-3"], "no old tables stay"
    assert not (folder / "db").exists()


def test_who_reads_the_old_tables_finds_the_new_ones(wb: Workbench) -> None:
    other = Workbench.open(wb.home)
    before = found(other)
    wb.rebuild("c", OWNER, "hash:32")
    wb.rebuild("c", OWNER, "hash:64")
    assert found(other) == before


def _guest() -> Any:
    from core.access import permission_set
    from core.settings import Limits

    return permission_set(GUEST, None, Limits())


def test_vectors_come_from_the_cache(wb: Workbench) -> None:
    before, ranking = calls(wb), found(wb)
    for embedder in (None, "hash:32", "hash:64"):
        wb.rebuild("c", OWNER, embedder)
    assert found(wb) == ranking
    assert calls(wb) == before + 1, "the query, once"


def test_what_a_rebuild_that_died_left_does_not_come_back(wb: Workbench) -> None:
    """Half of a second table, and a document that was removed since."""
    store = wb.library.store("c")
    delta = store.since(0)
    document = next(held for held in delta.documents if held.path == "refunds.md")
    half = open_store(store_folder(wb.home, "c", 2), 32, wb.settings.store)
    text = store.text(document.text_hash)
    half.commit([DocumentWrite(replace(document, labels=Labels("public", ("*",))), text, _chunks(wb, document), None)])
    wb.remove_documents("c", ["refunds.md"], OWNER)
    wb.rebuild("c", OWNER, "hash:32")
    assert "refunds.md" not in [row.document.path for row in wb.documents("c", OWNER)]
    assert "refunds.md" not in [path for path, _, _ in found(wb)]


def test_what_a_rebuild_of_another_dimension_left_is_no_obstacle(wb: Workbench) -> None:
    open_store(store_folder(wb.home, "c", 2), 16, wb.settings.store)
    assert wb.rebuild("c", OWNER, "hash:32").documents == 4


def test_an_embedder_that_fails_leaves_all_as_it_was(wb: Workbench) -> None:
    class Broken(HashEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Any:
            raise EmbedderUnavailable("out of memory", "add some")

    before, collection = found(wb), wb.library.collection("c")
    from core.models.vector_cache import CachedEmbedder

    wb.library._embedders["hash:48"] = CachedEmbedder(Broken(48), wb.library._vectors)
    with pytest.raises(EmbedderUnavailable):
        wb.rebuild("c", OWNER, "hash:48")
    assert (found(wb), wb.library.collection("c")) == (before, collection)


def test_input_that_is_wrong(wb: Workbench) -> None:
    with pytest.raises(InputError):
        wb.rebuild("c", OWNER, "hash:none")
    with pytest.raises(InputError):
        wb.rebuild("absent", OWNER)
    with pytest.raises(RoleMissing):
        wb.rebuild("c", GUEST)


def test_the_rest_of_a_collection_stays(wb: Workbench) -> None:
    wb.set_defaults("c", OWNER, Labels("internal", ("staff",)))
    wb.rebuild("c", OWNER, "hash:32")
    collection = wb.library.collection("c")
    assert collection.default_labels == Labels("internal", ("staff",))
    assert wb.documents("c", GUEST) == []
    assert len(wb.documents("c", OWNER)) == 4
