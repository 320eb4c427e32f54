"""Whether HTML can be parsed in bounded time and memory, told from its tags alone, before it is parsed."""

from __future__ import annotations

import re
from collections import Counter

BYTES_MAX = 20_000_000
TAGS_MAX = 1_000_000
DEPTH_MAX = 2_000
"""Open elements; the parser's time grows with their square."""
COPIES_MAX = 5_000_000
"""Formatting elements left open, times tags: the parser opens them anew in every block."""
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)")
_OPAQUE = re.compile(r"<!--|<(script|style|textarea|title)\b", re.IGNORECASE)
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
# Closed by what follows them, so that leaving out the end tag nests nothing.
_CLOSED_BY_OTHERS = frozenset(
    "a body colgroup dd dt head html li optgroup option p rp rt tbody td tfoot th thead tr".split()
)
_FORMATTING = frozenset("b big code em font i nobr s small strike strong tt u".split())


def why_refused(text: str) -> str | None:
    """The reason why `text` is not to be parsed; None: it may be."""
    depth = deepest = tags = unclosed = worst = 0
    open_formatting: Counter[str] = Counter()
    for match in _TAG.finditer(_without_opaque(text)):
        tags += 1
        closing, name = match[1], match[2].lower()
        if name in VOID or name in _CLOSED_BY_OTHERS:
            continue
        depth = max(0, depth - 1) if closing else depth + 1
        deepest = max(deepest, depth)
        if name in _FORMATTING and (not closing or open_formatting[name]):
            open_formatting[name] += -1 if closing else 1
            unclosed += -1 if closing else 1
            worst = max(worst, unclosed)
    if tags > TAGS_MAX:
        return f"more than {TAGS_MAX:,} tags"
    if deepest > DEPTH_MAX:
        return f"nested more than {DEPTH_MAX:,} deep"
    if worst * tags > COPIES_MAX:
        return f"{worst:,} formatting elements are left open"
    return None


def _without_opaque(text: str) -> str:
    """`text` without comments and the contents of elements that hold no tags, in linear time."""
    lower = text.lower() if text.isascii() else "".join(c.lower() if c.isascii() else c for c in text)
    parts, position = [], 0
    while (match := _OPAQUE.search(text, position)) is not None:
        parts.append(text[position : match.start()])
        closing = f"</{match[1].lower()}" if match[1] else "-->"
        end = lower.find(closing, match.end())
        if end < 0:
            return "".join(parts)
        position = end + len(closing)
    return "".join([*parts, text[position:]])
