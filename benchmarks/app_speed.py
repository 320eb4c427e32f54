"""The app as a person feels it, in Chromium: start to first page, page changes, searches in the demo collection.

    python -m benchmarks.app_speed [--rounds N]

Start is counted from starting the command to the search box on screen, over a home whose demo is loaded, three times;
the browser runs already. A search is counted from the Enter key to the moment when all result cards of the new query
are drawn and the script has ended; each question is asked once, so nothing of its result is kept. A page change is
counted from the click on a page's name to the end of the script.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from tests.support.browser import ARGUMENTS, find_chromium, serve, wait_until_settled
from workbench.demo_loader import load_demo

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

QUESTIONS = Path(__file__).resolve().parents[1] / "eval_sets" / "demo" / "questions.jsonl"
START_WANTED_S, CHANGE_WANTED_S = 4.0, 0.5
_SHOWN = "() => [...document.querySelectorAll('[id^=\"passage-\"]')].map(card => card.innerText).join()"
_NEW_CARDS = """before => {
  const app = document.querySelector('[data-testid="stApp"]');
  const said = document.body.innerText.match(/([0-9]+) passages?/);
  const cards = [...document.querySelectorAll('[id^="passage-"]')];
  return app.dataset.testScriptState === 'notRunning' && said !== null && cards.length === Number(said[1])
    && cards.map(card => card.innerText).join() !== before;
}"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="starts of the server")
    parser.add_argument("--searches", type=int, default=30)
    options = parser.parse_args(arguments)
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder) / "home"
        _load(home)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(ARGUMENTS))
        starts = [_start(browser, home, Path(folder) / "log") for _ in range(options.rounds)]
        print(_line("start to first page", starts, START_WANTED_S))
        with serve(home, Path(folder) / "log") as server:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(server.url)
            wait_until_settled(page)
            print(_line("search", _searches(page, options.searches), CHANGE_WANTED_S))
            changes = _changes(page)
            print(_line("page change", changes, CHANGE_WANTED_S) if changes else "page change: there is one page")
        browser.close()
    return 0


def _load(home: Path) -> None:
    from core import Workbench

    workbench = Workbench.open(home)
    load_demo(workbench, workbench.operator())


def _start(browser: Browser, home: Path, log: Path) -> float:
    begun = time.perf_counter()
    with serve(home, log) as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(server.url)
        page.get_by_placeholder("Ask a question").wait_for(state="visible")
        took = time.perf_counter() - begun
        page.close()
    return took


def _searches(page: Page, count: int) -> list[float]:
    lines = QUESTIONS.read_text("utf-8").splitlines()
    questions = [item["question"] for item in map(json.loads, lines) if item["kind"] == "answerable"][: count + 1]
    times = []
    for question in questions:
        before = page.evaluate(_SHOWN)
        box = page.get_by_placeholder("Ask a question")
        box.fill(question)
        begun = time.perf_counter()
        box.press("Enter")
        page.wait_for_function(_NEW_CARDS, arg=before, timeout=30_000)
        times.append(time.perf_counter() - begun)
    print(f"first search after the start: {times[0]:.2f} s")
    return times[1:]


def _changes(page: Page) -> list[float]:
    """From the click to the page's title, and on to the end of its script; the first round, unmeasured, warms up."""
    links = page.locator('[data-testid="stTopNavLink"]')
    names = [text.split("\n")[-1] for text in links.all_inner_texts()]  # an icon's name stands in front
    times = []
    for name in names * 4 if len(names) > 1 else []:
        begun = time.perf_counter()
        links.filter(has_text=name).first.click()
        page.get_by_role("heading", name=name, level=1).wait_for()
        wait_until_settled(page)
        times.append(time.perf_counter() - begun)
    return times[len(names) :]


def _line(name: str, times: Sequence[float], wanted: float) -> str:
    median, worst = float(np.median(times)), max(times)
    mark = "holds" if median <= wanted else "FAILS"
    return f"{mark}  {name}: median {median:.2f} s, worst {worst:.2f} s of {len(times)} (wanted: {wanted:g} s)"


if __name__ == "__main__":
    sys.exit(main())
