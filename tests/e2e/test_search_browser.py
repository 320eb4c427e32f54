"""The Search page in Chromium: whole journeys, with nothing fetched from elsewhere and nothing wrong in the console."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import small_home
from tests.support.browser import AppServer, serve, wait_until_settled

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


# Streamlit draws elements when their code has arrived, after the script has ended.
_ALL_DRAWN = """() => {
  const said = document.body.innerText.match(/([0-9]+) passages?/);
  return said !== null && document.querySelectorAll('[id^="passage-"]').length === Number(said[1]);
}"""
_UNDER_THE_HEADER = """name => {
  const top = document.getElementById(name).getBoundingClientRect().top;
  return top > 40 && top < 200;
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    folder = tmp_path_factory.mktemp("browser")
    home = small_home.make(folder / "home")
    with serve(home, folder / "server.log") as running:
        yield running


@pytest.fixture
def quiet(page: Page) -> Iterator[Page]:
    """A page whose console stays empty of errors and dialogs."""
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: (heard.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    yield page
    assert heard == []


def _open(page: Page, server: AppServer, address: str = "") -> None:
    page.goto(f"{server.url}/{address}")
    wait_until_settled(page)


def _ask(page: Page, query: str) -> None:
    box = page.get_by_placeholder("Ask a question")
    box.fill(query)
    box.press("Enter")
    _see(page.locator("#passage-1"))
    wait_until_settled(page)


def _see(target: Locator) -> None:
    target.first.wait_for(state="visible", timeout=30_000)


def _cards(page: Page) -> list[str]:
    """Headings of all cards, once as many are drawn as the page says there are."""
    page.wait_for_function(_ALL_DRAWN, timeout=30_000)
    return page.locator('[id^="passage-"]').all_inner_texts()


def _button(page: Page, text: str) -> Locator:
    return page.locator("button", has_text=text).first


def _click_until(button: Locator, appears: Locator) -> None:
    """A click on what is being drawn anew is lost: then once more."""
    from playwright.sync_api import TimeoutError as Late

    for _ in range(4):
        button.click()
        try:
            appears.first.wait_for(state="visible", timeout=8_000)
            return
        except Late:
            continue
    _see(appears)


def test_a_question_in_english_and_one_in_chinese(quiet: Page, server: AppServer) -> None:
    _open(quiet, server)
    _see(quiet.get_by_text("Nothing asked yet"))
    _ask(quiet, "how long does a refund to a credit card take")
    assert "Refund policy" in _cards(quiet)[0]
    _see(quiet.locator(".js-plotly-plot"))
    _ask(quiet, "微信支付退款")
    _see(quiet.locator("#passage-1", has_text="退款政策"))
    assert "微信支付退款" in quiet.locator("mark").all_inner_texts()


def test_another_person_finds_something_else(quiet: Page, server: AppServer) -> None:
    _open(quiet, server, "?q=ERR-5207&as=guest")
    assert not any("Refund limits" in card for card in _cards(quiet))
    quiet.get_by_role("combobox", name="As").click()
    quiet.get_by_role("option", name="ann").click()
    _see(quiet.locator("#passage-1", has_text="Refund limits"))
    assert "as=ann" in quiet.url


def test_a_citation_leads_to_its_card(quiet: Page, server: AppServer) -> None:
    _open(quiet, server, "?q=how+long+does+a+refund+to+a+credit+card+take")
    quiet.set_viewport_size({"width": 1000, "height": 420})
    link = quiet.locator('a[href^="#passage-"]').first
    _see(link)
    target = (link.get_attribute("href") or "").removeprefix("#")
    link.click()
    quiet.wait_for_function(_UNDER_THE_HEADER, arg=target)
    assert "q=how+long" in quiet.url


def test_the_document_opens_at_the_passage(quiet: Page, server: AppServer) -> None:
    _open(quiet, server, "?q=gift+card+refund")
    drawer = quiet.get_by_role("dialog")
    _click_until(_button(quiet, "Open"), drawer)
    _see(drawer.get_by_text("A refund to a gift card takes ten working days", exact=False))
    assert "gift" in [text.lower() for text in drawer.locator("mark").all_inner_texts()]
    drawer.get_by_role("button", name="Close").click()
    drawer.wait_for(state="hidden")
    wait_until_settled(quiet)
    assert _cards(quiet)


def test_a_setting_changes_the_ranks_and_the_link_keeps_it(quiet: Page, server: AppServer) -> None:
    _open(quiet, server, "?q=refund+days&as=ann")
    before = _cards(quiet)
    _button(quiet, "Settings").click()
    box = quiet.get_by_role("spinbutton", name="Passages (top_k)")
    _see(box)
    box.fill("2")
    box.press("Enter")
    quiet.locator("#passage-3").wait_for(state="detached", timeout=30_000)
    wait_until_settled(quiet)
    _see(_button(quiet, "Settings · 1 changed"))
    assert _cards(quiet) == before[:2]
    address = quiet.url
    assert "top_k=2" in address
    quiet.goto("about:blank")
    quiet.goto(address)
    wait_until_settled(quiet)
    _see(quiet.locator("#passage-2"))
    assert _cards(quiet) == before[:2]
    assert quiet.get_by_placeholder("Ask a question").input_value() == "refund days"
    assert quiet.get_by_role("combobox", name="As").input_value() == "ann · finance, staff · confidential"


def test_hostile_text_neither_runs_nor_fetches(quiet: Page, server: AppServer) -> None:
    _open(quiet, server, "?q=hostile&doc=![x](https://evil.example/d.png)")
    _see(quiet.get_by_text("no document", exact=False))
    _open(quiet, server, "?q=hostile")
    _see(quiet.locator("#passage-1"))
    _button(quiet, "Open").click()
    _see(quiet.get_by_role("dialog").locator("mark"))
    assert quiet.locator(".stHtml script, .stHtml img, .stHtml iframe, .stHtml style").count() == 0
    assert quiet.locator("a[href*='evil'], a[href*='javascript'], img[src*='evil']").count() == 0


def test_nothing_runs_off_a_narrow_page(quiet: Page, server: AppServer) -> None:
    quiet.set_viewport_size({"width": 800, "height": 900})
    _open(quiet, server, "?q=hostile+refund")
    _see(quiet.locator("#passage-1"))
    wide = "document.querySelector('[data-testid=stMain]').scrollWidth"
    assert quiet.evaluate(wide) <= 800


def test_the_servers_log_holds_no_error(server: AppServer) -> None:
    """Last, after the journeys above."""
    assert "Traceback" not in Path(server.log).read_text("utf-8")
