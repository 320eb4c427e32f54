"""Makes `docs/settings.md` from the metadata in `core/settings.py`: `make docs` writes it, a test compares it."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, get_args, get_origin, get_type_hints

from core.settings import ENVIRONMENT_PREFIX, PRESETS, SECTIONS, load, preset_values
from tests.support import ROOT

PAGE = ROOT / "docs" / "settings.md"

_INTRODUCTION = """# Settings

Every tunable, its default, what it may be and what it means. Written by `make docs` from `core/settings.py`.

A value comes from the first of these that names it:

1. the environment, by the name in the last column;
2. the file given with `--settings`;
3. `settings.toml` in the home (`WORKBENCH_HOME`, default `.workbench` in the working directory);
4. the preset that `retrieval.preset` names;
5. the default.

Files are TOML: the heading is the section, as in `[retrieval]`. In the environment, lists are separated by commas, and
an empty value stands for "none" where the default is none. An unknown section or key, a wrong type and a value that
is not allowed are errors that name the key.
"""


def page() -> str:
    """The whole page as Markdown. Where the default preset names a key, its value is the default shown."""
    settings = load((), {})
    parts = [_INTRODUCTION]
    for section, cls in SECTIONS.items():
        values = getattr(settings, section)
        rows = [_row(section, item, getattr(values, item.name)) for item in dataclasses.fields(cls)]
        parts.append(_table(f"## {section}", ("key", "default", "allowed", "meaning", "environment"), rows))
    parts.append(_presets())
    return "\n".join(parts)


def _row(section: str, item: dataclasses.Field[Any], value: object) -> tuple[str, ...]:
    name = f"{section}.{item.name}"
    environment = f"{ENVIRONMENT_PREFIX}{section}__{item.name}".upper()
    wanted = get_type_hints(SECTIONS[section])[item.name]
    return (f"`{name}`", f"`{_shown(value)}`", _allowed(item, wanted), item.metadata["doc"], f"`{environment}`")


def _allowed(item: dataclasses.Field[Any], wanted: Any) -> str:
    if get_origin(wanted) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(wanted))
    if wanted is bool:
        return "`true`, `false`"
    bounds = (("≥", item.metadata["low"]), ("≤", item.metadata["high"]))
    return ", ".join(f"{sign} {bound:,}" for sign, bound in bounds if bound is not None) or (
        "list" if get_origin(wanted) is tuple else "text"
    )


def _presets() -> str:
    shipped = {preset: preset_values(preset) for preset in PRESETS}
    keys = dict.fromkeys(key for values in shipped.values() for key in values if key != "preset")
    rows = [(f"`{key}`", *(f"`{_shown(shipped[preset].get(key))}`" for preset in PRESETS)) for key in keys]
    return _table("## Presets\n\nThe `[retrieval]` keys that a preset names:", ("key", *PRESETS), rows)


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def _table(heading: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return f"{heading}\n\n{table}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
