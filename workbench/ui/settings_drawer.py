"""The settings of one search, in a drawer at the side: every change shows at once in the results beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, get_args, get_type_hints

import streamlit as st

from core.settings import Retrieval, Settings
from core.types import CHANNELS
from workbench.messages import catalogue, say
from workbench.services.search_state import SearchState, written
from workbench.services.settings_choice import Difference, preset_retrieval
from workbench.ui import address, session_keys
from workbench.view.markup import plain

_BOUNDS = {field.name: (field.metadata.get("low"), field.metadata.get("high")) for field in fields(Retrieval)}


def draw(state: SearchState, start: Settings, settings: Settings, differences: tuple[Difference, ...]) -> None:
    """`start`: the settings without the page's changes; `settings`: those in effect."""
    preset = preset_retrieval(settings.retrieval.preset)
    values = settings.retrieval
    form = _Form(start, settings, preset)
    with st.sidebar:
        st.subheader(say("settings.title"), anchor=False)
        _summary(state, settings.retrieval.preset, differences)
        form.choice("channels", list(CHANNELS), multiple=True)
        form.number("window", step=10)
        form.choice("fusion", list(get_args(get_type_hints(Retrieval)["fusion"])))
        form.number("rrf_k", step=5, disabled=values.fusion != "rrf")
        form.switch("mmr")
        form.number("mmr_lambda", step=0.1, disabled=not values.mmr)
        form.number("mmr_keep", step=5, disabled=not values.mmr)
        form.number("quality_weight", step=0.05)
        form.number("top_k", step=1, high=settings.limits.top_k_max)


def setting_name(key: str) -> str:
    """The interface's word for a setting, else its key."""
    name = f"setting.{key}"
    return say(name) if name in catalogue("en") else key


def _summary(state: SearchState, preset: str, differences: tuple[Difference, ...]) -> None:
    if not differences:
        st.caption(say("settings.as_preset", preset=preset))
        return
    lines = [
        say(
            "settings.difference",
            name=plain(setting_name(item.key)),
            value=plain(_shown(item.value)),
            preset=plain(_shown(item.preset)),
        )
        for item in differences
    ]
    st.markdown("\n".join([say("settings.differs", preset=preset), "", *(f"- {line}" for line in lines)]))
    st.button(
        say("settings.reset"),
        key=session_keys.RESET,
        icon=":material/restart_alt:",
        on_click=address.write,
        args=(replace(state, preset=preset, changes=()),),
        width="stretch",
    )


def _channel_name(channel: str) -> str:
    return say(f"stage.{channel}")


def _shown(value: Any) -> str:
    return (", ".join(value) if isinstance(value, tuple) else written(value)) or say("settings.nothing")


class _Form:
    """Widgets whose values are the settings in effect; each callback writes one changed value into the address."""

    def __init__(self, start: Settings, settings: Settings, preset: dict[str, Any]) -> None:
        self._start, self._settings, self._preset = start.retrieval, settings.retrieval, preset

    def number(self, key: str, *, step: float, high: float | None = None, disabled: bool = False) -> None:
        value = getattr(self._settings, key)
        kind = type(value)
        low, top = _BOUNDS[key]
        top = top if high is None else high
        st.number_input(
            min_value=kind(low),
            max_value=max(kind(top), value),
            step=kind(step),
            format="%g" if kind is float else "%d",
            disabled=disabled,
            **self._common(key, value, kind),
        )

    def switch(self, key: str) -> None:
        st.toggle(**self._common(key, getattr(self._settings, key), bool))

    def choice(self, key: str, options: list[str], *, multiple: bool = False) -> None:
        value = getattr(self._settings, key)
        if multiple:

            def in_order(chosen: list[str]) -> tuple[str, ...]:
                return tuple(option for option in options if option in chosen)

            st.pills(
                options=options,
                selection_mode="multi",
                format_func=_channel_name,
                **self._common(key, list(value), in_order),
            )
        else:
            st.segmented_control(options=options, required=True, **self._common(key, value, str))

    def _common(self, key: str, value: Any, convert: Callable[[Any], Any]) -> dict[str, Any]:
        widget = session_keys.setting(key)
        address.show(widget, value)
        preset, label = self._preset[key], setting_name(key)
        if getattr(self._settings, key) != preset:
            label = say("settings.label_changed", name=label, preset=plain(_shown(preset)))
        return {
            "label": label,
            "key": widget,
            "help": say(f"help.{key}"),
            "on_change": address.set_setting,
            "args": (widget, key, getattr(self._start, key), convert),
        }
