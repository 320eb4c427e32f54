from __future__ import annotations

import argparse
from datetime import UTC, datetime

import pytest

from core.ingest.metadata_values import moment as moment_of_metadata
from workbench.cli.locations import moment, page_labels


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("7", ("7",)),
        ("3-5", ("3", "4", "5")),
        ("3 – 5", ("3", "4", "5")),
        ("4-4", ("4",)),
        ("iv", ("iv",)),
        ("A-3", ("A-3",)),
        ("iv, 1-3,2", ("iv", "1", "2", "3")),
    ],
)
def test_pages(text: str, labels: tuple[str, ...]) -> None:
    assert page_labels(text) == labels


@pytest.mark.parametrize("text", ["", "5-3", "3-", "3-x", "-", "–5", "1,,2", "1-99999999", "3-5-7"])
def test_pages_that_cannot_be_meant(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="write"):
        page_labels(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T09:30", datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ("2026-03-01T09:30:00Z", datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ("2026-03-01T09:30+02:00", datetime(2026, 3, 1, 7, 30, tzinfo=UTC)),
    ],
)
def test_moments_mean_what_they_mean_in_metadata(text: str, expected: datetime) -> None:
    assert moment(text) == expected == moment_of_metadata(text)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "01.02.2026", "0001-01-01T00:00+14:00"])
def test_moments_that_cannot_be_meant(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="write 2026-01-31"):
        moment(text)
