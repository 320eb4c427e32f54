from __future__ import annotations

import pytest

from core.ingest.yaml_strict import load_yaml


def test_scalars_stay_as_written() -> None:
    text = "a: 1.10\nb: no\nc: 2026-01-31\nd: 010\ne: 1:30\nf: [x, 2]\ng:\nh: ~\ni: ''\n"
    assert load_yaml(text) == {
        "a": "1.10", "b": "no", "c": "2026-01-31", "d": "010", "e": "1:30", "f": ["x", "2"], "g": None, "h": None, "i": ""
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: 2\na: 3",
        "a: {x: 1, x: 2}",
        "a: &x 1\nb: *x",
        "a: b: c",
        "? [a]\n: 1",
        "!!python/object/apply:os.system [ls]",
        "a: !!int x",
        "a: !!timestamp x",
        "[" * 5000,
        "a: [",
        "a: \x07",
    ],
)
def test_what_could_be_misread_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        load_yaml(text)
