from __future__ import annotations

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.audit import read
from core.errors import (
    AmbiguousDocument,
    CoreError,
    InputError,
    MetadataError,
    PermissionUnavailable,
    RoleMissing,
    UnknownCollection,
    UnknownDocument,
)
from core.home import Workbench, read_settings
from core.types import Labels, Principal, SearchResult, document_id
from tests.support import ROOT
from tests.support.homes import EMBEDDER, GUEST, OPEN, OWNER, files, opened

STAFF = Labels("internal", ("staff",))
CONTENTS = {
    "refunds.md": "# Refunds\n\nA refund takes three days.\n\n## Vouchers\n\nCode ERR-4012.\n",
    "sub/refunds.md": "# More\n\nA refund by voucher.\n",
    "staff.md": "---\nclassification: internal\nacl_allow: [staff]\n---\nrefund for staff\n",
    "past.md": "---\nvalid_until: 2000-01-01\n---\nrefund of the past\n",
}


@pytest.fixture
def wb(home: Path, tmp_path: Path) -> Workbench:
    made = opened(home)
    made.ingest([files(tmp_path / "files", CONTENTS)], "c", OWNER)
    return made


def search(wb: Workbench, query: str = "refund", principal: Principal | None = GUEST, **given: Any) -> SearchResult:
    return wb.search(query, **{"collections": ["c"], "principal": principal, **given})


def shown(wb: Workbench, query: str = "refund", principal: Principal = GUEST) -> list[str]:
    result = search(wb, query, principal)
    assert result.refusal is None or result.refusal.code == "no_evidence"
    return sorted({passage.path for passage in result.passages})


# One home, two objects, as in two processes.


def test_what_one_commits_the_other_sees(wb: Workbench, tmp_path: Path) -> None:
    other = Workbench.open(wb.home)
    assert shown(other) == shown(wb) == ["refunds.md", "sub/refunds.md"]
    wb.ingest([files(tmp_path / "new", {"new.md": "refund anew"})], "c", OWNER)
    assert shown(other) == ["new.md", "refunds.md", "sub/refunds.md"]
    other.remove_documents("c", ["refunds.md"], OWNER)
    assert shown(wb) == ["new.md", "sub/refunds.md"]


def test_a_revocation_counts_at_once_in_the_other(wb: Workbench, tmp_path: Path) -> None:
    other = Workbench.open(wb.home)
    assert "refunds.md" in shown(other)
    labels = "---\nclassification: restricted\nacl_allow: [board]\n---\n"
    wb.ingest([files(tmp_path / "new", {"refunds.md": labels + CONTENTS["refunds.md"]})], "c", OWNER)
    assert shown(other) == ["sub/refunds.md"]
    with pytest.raises(UnknownDocument):
        other.document("c", document_id("c", "refunds.md"), GUEST)


def test_new_default_labels_count_at_once_in_the_other(wb: Workbench) -> None:
    other = Workbench.open(wb.home)
    for defaults, expected in ((STAFF, []), (None, []), (OPEN, ["refunds.md", "sub/refunds.md"])):
        assert wb.set_defaults("c", OWNER, defaults).default_labels == defaults
        assert shown(other) == shown(wb) == expected


def test_a_collection_made_anew_is_another(wb: Workbench, tmp_path: Path) -> None:
    other = Workbench.open(wb.home)
    assert shown(other)
    wb.drop_collection("c", OWNER)
    with pytest.raises(UnknownCollection):
        search(other)
    wb.create_collection("c", OWNER, defaults=OPEN, embedder="hash:32")
    assert shown(other) == []
    wb.ingest([files(tmp_path / "new", {"new.md": "refund anew"})], "c", OWNER)
    assert shown(other) == shown(wb) == ["new.md"]


def test_a_rebuild_is_seen_by_the_other(wb: Workbench, tmp_path: Path) -> None:
    other = Workbench.open(wb.home)
    before = shown(other)
    wb.rebuild("c", OWNER, "hash:32")
    assert shown(other) == before
    assert other.library.snapshot(["c"]).dimension == 32
    other.ingest([files(tmp_path / "new", {"new.md": "refund anew"})], "c", OWNER)
    assert shown(wb) == ["new.md", *before]


SCRIPT = """
import json, sys
from pathlib import Path
from core.home import Workbench
from core.types import Labels
from tests.support.homes import GUEST, OWNER
wb = Workbench.open(sys.argv[1])
for line in sys.stdin:
    action = json.loads(line)
    if action == "search":
        found = wb.search("refund", collections=["c"], principal=GUEST)
        print(json.dumps([sorted({p.path for p in found.passages}), dict(found.index_versions)]), flush=True)
    elif action == "restrict":
        wb.set_defaults("c", OWNER, Labels("internal", ("staff",)))
        print("null", flush=True)
    else:
        wb.ingest([Path(action)], "c", OWNER)
        print("null", flush=True)
"""


