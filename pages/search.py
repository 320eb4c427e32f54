"""Search: read the address and the widgets, search once, show what came of it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from workbench import resources
from workbench.messages import say
from workbench.services import catalogue, search_view, settings_choice
from workbench.ui import address, context_bar, empty, errors, header, results, search_box, session_keys, settings_drawer
from workbench.ui.identity import identity

header.draw("search")
state, problems = address.read()
with errors.shown():
    workbench = resources.workbench()
    start = settings_choice.effective(workbench.settings, replace(state, changes=()))
    settings = settings_choice.effective(workbench.settings, state)
    differences = settings_choice.differences(settings)
    choice = catalogue.choose(workbench, state.collections)
    context_bar.draw(workbench, state, choice, differences)
    if session_keys.drawer_is_open():
        settings_drawer.draw(state, start, settings, differences)
    search_box.draw(state, catalogue.examples(choice.chosen))
    errors.problems(problems, choice.unknown)
    if not choice.known:
        empty.no_collection()
        st.stop()
    principal = identity(workbench, state.actor)
    if not choice.chosen:
        empty.none_chosen()
    elif not state.query.strip():
        empty.nothing_asked()
        resources.warm_up(choice.chosen)
    else:
        with st.spinner(say("search.loading")):
            view = search_view.search(workbench, state, choice.chosen, principal)
        request = repr(replace(state, preset="", changes=(), collections=choice.chosen))
        before = session_keys.previous_order(request, settings.fingerprint(), view.order)
        results.draw(workbench, principal, view, search_view.moves(before, view.order))
