from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from core import documents as docs
from core.documents import GONE, DocumentTable
from core.scope import NEVER_EXPIRES, NEVER_REVISED, microseconds
from core.types import Document, Labels
from tests.support.engine import NOW, PUBLIC, STAFF
from tests.support.memory_library import document_write


def document(path: str, **metadata: object) -> Document:
    return document_write("c", path, ["text"], **metadata).document  # type: ignore[arg-type]


def updated(table: DocumentTable, *documents: Document, removed: tuple[str, ...] = (), seq: int = 1) -> DocumentTable:
    return docs.update(table, documents, removed, {item.document_id: seq for item in documents})


def test_columns() -> None:
    bare = document("a.md")
    full = document(
        "deep/B.MD",
        labels=STAFF,
        revised_at=NOW,
        valid_until=NOW + timedelta(days=1),
        status="deprecated",
        quality=40.0,
        knowledge_id="K",
    )
    table = updated(docs.no_documents(), bare, full, seq=5)
    assert [table[number] for number in range(2)] == [bare, full] == list(table.records)
    assert table.ids.tolist() == [bare.document_id.encode(), full.document_id.encode()]
    assert table.chunks_seq.tolist() == [5, 5]
    assert [table.label_sets[code] for code in table.label_set] == [PUBLIC, STAFF]
    assert table.revised_at.tolist() == [NEVER_REVISED, microseconds(NOW)]
    assert table.valid_until.tolist() == [NEVER_EXPIRES, microseconds(NOW) + 86_400_000_000]
    assert table.active.tolist() == [True, False]
    assert np.isnan(table.quality[0]) and table.quality[1] == 40
    assert table.knowledge[1] == docs.knowledge_number("K")
    assert table.name_key.tolist() == [docs.name_key("A.md"), docs.name_key("b.md")]


def test_an_update_leaves_the_old_table_as_it_is() -> None:
    first = updated(docs.no_documents(), document("a"), document("b"))
    kept = {name: getattr(first, name).tolist() for name in ("ids", "chunks_seq", "label_set", "active")}
    gone = document("b").document_id
    second = updated(first, document("a", labels=STAFF, status="revoked"), document("z"), removed=(gone,), seq=2)
    assert {name: getattr(first, name).tolist() for name in kept} == kept
    assert [first[number].labels for number in range(2)] == [PUBLIC, PUBLIC]
    assert second.chunks_seq.tolist() == [2, GONE, 2]
    assert second.present.tolist() == [True, False, True]
    assert second[0].status == "revoked"


def test_a_number_is_for_ever() -> None:
    table = updated(docs.no_documents(), document("a"), document("b"))
    table = updated(table, removed=(document("a").document_id,))
    table = updated(table, document("c"), seq=3)
    table = updated(table, document("a", labels=STAFF), seq=4)
    assert [table[number].path for number in range(3)] == ["a", "b", "c"]
    assert table.chunks_seq.tolist() == [4, 1, 3]


def test_nothing_new_is_the_same_table() -> None:
    table = updated(docs.no_documents(), document("a"))
    assert updated(table) is table
    assert updated(table, removed=("0" * 32,)).chunks_seq.tolist() == [1]


def test_joined_tables() -> None:
    first = updated(docs.no_documents(), document("a", knowledge_id="K"), document("b"))
    second = updated(docs.no_documents(), document("x", knowledge_id="K", labels=Labels("internal")))
    joined = docs.join([first, second])
    assert [joined[number].path for number in range(3)] == ["a", "b", "x"] == [d.path for d in joined.records]
    assert [joined.label_sets[code] for code in joined.label_set] == [PUBLIC, PUBLIC, Labels("internal")]
    assert joined.knowledge[0] != joined.knowledge[2], "one knowledge_id in two collections names two things"
    assert joined.numbers[second.ids[0]] == 2
    assert docs.join([first]) is first


@pytest.mark.parametrize(("one", "other"), [("Guide.md", "guide.MD"), ("Caf\u00e9.md", "Cafe\u0301.md")])
def test_names_as_people_type_them(one: str, other: str) -> None:
    assert docs.name_key(one) == docs.name_key(other)
    assert docs.name_key(one) != docs.name_key(one + "x")


def test_packed_records_are_read_on_demand() -> None:
    table = updated(docs.no_documents(), document("a"), document("b", labels=STAFF, revised_at=NOW))
    packed = table.records.packed()
    saved = docs.Records(packed, {}, 2)
    assert list(saved) == list(table.records)
    assert saved.packed() is packed
    later = saved.changed({1: document("b")}, 3)
    assert [later[0], later[1]] == [document("a"), document("b")]
    assert [saved[1].labels, len(later)] == [STAFF, 3]
