"""The Documents page in Chromium: the owner's journey from a folder of files to a document removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.home import Workbench
from tests.core.jobs.processes import end_worker
from tests.support import small_home
from tests.support.browser import AppServer, serve, wait_until_settled

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PEOPLE = """
[olga]
groups = ["staff"]
clearance = "internal"
roles = { small = ["owner"] }
"""
FILES = {
    "opening.md": "# Opening hours\n\n## The counter\n\nThe counter opens at nine.\n\n## The workshop\n\nAt ten.\n",
    "prices/tyres.csv": "article,price\ntyre,30\ntube,5\n",
    "broken.pdf": "this is no PDF\n",
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[AppServer]:
    home = small_home.make(tmp_path / "home")
    (home / "principals.toml").write_text(small_home.PEOPLE + PEOPLE, "utf-8")
    with serve(home, tmp_path / "server.log") as running:
        yield running
    end_worker(home)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "shop"


def _open(page: Page, server: AppServer, address: str) -> None:
    page.goto(f"{server.url}/documents?{address}")
    wait_until_settled(page)


def _see(target: Locator) -> None:
    target.first.wait_for(state="visible", timeout=60_000)


def _press(page: Page, text: str) -> None:
    wait_until_settled(page)  # a click on what is about to be drawn anew is lost
    page.get_by_role("button", name=text).first.click()


def test_from_a_folder_to_a_document_removed(page: Page, server: AppServer, folder: Path) -> None:
    _open(page, server, "as=olga&view=add")
    page.get_by_text("A whole folder, with its subfolders").click()
    page.locator("input[type=file][webkitdirectory]").set_input_files(folder)
    _see(page.get_by_text("Documents 3"))
    _press(page, "Upload and ingest")

    _see(page.get_by_text("added 2"))
    _see(page.get_by_text("Refused: 1."))
    workbench = Workbench.open(server.home)
    paths = {row.document.path for row in workbench.documents("small", workbench.principal("guest"))}
    uploaded = {path for path in paths if path.endswith(("opening.md", "tyres.csv"))}
    assert len(uploaded) == 2
    (opening,) = (path for path in uploaded if path.endswith("opening.md"))

    _open(page, server, f"as=olga&doc={opening}&chunk=1")
    _see(page.get_by_text("The counter opens at nine."))
    _see(page.get_by_text("Chunk 1"))

    wait_until_settled(page)
    page.get_by_text("Metadata", exact=True).click()
    page.get_by_role("combobox", name="Classification").click()
    page.get_by_role("option", name="internal").click()
    _see(page.get_by_text("Who will see it"))
    _see(page.get_by_text("loses 1"))
    _press(page, "Save")
    _see(page.get_by_text(f"Saved: {opening}"))
    seen = {row.document.path for row in workbench.documents("small", workbench.principal("guest"))}
    assert seen == paths - {opening}

    wait_until_settled(page)
    page.get_by_text("Remove", exact=True).first.click()
    _press(page, "Remove …")
    _press(page, "Remove it")
    _see(page.get_by_text(f"Removed: {opening}"))
    assert opening not in {row.document.path for row in workbench.documents("small", workbench.principal("olga"))}
