"""Every setting with its value and where that value comes from."""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.settings import ENVIRONMENT_PREFIX, SECTIONS, Settings, load, preset_values


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    key: str
    """`section.name`"""
    value: Any
    origin: str
    """The environment variable, the file, the preset, or `default`."""


def effective(home: Path, file: str | Path | None = None) -> tuple[Settings, tuple[EffectiveSetting, ...]]:
    """The settings of a home, as they would be with `file` on top of its own. Raises SettingsError."""
    own = home / "settings.toml"
    files = [*([own] if own.exists() else []), *([Path(file)] if file is not None else [])]
    settings = load(files)
    origins = _origins(settings, files, os.environ)
    rows = (
        EffectiveSetting(f"{section}.{item.name}", getattr(getattr(settings, section), item.name), origin)
        for section, cls in SECTIONS.items()
        for item in dataclasses.fields(cls)
        for origin in [origins.get((section, item.name), "default")]
    )
    return settings, tuple(rows)


def _origins(settings: Settings, files: list[Path], environment: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """By section and key, the last of the places that name it; `load` has checked that all of them can be read."""
    preset = settings.retrieval.preset
    origins = {("retrieval", key): f"preset {preset}" for key in preset_values(preset)}
    for file in files:
        content = tomllib.loads(file.read_text("utf-8"))
        origins |= {(section, key): str(file) for section, body in content.items() for key in body}
    for name in environment:
        section, separator, key = name.removeprefix(ENVIRONMENT_PREFIX).lower().partition("__")
        if name.startswith(ENVIRONMENT_PREFIX) and separator:
            origins[section, key] = f"environment {name}"
    return origins
