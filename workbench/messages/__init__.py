"""Every text of the interface, by key: one TOML file a language beside this one.

Values in braces are filled in by name. What is filled in is data: where the text goes through Markdown, the caller
passes it through `workbench.view.markup.plain` first.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

DEFAULT_LANGUAGE = "en"


def say(key: str, /, *, language: str = DEFAULT_LANGUAGE, **values: Any) -> str:
    """The text of `key`. Raises KeyError for a key or a value that the file does not know."""
    return catalogue(language)[key].format_map(values)


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """All texts of a language by dotted key. Raises FileNotFoundError for one that has no file."""
    content = resources.files("workbench.messages").joinpath(f"{language}.toml").read_text("utf-8")
    return dict(_flat(tomllib.loads(content), ""))


def _flat(table: Mapping[str, Any], prefix: str) -> list[tuple[str, str]]:
    found = []
    for key, value in table.items():
        name = f"{prefix}{key}"
        found += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, str(value))]
    return found
