"""A passage as a card: what it is, where it stands, why it is here, and what can be done with it."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from workbench.messages import say
from workbench.services.search_view import RANK_STAGES, Card, RankLine
from workbench.ui import session_keys
from workbench.view import markup

Colour = Literal["gray", "blue", "orange", "red"]

_CLASSIFICATION: dict[str, Colour] = {
    "public": "gray",
    "internal": "blue",
    "confidential": "orange",
    "restricted": "red",
}
_STATUS: dict[str, Colour] = {"active": "gray", "deprecated": "orange", "revoked": "red"}


def draw(card: Card, line: RankLine, moved: int | None, compared: bool) -> None:
    """`moved`: ranks it rose since the settings before, None where it is new; shown only where `compared`."""
    passage = card.passage
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, gap="small", vertical_alignment="top"):
            st.html(markup.card_heading(card))
            if compared:
                _movement(moved)
            st.badge(say(f"classification.{passage.classification}"), color=_CLASSIFICATION[passage.classification])
            st.badge(say(f"status.{passage.status}"), color=_STATUS[passage.status])
        st.html(markup.card_text(card))
        if card.also_in:
            st.html(markup.also_in(card, say("card.also_in")))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(ranks(card), width="stretch")
            _actions(card)
        if session_keys.selected() == card.number:
            st.caption(say("card.path", ranks=path(line)))


def path(line: RankLine) -> str:
    """`exact not in list, BM25 #3, …, merged #1`."""
    places = (say("stage.absent") if rank is None else say("card.rank", rank=rank) for rank in line.ranks)
    return ", ".join(f"{say(f'stage.{stage}')} {place}" for stage, place in zip(RANK_STAGES, places, strict=True))


def ranks(card: Card) -> str:
    """`exact – · BM25 #3 · dense #1`."""
    found = []
    for channel, rank in card.channels:
        place = say("card.absent") if rank is None else f"**{say('card.rank', rank=rank)}**"
        found.append(f"{say(f'stage.{channel}')} {place}")
    return " · ".join(found)


def _movement(moved: int | None) -> None:
    if moved is None:
        st.badge(say("card.new"), icon=":material/add:", color="primary")
    elif moved > 0:
        st.badge(say("card.up", ranks=moved), icon=":material/arrow_upward:", color="green")
    elif moved < 0:
        st.badge(say("card.down", ranks=-moved), icon=":material/arrow_downward:", color="orange")
    else:
        st.badge(say("card.same"), color="gray")


def _actions(card: Card) -> None:
    passage, number = card.passage, card.number
    st.button(
        say("card.open"),
        key=session_keys.action("open", number),
        icon=":material/article:",
        type="tertiary",
        on_click=session_keys.open_document,
        args=(session_keys.Opened(passage.collection, passage.document_id, passage.start, passage.end),),
    )
    traced = session_keys.selected() == number
    st.button(
        say("card.traced") if traced else say("card.trace"),
        key=session_keys.action("trace", number),
        icon=":material/timeline:",
        type="tertiary",
        disabled=traced,
        on_click=session_keys.select,
        args=(number,),
    )
    with st.popover(say("card.cite"), icon=":material/format_quote:", type="tertiary"):
        st.caption(say("card.cite_help"))
        st.code(passage.evidence_id, language=None)
        st.code(card.citation, language="json", wrap_lines=True, height=220)
