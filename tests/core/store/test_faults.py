from __future__ import annotations

import errno

import pytest

from core.store.faults import is_full, reason_of, store_failure

CARGO = "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f"
FULL = [
    f"lance error: LanceError(IO): No space left on device (os error 28), {CARGO}/lance-file/src/writer.rs:191:9",
    "lance error: LanceError(IO): Generic LocalFileSystem error: Unable to copy data to file: No space left on device"
    f" (os error 28), {CARGO}/lance-table-13.0.0/src/io/commit.rs:1663:50",
    "LanceError(IO): Disk quota exceeded (os error 122), location: Location { file: 'x.rs', line: 1, column: 2 }",
    "database or disk is full",
]
OTHERS = [
    (
        "lance error: LanceError(IO): Generic memory error: Invalid range 0..265 for object of size 120 bytes,"
        " /rustc/2d8144b7/library/core/src/ops/function.rs:250:5",
        "Generic memory error: Invalid range 0..265 for object of size 120 bytes",
    ),
    (f"lance error: LanceError(IO): file size is too small, {CARGO}/src/utils.rs:172:20", "file size is too small"),
    (
        'Not found: x, location: Location { file: "/home/u/a b/dataset.rs", line: 9, column: 3 }: while reading',
        "Not found: x: while reading",
    ),
    ("it broke at rust/lance/src/dataset.rs:120\n  and once more", "it broke and once more"),
    (r"it broke, C:\Users\u\.cargo\lance\utils.rs:172:20", "it broke"),
    ("Table 'nope.rs' was not found", "Table 'nope.rs' was not found"),
    ("", "RuntimeError"),
]


@pytest.mark.parametrize("text", FULL)
def test_a_full_disk_is_called_that_and_nothing_more(text: str) -> None:
    failure = store_failure("collection folder c", "written", RuntimeError(text))
    assert failure.line() == "collection folder c could not be written: the disk is full: free space on it"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_by_its_number(number: int) -> None:
    assert is_full(OSError(number, "whatever it is called here"))
    assert not is_full(OSError(errno.EACCES, "Permission denied"))
    assert not is_full(ValueError("281 of 1122 rows"))


@pytest.mark.parametrize(("text", "reason"), OTHERS)
def test_no_place_in_the_source_of_a_library_is_shown(text: str, reason: str) -> None:
    assert reason_of(RuntimeError(text)) == reason
    line = store_failure("it", "read", RuntimeError(text)).line()
    assert f"({reason})" in line and "doctor" not in line and "restore a backup" in line


def test_a_long_reason_is_cut() -> None:
    assert len(reason_of(RuntimeError("x" * 1_000))) == 300
