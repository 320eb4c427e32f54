from __future__ import annotations

import threading

import pytest

from core.errors import EmbedderUnavailable, IntegrityFailure
from core.guard import Guard
from core.settings import Budget

PATIENT = Budget(embed_ms=0, channel_ms=0)
BUSY = Budget(embed_ms=20, channel_ms=20)


@pytest.mark.parametrize("budget", [PATIENT, Budget()])
def test_what_works_is_as_it_was(budget: Budget) -> None:
    guard = Guard(budget, "t")
    assert (guard.embed(lambda: 1), guard.channel("bm25", lambda: 2)) == (1, 2)
    assert guard.flags == []


@pytest.mark.parametrize("budget", [PATIENT, Budget()])
@pytest.mark.parametrize("error", [EmbedderUnavailable("no model"), ValueError("refund"), MemoryError()])
def test_what_fails_is_left_out_and_flagged(budget: Budget, error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> int:
        raise error

    guard = Guard(budget, "t")
    assert guard.channel("dense", fail) is None and guard.channel("exact", fail) is None
    assert guard.flags == ["vector_channel_down", "exact_channel_down"]
    assert type(error).__name__ in caplog.text and "refund" not in caplog.text


def test_a_store_that_must_not_be_believed_is_no_channels_own_trouble() -> None:
    def fail() -> int:
        raise IntegrityFailure("altered")

    for budget in (PATIENT, Budget()):
        with pytest.raises(IntegrityFailure):
            Guard(budget, "t").channel("bm25", fail)


def test_what_is_late_is_left_out_and_flagged() -> None:
    released = threading.Event()
    guard = Guard(BUSY, "t")
    try:
        assert guard.embed(released.wait) is None and guard.channel("bm25", released.wait) is None
    finally:
        released.set()
    assert guard.flags == ["vector_channel_late", "bm25_channel_late"]
