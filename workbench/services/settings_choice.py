"""The settings of one search: those of the home or of a preset, with what was changed on the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from core.settings import Retrieval, Settings, preset_values
from workbench.services.search_state import SearchState


@dataclass(frozen=True, slots=True)
class Difference:
    key: str
    value: Any
    preset: Any


def effective(home: Settings, state: SearchState) -> Settings:
    """Raises SettingsError where two values do not go together."""
    start = home.with_retrieval(**preset_retrieval(state.preset)) if state.preset else home
    return start.with_retrieval(**dict(state.changes))


def differences(settings: Settings) -> tuple[Difference, ...]:
    """Every value that is not the one of the preset it started from, in the order of the settings page."""
    preset = asdict(Settings().with_retrieval(**preset_retrieval(settings.retrieval.preset)).retrieval)
    actual = asdict(settings.retrieval)
    return tuple(Difference(key, actual[key], preset[key]) for key in actual if actual[key] != preset[key])


def preset_retrieval(preset: str) -> dict[str, Any]:
    """All of [retrieval] as a preset has it."""
    return {**asdict(Retrieval()), **preset_values(preset)}
