"""The Search page through Streamlit's AppTest: every state it can be in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support import ROOT, small_home
from workbench.messages import say

Run = Callable[..., AppTest]


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_home.make(tmp_path_factory.mktemp("stocked"))


@pytest.fixture
def app(stocked: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("WORKBENCH_HOME", str(stocked))
    return _run


def _run(**params: Any) -> AppTest:
    page = AppTest.from_file(str(ROOT / "workbench" / "app.py"), default_timeout=60)
    for name, value in params.items():
        page.query_params[{"who": "as"}.get(name, name)] = value
    return _checked(page.run())


def _checked(page: AppTest) -> AppTest:
    assert not page.exception
    return page


def _html(page: AppTest) -> str:
    return "\n".join(element.proto.body for element in page.html)


def _titles(page: AppTest) -> list[str]:
    """Headings of the cards, in order."""
    return [element.proto.body for element in page.html if 'id="passage-' in element.proto.body]


def _said(page: AppTest) -> str:
    groups = (page.error, page.warning, page.info, page.markdown, page.caption)
    return "\n".join(element.value for group in groups for element in group)


def test_the_first_page_says_what_it_is(app: Run) -> None:
    page = app()
    assert page.title[0].value == say("page.search.title")
    assert say("empty.body") in _said(page)
    assert not _titles(page)
    assert page.selectbox(key="search.actor").value == "default"
    assert page.multiselect(key="search.collections").value == ["small"]


def test_a_home_without_collections_names_the_first_step(home: Path) -> None:
    page = _run()
    assert say("empty.no_collection_body") in _said(page)
    assert any("workbench demo" in code.value for code in page.code)


def test_a_query_gives_cards_an_answer_and_the_ranks(app: Run) -> None:
    page = app()
    page = _checked(page.text_input(key="search.query").set_value("how long does a refund take").run())
    assert "how long does a refund take" in page.query_params["q"]
    titles = _titles(page)
    assert "Refund policy" in titles[0]
    assert 'href="#passage-1"' in _html(page)
    assert "<mark" in _html(page)
    assert any("BM25 **#1**" in caption.value for caption in page.caption)
    assert any("three working days" in code.value for code in page.code)


def test_stems_chinese_and_full_width_are_marked(app: Run) -> None:
    assert ">refunded</mark>" in _html(app(q="refunds"))
    assert ">退款</mark>" in _html(app(q="退款"))
    assert ">ＡＢＣ１２３</mark>" in _html(app(q="ABC123"))


def test_twins_are_listed_on_the_card(app: Run) -> None:
    assert say("card.also_in") in _html(app(q="credit card refund"))


def test_who_asks_changes_what_is_found(app: Run) -> None:
    page = app(q="ERR-5207")
    assert "Refund limits" not in _html(page)
    page = _checked(page.selectbox(key="search.actor").select("ann").run())
    assert "Refund limits" in _titles(page)[0]
    assert "exact **#1**" in _said(page)
    page = _checked(page.selectbox(key="search.actor").select("guest").run())
    assert "Refund limits" not in _html(page)


@pytest.mark.parametrize("name", ["nobody", "Ann", "ann ", "![x](https://evil.example/x.png)"])
def test_an_unknown_person_is_refused_and_nobody_stands_in(app: Run, name: str) -> None:
    page = app(q="refund", who=name)
    assert say("refusal.permission_unavailable.title") in _said(page)
    assert say("refusal.nothing_shown") in _said(page)
    assert not page.html
    assert page.selectbox(key="search.actor").value is None
    assert "![x]" not in _said(page)


def test_broken_principals_refuse_everybody(home: Path) -> None:
    small_home.make(home)
    (home / "principals.toml").write_text("[default\n", "utf-8")
    page = _run(q="refund")
    assert say("refusal.permission_unavailable.title") in _said(page)
    assert not page.html


def test_a_changed_setting_shows_at_once_and_can_be_reset(app: Run) -> None:
    page = app(q="refund to a gift card")
    before = _titles(page)
    page = _checked(page.button(key="search.drawer").click().run())
    assert say("settings.as_preset", preset="measured") in _said(page)
    page = _checked(page.number_input(key="search.setting.top_k").set_value(2).run())
    assert len(before) > 2
    assert _titles(page) == before[:2]
    page = _checked(page.button_group(key="search.setting.channels").set_value(["dense"]).run())
    assert "BM25 **#" not in _said(page)
    assert "channels" in page.query_params
    assert say("context.settings_changed", count=2) in [button.label for button in page.button]
    page = _checked(page.button(key="search.reset").click().run())
    assert _titles(page) == before
    assert "channels" not in page.query_params


def test_ranks_move_with_the_settings(app: Run) -> None:
    page = app(q="refund days", channels="bm25", mmr="false")
    lexical = _titles(page)
    page = app(q="refund days", channels="dense", mmr="false")
    assert _titles(page) != lexical


def test_movement_is_shown_against_the_settings_before(app: Run) -> None:
    page = app(q="refund days", channels="bm25", mmr="false")
    assert "arrow_upward" not in _said(page)
    page = _checked(page.button(key="search.drawer").click().run())
    page = _checked(page.button_group(key="search.setting.channels").set_value(["dense"]).run())
    assert "arrow_upward" in _said(page) or say("card.new") in _said(page)


def test_the_last_channel_cannot_be_taken_away(app: Run) -> None:
    page = app(q="refund", channels="bm25")
    page = _checked(page.button(key="search.drawer").click().run())
    page = _checked(page.button_group(key="search.setting.channels").set_value([]).run())
    assert page.button_group(key="search.setting.channels").value == ["bm25"]


def test_a_malformed_address_is_reported_and_falls_back(app: Run) -> None:
    page = app(q="refund", rrf_k="many", preset="best", nonsense="1", c="gone", mmr_lambda="7")
    said = _said(page)
    assert say("problem.title") in said
    for name in ("rrf_k", "preset", "nonsense", "mmr_lambda"):
        assert f"`{name}`" in said
    assert "gone" in said
    assert not page.html  # the collection that the address names is not there, and no other takes its place
    page = app(q="refund", rrf_k="many")
    assert _titles(page)


@pytest.mark.parametrize(
    "place",
    [{"pages": "3"}, {"sheet": "A"}, {"doc": "none.md"}, {"doc": "limits.md"}, {"doc": "refunds.md", "pages": "5-3"}],
)
def test_a_place_that_cannot_be_meant_is_an_error(app: Run, place: dict[str, str]) -> None:
    page = app(q="refund", **place)
    assert len(page.error) == 1
    assert say("error.title") in page.error[0].value
    assert not page.html


def test_a_place_narrows_the_search(app: Run) -> None:
    page = app(q="refund", doc="policies/refunds.md")
    assert all("policies/refunds.md" in title for title in _titles(page))
    assert say("context.location_set", place=r"refunds\.md") in [block.label for block in _popovers(page)]
    page = _checked(page.button(key="search.clear_location").click().run())
    assert "doc" not in page.query_params


def _popovers(page: AppTest) -> list[Any]:
    found: list[Any] = []

    def walk(block: Any) -> None:
        for child in getattr(block, "children", {}).values():
            proto = getattr(getattr(child, "proto", None), "popover", None)
            if proto is not None and proto.label:
                found.append(proto)
            walk(child)

    walk(page.main)
    return found


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_an_empty_query_searches_nothing(app: Run, query: str) -> None:
    page = app(q=query)
    assert say("empty.body") in _said(page)
    assert not page.html


def test_nothing_found_says_so(app: Run) -> None:
    page = app(q="zzqqxx", channels="exact,bm25")
    assert say("refusal.no_evidence.title") in _said(page)
    assert not page.html


def test_a_query_beyond_the_limit_is_an_error(app: Run) -> None:
    page = app(q="x" * 5_000)
    assert say("error.title") in page.error[0].value


def test_hostile_text_stays_text(app: Run) -> None:
    page = app(q="hostile")
    _checked(page.button(key="search.open.1").click().run())
    for element in page.html:
        body = element.proto.body
        assert not element.proto.unsafe_allow_javascript
        for tag in ("<script", "<img", "<style", "<iframe", "</div", "javascript:alert(1)<"):
            assert tag not in body.lower().replace("&lt;", "[")
    outside = "\n".join(element.value for group in (page.markdown, page.caption, page.warning) for element in group)
    assert "evil.example" not in outside


def test_a_document_opens_at_its_passage_and_closes_with_the_next_search(app: Run) -> None:
    page = app(q="gift card refund")
    count = len(page.html)
    page = _checked(page.button(key="search.open.1").click().run())
    assert len(page.html) > count
    assert "box-shadow" in _html(page)  # lines of the passage
    page = _checked(page.text_input(key="search.query").set_value("vacation").run())
    assert "box-shadow" not in _html(page)


def test_a_document_that_was_forbidden_meanwhile_is_not_opened(app: Run) -> None:
    page = app(q="ERR-5207", who="ann")
    page.session_state["search.opened"] = ("small", "0" * 32, 0, 5)
    page = _checked(page.run())
    assert "box-shadow" not in _html(page)
    assert say("error.title") in page.error[0].value


def test_only_this_document_is_searched_on_demand(app: Run) -> None:
    page = app(q="refund")
    page = _checked(page.button(key="search.open.1").click().run())
    page = _checked(page.button(key="search.only_here").click().run())
    assert "refunds" in str(page.query_params["doc"])
    assert "box-shadow" not in _html(page)


def test_a_trace_selects_a_passage(app: Run) -> None:
    page = app(q="refund")
    assert say("explain.selected", number=1) in _said(page)
    page = _checked(page.button(key="search.trace.2").click().run())
    assert say("explain.selected", number=2) in _said(page)
    assert "merged #2" in _said(page)
    assert "merged #1" not in _said(page)


def test_results_can_be_taken_along(app: Run) -> None:
    page = app(q="refund")
    assert {button.key for button in page.download_button} == {
        "search.export.csv",
        "search.export.json",
        "search.export.markdown",
    }


def test_the_same_address_shows_the_same_view(app: Run) -> None:
    address = {
        "q": "refund",
        "who": "ann",
        "doc": "policies/refunds.md",
        "rrf_k": "7",
        "mmr": "false",
        "preset": "classic",
    }
    one, other = app(**address), app(**address)
    assert _titles(one) == _titles(other) != []
    assert one.selectbox(key="search.actor").value == "ann"
    assert one.selectbox(key="search.preset").value == "classic"


def test_without_an_audit_record_nothing_is_shown(home: Path) -> None:
    small_home.make(home)
    for file in (home / "audit").rglob("*"):
        if file.is_file():
            file.unlink()
    for folder in sorted((home / "audit").rglob("*"), reverse=True):
        folder.rmdir()
    (home / "audit").rmdir()
    (home / "audit").write_text("in the way", "utf-8")
    page = AppTest.from_file(str(ROOT / "workbench" / "app.py"), default_timeout=60)
    page.query_params["q"] = "refund"
    page.run()
    assert not page.exception
    assert not page.html
    assert say("refusal.unavailable.title") in _said(page) or say("error.unavailable_title") in _said(page)
