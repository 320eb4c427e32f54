"""Whether HTML can be parsed in bounded time and memory, told from its tags alone, before it is parsed."""

from __future__ import annotations

import re
from collections import Counter

BYTES_MAX = 20_000_000
DEPTH_MAX = 2_000
"""Open elements; the parser's time grows with their square."""
COPIES_MAX = 5_000_000
"""Formatting elements left open, times tags: the parser opens them anew in every block."""
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)")
_RAW = re.compile(r"<!--.*?-->|<(script|style|textarea|title)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
# Closed by what follows them, so that leaving out the end tag nests nothing.
_CLOSED_BY_OTHERS = frozenset(
    "a body colgroup dd dt head html li optgroup option p rp rt tbody td tfoot th thead tr".split()
)
_FORMATTING = frozenset("b big code em font i nobr s small strike strong tt u".split())


def why_refused(text: str) -> str | None:
    """The reason why `text` is not to be parsed; None: it may be."""
    depth = deepest = tags = unclosed = worst = 0
    open_formatting: Counter[str] = Counter()
    for match in _TAG.finditer(_RAW.sub("", text)):
        tags += 1
        closing, name = match[1], match[2].lower()
        if name in _VOID or name in _CLOSED_BY_OTHERS:
            continue
        depth = max(0, depth - 1) if closing else depth + 1
        deepest = max(deepest, depth)
        if name in _FORMATTING and (not closing or open_formatting[name]):
            open_formatting[name] += -1 if closing else 1
            unclosed += -1 if closing else 1
            worst = max(worst, unclosed)
    if deepest > DEPTH_MAX:
        return f"nested more than {DEPTH_MAX:,} deep"
    if worst * tags > COPIES_MAX:
        return f"{worst:,} formatting elements are left open"
    return None
