from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, UnknownDocument
from core.home import Workbench
from tests.support import small_home
from workbench.services import catalogue, document_view
from workbench.services.search_state import SearchState
from workbench.services.search_view import RANK_STAGES, moves, search
from workbench.view import charts

PLACES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(6, 9)), max_size=6)


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.open(small_home.make(tmp_path_factory.mktemp("small")))


def _search(workbench: Workbench, query: str, actor: str = "default", **fields: Any) -> Any:
    return search(workbench, SearchState(query=query, **fields), ["small"], workbench.principal(actor))


def test_cards_agree_with_the_trace(workbench: Workbench) -> None:
    view = _search(workbench, "refund")
    rows = {row.chunk_id: row for row in view.result.trace}
    assert view.cards
    for card, line in zip(view.cards, view.lines, strict=False):
        keys = [ref.chunk_id for ref in card.passage.chunk_refs]
        assert dict(card.channels)["bm25"] == min((rank for key in keys if (rank := rows[key].bm25)), default=None)
        assert line.number == card.number
        assert line.ranks[RANK_STAGES.index("merged")] == card.number
        for start, end in card.marks:
            assert "refund" in card.passage.text[start:end].casefold()


def test_only_channels_that_took_part_are_listed(workbench: Workbench) -> None:
    view = _search(workbench, "refund", changes=(("channels", ("bm25",)),))
    assert {channel for card in view.cards for channel, _ in card.channels} == {"bm25"}


def test_chunks_that_were_not_released_have_lines_without_a_number(workbench: Workbench) -> None:
    view = _search(workbench, "refund", changes=(("top_k", 1),))
    assert [line.number for line in view.lines][:2] == [1, None]
    assert view.lines[1].lost_at == "top_k"


def test_the_answer_is_cut_at_its_citations(workbench: Workbench) -> None:
    view = _search(workbench, "how long does a refund to a credit card take")
    assert "".join(part.text for part in view.answer) == view.result.answer.text
    assert any(part.numbers == (1,) for part in view.answer)


def test_pages_that_are_none_search_nothing(workbench: Workbench) -> None:
    with pytest.raises(InputError):
        _search(workbench, "refund", document="refunds.md", pages="9-1")


def test_figures_hold_no_markup_of_documents(workbench: Workbench) -> None:
    view = _search(workbench, "hostile formula")
    words = {name: name for name in (*RANK_STAGES, "absent", "lost")}
    figure = charts.waterfall(view.lines, 1, words)
    gaps = sum(place is None for trace in figure["data"] for place in trace["x"])
    assert gaps == len(view.lines)
    for trace in figure["data"]:
        assert len({len(trace[name]) for name in ("x", "y", "text", "customdata")}) == 1
        assert not any(character in name for name in trace["customdata"] for character in "<>&%{}")
    assert figure["data"][-1]["line"]["color"] == charts.ACCENT
    import plotly.graph_objects

    plotly.graph_objects.Figure(figure)
    plotly.graph_objects.Figure(charts.latency(view.latency, {}))
    plotly.graph_objects.Figure(charts.latency((), {}))


def test_a_document_is_opened_at_the_passage(workbench: Workbench) -> None:
    view = _search(workbench, "gift card refund")
    passage = view.cards[0].passage
    opened = document_view.open_document(
        workbench, "small", passage.document_id, (passage.start, passage.end), "gift", workbench.principal(None)
    )
    lines = (*opened.before, *opened.around, *opened.after)
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    inside = [line.number for line in lines if line.passage is not None]
    assert passage.lines[0] == inside[0]
    assert "".join(line.text[slice(*line.passage)] for line in lines if line.passage).split() == list(
        "".join(passage.text.split("\n")).split()
    )
    assert (1, "Refund policy") in opened.headings


def test_a_forbidden_document_is_not_opened(workbench: Workbench) -> None:
    target = _search(workbench, "ERR-5207", "ann").cards[0].passage.document_id
    with pytest.raises(UnknownDocument):
        document_view.open_document(workbench, "small", target, (0, 5), "", workbench.principal("guest"))


@pytest.mark.parametrize("span", [(0, 0), (-5, 10**9), (10**9, 10**9 + 5), (50, 20), (0, 5)])
@pytest.mark.parametrize("text", ["", "one line", "a\n\nb\n", "x" * 60_000, "line\n" * 20_000])
def test_any_span_of_any_text_can_be_shown(workbench: Workbench, text: str, span: tuple[int, int]) -> None:
    row = workbench.documents("small", workbench.principal(None))[0]
    from core.home import DocumentView

    opened = document_view.at_passage(DocumentView(row, text, ()), span, "line")
    lines = (*opened.before, *opened.around, *opened.after)
    assert opened.hidden_before + len(lines) + opened.hidden_after == text.count("\n") + 1
    assert sum(len(line.text) for line in lines) <= 2 * document_view.REACH_CHARS + max(0, span[1] - max(0, span[0]))


@given(PLACES, PLACES)
def test_moves_compare_like_with_like(before: list[Any], after: list[Any]) -> None:
    found = moves(before, after)
    assert len(found) == len(after)
    olds = [rank + step for rank, step in enumerate(found) if step is not None]
    assert len(olds) == len(set(olds))
    assert all(
        before[old][0] == after[rank][0] for rank, old in ((r, r + s) for r, s in enumerate(found) if s is not None)
    )


def test_an_unchanged_order_has_not_moved() -> None:
    order = [("a", 0, 5), ("b", 0, 5), ("a", 5, 9)]
    assert moves(order, order) == (0, 0, 0)
    assert moves(order, [order[2], order[0], ("c", 0, 1)]) == (2, -1, None)


def test_collections_are_chosen_by_name_only(workbench: Workbench) -> None:
    assert catalogue.choose(workbench, ()).chosen == ("small",)
    choice = catalogue.choose(workbench, ("gone", "small"))
    assert (choice.chosen, choice.unknown) == (("small",), ("gone",))
    assert catalogue.choose(workbench, ("gone",)).chosen == ()


def test_only_the_demo_brings_examples() -> None:
    assert catalogue.examples(("small",)) == ()
    assert len(catalogue.examples(("demo",))) >= 5


def test_the_home_of_small_documents_is_complete(workbench: Workbench) -> None:
    assert Path(workbench.home, "principals.toml").exists()
    assert len(workbench.documents("small", workbench.principal("ann"))) == len(small_home.DOCUMENTS)
