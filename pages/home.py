"""Home: what is here, what needs attention, where to go."""

from __future__ import annotations

import streamlit as st

from core.errors import PermissionUnavailable
from workbench import resources
from workbench.messages import say
from workbench.services import home_view
from workbench.ui import documents_errors, errors, header, home_panels
from workbench.ui.identity import identity

header.draw("home")
actor, problems = home_view.from_params({name: st.query_params.get_all(name) for name in st.query_params})
with documents_errors.shown():
    workbench = resources.workbench()
    home_panels.bar(workbench, actor)
    errors.problems(problems, ())
    try:
        principal = identity(workbench, actor)
    except PermissionUnavailable as error:
        errors.refusal("permission_unavailable", error)
        home_panels.first_steps(home_view.steps(workbench, ()), workbench.home)
        st.stop()
    with st.spinner(say("documents.loading")):
        seen = home_panels.gather(workbench, principal)
    home_panels.draw(workbench, seen, actor)
