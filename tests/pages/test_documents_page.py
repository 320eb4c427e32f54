"""The Documents page through Streamlit's AppTest, as an owner and as a guest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.home import Workbench
from core.types import document_id
from tests.core.jobs.processes import end_worker
from tests.support import ROOT, small_home
from workbench.messages import say

Run = Callable[..., AppTest]

OWNER = """
[olga]
groups = ["staff"]
clearance = "internal"
roles = { small = ["owner"] }
"""


@pytest.fixture
def stocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = small_home.make(tmp_path / "stocked")
    (home / "principals.toml").write_text(small_home.PEOPLE + OWNER, "utf-8")
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    yield home
    end_worker(home)


def _run(**params: Any) -> AppTest:
    page = AppTest.from_file(str(ROOT / "workbench" / "app.py"), default_timeout=60)
    for name, value in params.items():
        page.query_params[{"who": "as"}.get(name, name)] = value
    return _checked(page.switch_page(str(ROOT / "pages" / "documents.py")).run())


def _checked(page: AppTest) -> AppTest:
    assert not page.exception, page.exception
    return page


def _said(page: AppTest) -> str:
    groups = (page.error, page.warning, page.info, page.success, page.markdown, page.caption)
    return "\n".join(element.value for group in groups for element in group)


def _paths(page: AppTest) -> list[str]:
    return list(page.dataframe[0].value["path"])


def _keys(page: AppTest) -> str:
    return "\n".join(str(button.key) for button in page.button)


def test_an_owner_sees_every_document_and_what_is_for_owners(stocked: Path) -> None:
    page = _run(who="olga")
    assert page.title[0].value == say("page.documents.title")
    seen = ["=formula.md", "copies/refunds-copy.md", "hostile.md", "policies/leave.md", "policies/refunds.md"]
    assert _paths(page) == [*seen, "policies/退款政策.md"]
    assert say("documents.facts.unseen", count=1) in _said(page), "a document of the finance department is for others"
    assert "labels" in page.dataframe[0].value


def test_a_guest_sees_what_is_public_and_no_view_of_owners(stocked: Path) -> None:
    page = _run(who="guest", view="jobs")
    assert "policies/leave.md" not in _paths(page) and "policies/refunds.md" in _paths(page)
    assert say("documents.reader") in _said(page)
    assert "labels" not in page.dataframe[0].value
    assert not page.get("file_uploader")


def test_a_document_opens_with_its_text_and_chunks(stocked: Path) -> None:
    page = _run(who="guest", doc="policies/refunds.md")
    whole = "\n".join(element.proto.body for element in page.html)
    assert "A refund to a credit card takes three working days." in whole


@pytest.mark.parametrize("name", ["finance/limits.md", "policies/none.md", document_id("small", "finance/limits.md")])
def test_a_forbidden_document_and_an_absent_one_look_alike(stocked: Path, name: str) -> None:
    page = _run(who="guest", doc=name)
    assert say("documents.gone") in _said(page)
    assert "signature" not in "\n".join(element.proto.body for element in page.html)


def test_words_and_filters_choose_rows(stocked: Path) -> None:
    assert _paths(_run(who="olga", find="REFUND policies")) == ["policies/refunds.md"]
    assert say("documents.list.none_found") in _said(_run(who="olga", find="nothing of the kind"))


def test_what_the_address_cannot_mean_is_said(stocked: Path) -> None:
    page = _run(who="olga", view="everything", chunk="x")
    assert _paths(page)
    assert "everything" in _said(page)
    assert not _run(who="olga", c="other").dataframe
    assert not _run(who="nobody-here").dataframe


def test_labels_change_after_the_preview_and_not_over_a_change_by_others(stocked: Path) -> None:
    name = "policies/leave.md"
    identity = document_id("small", name)
    page = _run(who="olga", doc=name, part="metadata")
    level = next(box for box in page.selectbox if box.label == say("documents.field.classification"))
    page = _checked(level.set_value("public").run())
    assert say("documents.audience.title_one") in _said(page)
    workbench = Workbench.open(stocked)
    workbench.edit_document("small", identity, {"quality": "50"}, workbench.operator())
    save = next(button for button in page.button if button.label == say("documents.preview.save"))
    page = _checked(save.click().run())
    labels = {row.document.path: row.classification for row in workbench.documents("small", workbench.principal("ann"))}
    assert labels[name] == "internal", "somebody else has changed it since the form was filled"


def test_a_document_is_removed(stocked: Path) -> None:
    page = _run(who="olga", doc="hostile.md", part="remove")
    button = next(button for button in page.button if button.label == say("documents.remove.button"))
    page = _checked(button.click().run())
    assert "hostile.md" not in _paths(page)


def test_a_folder_is_ingested_by_a_job(stocked: Path, tmp_path: Path) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "new.md").write_text("# New\n\nA new page.\n", "utf-8")
    page = _run(who="olga", view="add")
    path = next(field for field in page.text_input if field.label == say("documents.add.path"))
    path.set_value(str(folder))
    button = next(button for button in page.button if button.label == say("documents.add.folder_start"))
    page = _checked(button.click().run())
    assert say("documents.jobs.kind.ingest") in _said(page)


def test_an_empty_collection_says_how_to_begin(stocked: Path) -> None:
    workbench = Workbench.open(stocked)
    workbench.create_collection("empty", workbench.operator(), embedder="hash:64")
    text = (stocked / "principals.toml").read_text("utf-8").replace("{ small =", '{ empty = ["owner"], small =')
    (stocked / "principals.toml").write_text(text, "utf-8")
    assert say("documents.empty.owner") in _said(_run(who="olga", c="empty"))
    assert not _run(who="guest", c="empty").dataframe
