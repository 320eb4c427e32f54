from __future__ import annotations

import argparse
from datetime import UTC, datetime

import pytest

from core.ingest.metadata_values import moment as moment_of_metadata
from workbench.cli.locations import moment


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