def test_another_process(wb: Workbench, tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(wb.home)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def ask(action: str) -> Any:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(f"{json.dumps(action)}\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        def here() -> list[Any]:
            return [shown(wb), dict(search(wb).index_versions)]

        assert ask("search") == here()
        wb.ingest([files(tmp_path / "new", {"here.md": "refund here"})], "c", OWNER)
        assert ask("search") == here()
        ask(str(files(tmp_path / "there", {"there.md": "refund there"})))
        assert "there.md" in here()[0]
        assert ask("search") == here()
        ask("restrict")
        assert here()[0] == [] == ask("search")[0]


def test_searches_during_an_ingestion_see_whole_states(home: Path, tmp_path: Path) -> None:
    """Each commit adds a document: who searches finds as many as there are commits in the version that it was given."""
    wb, other = opened(home), Workbench.open(home)
    folder = files(tmp_path / "files", {f"d{number:02}.md": f"refund number {number}" for number in range(12)})
    done = threading.Event()

    def reader(number: int) -> list[tuple[int, int]]:
        found = []
        for _ in range(30):
            result = search((wb, other)[number % 2], top_k=20)
            assert result.refusal is None or result.refusal.code == "no_evidence"
            found.append((result.index_versions["c"], len(result.passages)))
        return found

    def writer() -> None:
        wb.ingest([folder], "c", OWNER)
        done.set()

    with ThreadPoolExecutor(9) as pool:
        writing = pool.submit(writer)
        reading = [pool.submit(reader, number) for number in range(8)]
        for future in reading:
            found = future.result()
            assert all(version == count for version, count in found)
            assert found == sorted(found), "nobody goes back in time"
        writing.result()
    assert done.is_set() and len(search(wb, top_k=20).passages) == 12


def test_searches_during_rebuilds_answer_or_refuse(wb: Workbench) -> None:
    other, stop = Workbench.open(wb.home), threading.Event()
    expected = shown(wb)

    def reader() -> set[str | None]:
        codes: set[str | None] = set()
        while not stop.is_set():
            result = search(other)
            codes.add(result.refusal.code if result.refusal else None)
            assert result.refusal or sorted({p.path for p in result.passages}) == expected
        return codes

    with ThreadPoolExecutor(2) as pool:
        reading = [pool.submit(reader) for _ in range(2)]
        try:
            for embedder in ("hash:32", "hash:64", "hash:16"):
                wb.rebuild("c", OWNER, embedder)
        finally:
            stop.set()
        for future in reading:
            assert future.result() <= {None, "unavailable"}
    assert shown(other) == expected


# What a home offers.


def test_documents_are_listed_for_who_may_see_them(wb: Workbench) -> None:
    rows = wb.documents("c", OWNER)
    assert [row.document.path for row in rows] == ["past.md", "refunds.md", "staff.md", "sub/refunds.md"]
    assert [row.in_force for row in rows] == [False, True, True, True]
    assert {row.document.path: row.classification for row in rows}["staff.md"] == "internal"
    assert {row.collection for row in rows} == {"c"}
    assert all(row.chunks == len(wb.document("c", row.document.path, OWNER).chunks) for row in rows)
    assert [row.document.path for row in wb.documents("c", GUEST)] == ["past.md", "refunds.md", "sub/refunds.md"]


def test_an_open_document(wb: Workbench) -> None:
    view = wb.document("c", "refunds.md", GUEST)
    assert view.text == CONTENTS["refunds.md"].rstrip()
    assert view.row.document.document_id == document_id("c", "refunds.md")
    assert all(view.text[chunk.start : chunk.end].strip() for chunk in view.chunks)
    assert list(view.chunks) == sorted(view.chunks, key=lambda chunk: chunk.start)
    assert view.chunks[0].provenance["section"]
    past = wb.document("c", "past.md", GUEST)
    assert not past.row.in_force and past.text == "refund of the past"
    opens = [record["payload"] for record in records(wb) if record["kind"] == "document.open"]
    assert [record["actor"] for record in opens] == ["guest", "guest"]


def records(wb: Workbench) -> list[dict[str, Any]]:
    return [dict(record) for record in read(wb.home / "audit")]


@pytest.mark.parametrize("name", ["staff.md", "absent.md", document_id("c", "staff.md"), "\ud800"])
def test_a_document_that_may_not_be_seen_does_not_exist(wb: Workbench, name: str) -> None:
    with pytest.raises(UnknownDocument):
        wb.document("c", name, GUEST)


def test_documents_are_removed_together_or_not_at_all(wb: Workbench) -> None:
    head = wb.library.head("c")
    with pytest.raises(UnknownDocument):
        wb.remove_documents("c", ["refunds.md", "absent.md"], OWNER)
    with pytest.raises(RoleMissing):
        wb.remove_documents("c", ["refunds.md"], GUEST)
    assert wb.library.head("c") == head
    removed = wb.remove_documents("c", ["refunds.md", document_id("c", "refunds.md"), "past.md"], OWNER)
    assert sorted(removed) == ["past.md", "refunds.md"]
    assert wb.library.head("c") == head + 1
    assert shown(wb) == ["sub/refunds.md"]


def test_a_name_of_two_documents(wb: Workbench, tmp_path: Path) -> None:
    wb.ingest([files(tmp_path / "new", {"up/more.md": "x", "down/more.md": "y"})], "c", OWNER)
    with pytest.raises(AmbiguousDocument) as raised:
        wb.remove_documents("c", ["more.md"], OWNER)
    assert raised.value.choices == ("down/more.md", "up/more.md")


def test_two_spellings_of_one_collection_are_searched_once(wb: Workbench) -> None:
    once, twice = search(wb), search(wb, collections=["c", " c"])
    assert [p.text for p in twice.passages] == [p.text for p in once.passages]
    assert all(passage.also_in == () for passage in twice.passages)


def test_roles(wb: Workbench) -> None:
    actions: list[Any] = [
        lambda who: wb.create_collection("new", who, embedder=EMBEDDER),
        lambda who: wb.set_defaults("c", who, OPEN),
        lambda who: wb.drop_collection("c", who),
        lambda who: wb.ingest([], "c", who),
        lambda who: wb.rebuild("c", who),
        lambda who: wb.remove_documents("c", [], who),
        lambda who: wb.require_owner(who, "c", "import.beir"),
    ]
    before = [record["kind"] for record in records(wb)]
    elsewhere = Principal("eve", roles=(("e", ("owner",)), ("*", ("reader", "evaluator", "auditor"))))
    for action in actions:
        for who, error in ((GUEST, RoleMissing), (elsewhere, RoleMissing), (None, PermissionUnavailable)):
            with pytest.raises(error):
                action(who)
    assert [record["kind"] for record in records(wb)] == before
    assert [held.name for held in wb.collections()] == ["c"]


def test_what_changes_is_written_down_first(wb: Workbench) -> None:
    wb.set_defaults("c", OWNER, STAFF)
    last = records(wb)[-1]
    assert (last["kind"], last["payload"]["actor"], last["payload"]["collection"]) == ("collection.set", "olga", "c")
    (wb.home / "audit").rename(wb.home / "away")
    (wb.home / "audit").write_text("in the way")
    unrecorded = Workbench.open(wb.home)
    for action in (
        lambda: unrecorded.drop_collection("c", OWNER),
        lambda: unrecorded.set_defaults("c", OWNER, OPEN),
        lambda: unrecorded.document("c", "refunds.md", OWNER),
    ):
        with pytest.raises(CoreError, match="audit"):
            action()
    refusal = search(unrecorded, principal=OWNER).refusal
    assert refusal is not None and refusal.code == "unavailable"
    assert wb.library.collection("c").default_labels == STAFF


def test_labels_that_make_no_sense(wb: Workbench) -> None:
    for labels in (Labels("cosmic"), Labels("public", ())):
        with pytest.raises(MetadataError):
            wb.set_defaults("c", OWNER, labels)
        with pytest.raises(MetadataError):
            wb.create_collection("new", OWNER, defaults=labels, embedder=EMBEDDER)
    assert [held.name for held in wb.collections()] == ["c"]


def test_a_name_that_is_taken(wb: Workbench) -> None:
    with pytest.raises(InputError, match="exists"):
        wb.create_collection("c", OWNER, embedder=EMBEDDER)
    with pytest.raises(InputError, match="embedder"):
        wb.create_collection("d", OWNER, embedder="hash:none")


def test_people_of_a_home(wb: Workbench) -> None:
    with pytest.raises(PermissionUnavailable):
        wb.principal()
    (wb.home / "principals.toml").write_text('[ann]\ngroups = ["staff"]\nclearance = "internal"\n')
    assert wb.principal("ann") == Principal("ann", frozenset({"staff"}), "internal")
    assert [person.actor for person in wb.principals()] == ["ann"]
    with pytest.raises(PermissionUnavailable):
        wb.principal("bo")
    assert "staff.md" in shown(wb, principal=wb.principal("ann"))
    operator = wb.operator()
    assert operator.has_role("owner", "c") and (operator.clearance, operator.groups) == ("public", frozenset())
    assert shown(wb, principal=operator) == shown(wb)


def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("x")
    for path in (in_the_way, in_the_way / "home"):
        with pytest.raises(InputError, match="home"):
            Workbench.open(path)


def test_settings_of_a_home(tmp_path: Path) -> None:
    assert read_settings(tmp_path).retrieval.top_k == 10
    (tmp_path / "settings.toml").write_text("[retrieval]\ntop_k = 3\nwindow = 30\n")
    (tmp_path / "more.toml").write_text("[retrieval]\ntop_k = 4\n")
    assert read_settings(tmp_path).retrieval.top_k == 3
    opened_with = Workbench.open(tmp_path, tmp_path / "more.toml").settings.retrieval
    assert (opened_with.top_k, opened_with.window) == (4, 30)
    with pytest.raises(InputError):
        Workbench.open(tmp_path, tmp_path / "absent.toml")
