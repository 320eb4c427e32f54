"""Scripts as far as words depend on them: a query in Latin letters shares no words with a text in Chinese."""

from __future__ import annotations

import numpy as np

SAMPLE_BYTES = 600
"""Of a text: enough to tell its script."""


def is_wide(utf8: bytes) -> bool:
    """Whether at least a third of the characters take three bytes in UTF-8: those of Chinese, Japanese, Korean and of
    the scripts of India and South-East Asia do, Latin, Greek, Cyrillic, Hebrew and Arabic letters do not."""
    values = np.frombuffer(utf8, np.uint8)
    three = np.count_nonzero((values & 0xF0) == 0xE0)
    return bool(3 * three >= np.count_nonzero((values & 0xC0) != 0x80))
