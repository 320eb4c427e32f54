from __future__ import annotations

import pytest

from core.ingest.yaml_strict import load_yaml


def test_scalars_stay_as_written() -> None:
    text = "a: 1.10\nb: no\nc: 2026-01-31\nd: 010\ne: 1:30\nf: [x, 2]\ng:\nh: ~\ni: ''\n"
    assert load_yaml(text) == {
        "a": "1.10", "b": "no", "c": "2026-01-31", "d": "010", "e": "1:30", "f": ["x", "2"],
        "g": None, "h": None, "i": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\nb: 2\na: 3", r"'a' stands twice \(line 3\)"),
        ("a: {x: 1, x: 2}", "'x' stands twice"),
        ("a: &x 1\nb: *x", "aliases"),
        ("a: b: c", "not allowed here"),
        ("? [a]\n: 1", "no plain word"),
        ("!!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("a: !!int x", "invalid literal"),
        ("a: !!timestamp x", "does not fit its tag"),
        ("[" * 5000, "too deeply"),
        ("a: [", "expected"),
        ("a: \x07", "not allowed"),
    ],
)
def test_what_could_be_misread_is_an_error(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        load_yaml(text)
