"""What LanceDB and the file system raise, as failures that a person can act on."""

from __future__ import annotations

import errno
import re

from core.errors import StoreFailure

FULL = "the disk is full"
FREE_SPACE = "free space on it"
_REASON_MAX = 300
_FULL_TEXT = re.compile(r"no space left on device|disk quota exceeded|disk is full|\bos error (?:28|112|122)\b", re.I)
_INTERNAL = re.compile(
    r",?\s*location:\s*Location\s*\{[^{}]*\}"  # where in Lance's source it was raised: Rust's debug form …
    r"|(?:,|\bat)?\s*(?:[A-Za-z]:)?[^\s,;:()'\"]*\.rs:\d+(?::\d+)?"  # … and the short one
    r"|\blance error:\s*|\bLanceError\(\w*\):\s*"
)


def store_failure(place: str, what: str, error: Exception) -> StoreFailure:
    """`error` of LanceDB or the file system while `place` was being `what` (read, written, …), as ours."""
    if is_full(error):
        return StoreFailure(f"{place} could not be {what}: {FULL}", FREE_SPACE)
    remedy = "check the disk and the rights on the home folder; if they are in order, restore a backup"
    return StoreFailure(f"{place} could not be {what} ({reason_of(error)})", remedy)


def is_full(error: Exception) -> bool:
    """Whether a disk, or somebody's share of it, is full."""
    number = error.errno if isinstance(error, OSError) else None
    return number in (errno.ENOSPC, errno.EDQUOT) or bool(_FULL_TEXT.search(str(error)))


def reason_of(error: Exception) -> str:
    """What the error says in one line, without places in the source of LanceDB; its kind where it says nothing."""
    text = " ".join(_INTERNAL.sub("", " ".join(str(error).split())).split())
    return text[:_REASON_MAX].strip(" ,;:") or type(error).__name__
