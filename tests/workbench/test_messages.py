"""Every text of the interface is in the message files, and every message is used."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator

import pytest

from core.types import CHANNELS
from tests.support import ROOT
from workbench.messages import catalogue, say

FILES = [
    *sorted((ROOT / "pages").glob("*.py")),
    ROOT / "workbench" / "app.py",
    *sorted((ROOT / "workbench" / "ui").glob("*.py")),
    *sorted((ROOT / "workbench" / "view").glob("*.py")),
]
LANGUAGES = sorted(path.stem for path in (ROOT / "workbench" / "messages").glob("*.toml"))
ENGLISH = catalogue("en")


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield file.name, node


def _said() -> Iterator[tuple[str, str, ast.Call]]:
    """File, key or pattern of keys, and call, of everything that is said."""
    for file, call in _calls():
        if isinstance(call.func, ast.Name) and call.func.id == "say":
            yield file, _pattern(call.args[0]), call


def _pattern(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return re.escape(str(node.value))
    if isinstance(node, ast.JoinedStr):
        parts = (re.escape(str(p.value)) if isinstance(p, ast.Constant) else r"[a-z0-9_]+" for p in node.values)
        return "".join(parts)
    return ""  # a name: built from an f-string nearby, which `_named` finds


def _named() -> set[str]:
    """Patterns of f-strings that are assigned to a name before they are said."""
    found = set()
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.JoinedStr):
                found.add(_pattern(node.value))
    return found


def test_every_key_that_is_said_exists() -> None:
    missing = [(file, key) for file, key, _ in _said() if key and not any(re.fullmatch(key, name) for name in ENGLISH)]
    assert not missing


def test_every_message_is_said() -> None:
    patterns = {key for _, key, _ in _said() if key} | _named()
    assert not [name for name in ENGLISH if not any(re.fullmatch(pattern, name) for pattern in patterns)]


def test_what_is_filled_in_is_what_is_given() -> None:
    for file, key, call in _said():
        given = {keyword.arg for keyword in call.keywords} - {"language"}
        for name in ENGLISH:
            if key and re.fullmatch(key, name):
                assert _fields(ENGLISH[name]) == given, (file, name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_messages(language: str) -> None:
    texts = catalogue(language)
    assert texts.keys() == ENGLISH.keys()
    assert [name for name in texts if _fields(texts[name]) != _fields(ENGLISH[name])] == []


def test_no_text_stands_in_the_code_of_the_interface() -> None:
    """Words given to a Streamlit element as they are, in the first place or as its label, help or placeholder."""
    found = []
    for file, call in _calls():
        if (
            isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == "st"
        ):
            shown = [
                *call.args[:1],
                *(k.value for k in call.keywords if k.arg in ("label", "help", "placeholder", "title")),
            ]
            found += [
                (file, node.value)
                for node in shown
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"[^\W\d_]", node.value)
            ]
    commands = {("empty.py", "workbench demo\nworkbench ingest FOLDER --collection NAME")}
    assert set(found) <= commands


def test_families_are_complete() -> None:
    from typing import get_args

    from core.access import LEVELS
    from core.pipeline import STAGES_MS
    from core.types import Notice, RefusalCode, Status
    from workbench.services.search_view import RANK_STAGES

    notice_codes = get_args(Notice.__annotations__["code"]) or ("conflict", "stale_citation", "location_degraded")
    wanted = [
        *(f"refusal.{code}.{part}" for code in get_args(RefusalCode) for part in ("title", "body")),
        *(f"classification.{level}" for level in LEVELS),
        *(f"status.{status}" for status in get_args(Status)),
        *(f"stage.{stage}" for stage in (*RANK_STAGES, *CHANNELS)),
        *(f"latency.{stage}" for stage in STAGES_MS),
        *(f"notice.{code}" for code in notice_codes),
    ]
    assert not [name for name in wanted if name not in ENGLISH]


def test_an_unknown_key_or_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("search.nothing")
    with pytest.raises(KeyError):
        say("search.found")
    with pytest.raises(FileNotFoundError):
        say("search.found", language="xx")


def _fields(text: str) -> set[str | None]:
    return {field for _, field, _, _ in string.Formatter().parse(text) if field}
