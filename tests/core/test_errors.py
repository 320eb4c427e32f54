from __future__ import annotations

import inspect

import pytest

from core import errors
from core.errors import AmbiguousDocument, CoreError, InputError, RoleMissing, SettingsError, UnknownCollection

CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, CoreError)]


@pytest.mark.parametrize("cls", CLASSES)
def test_exit_codes(cls: type[CoreError]) -> None:
    permission = ("PermissionUnavailable", "RoleMissing")
    expected = 2 if issubclass(cls, InputError) else 4 if cls.__name__ in permission else 1
    assert cls.exit_code == expected


@pytest.mark.parametrize("cls", CLASSES)
def test_the_tree_in_the_docstring_is_the_tree(cls: type[CoreError]) -> None:
    assert cls.__name__ in (errors.__doc__ or "")


def test_one_line_with_the_remedy() -> None:
    assert InputError("it is\nwrong", "mend  it").line() == "it is wrong: mend it"
    assert InputError("it is wrong").line() == "it is wrong"
    assert str(InputError("it is wrong", "mend it")) == "it is wrong"


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (UnknownCollection("x", ["a", "b"]), ["'x'", "a, b"]),
        (UnknownCollection("x"), ["'x'", "collections create"]),
        (AmbiguousDocument("x", ["a/x", "b/x"]), ["2 documents", "a/x, b/x"]),
        (RoleMissing("ann", "owner", "c"), ["ann", "owner", "'c'"]),
        (SettingsError("retrieval.window", "0 is out of range", "allowed: 1 to 9"), ["retrieval.window", "1 to 9"]),
    ],
)
def test_what_they_say(error: CoreError, parts: list[str]) -> None:
    assert all(part in error.line() for part in parts)
