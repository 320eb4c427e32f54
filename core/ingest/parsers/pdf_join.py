"""Lines to running text: words broken at a line's end made whole, CJK text without spaces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from core.ingest.parsers.pdf_words import CJK, HYPHEN

_LEADERS = re.compile(r"(?:[.…·․]\s*){4,}")
_HYPHENS = f"-\u00ad\u2010{HYPHEN}"
_BROKEN = re.compile(rf"([^\W\d_]+(?:-[^\W\d_]+)*)[{_HYPHENS}]$")
_REST = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_NO_SPACE_BEFORE = re.compile(f"[{CJK}]")
_NO_SPACE_AFTER = re.compile(f"[{CJK}]$")
_CJK_MARK_END = re.compile("[\u3001-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]$")
_CJK_MARK_START = re.compile("[\u3001-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]")

Vocabulary = Counter[str]
"""How often each word stands whole, lower case, compounds with their hyphens."""


def vocabulary_of(lines: Iterable[str]) -> Vocabulary:
    """All words but those at a line's end that may go on."""
    words: Vocabulary = Counter()
    for line in lines:
        words.update(word.lower().replace("\u2010", "-") for word in _WORD.findall(line))
    return words


def join_lines(lines: Sequence[str], vocabulary: Vocabulary | None = None, breaks: Collection[int] = ()) -> str:
    """One text; a line break stays before the lines numbered in `breaks`."""
    text = ""
    for number, line in enumerate(lines):
        line = _LEADERS.sub("… ", line).strip()
        if not text:
            text = line
        elif number in breaks:
            text = f"{_with_hyphen(text)}\n{line}"
        else:
            text = _joined(text, line, vocabulary or Counter())
    return _with_hyphen(text).replace(HYPHEN, "-")


def goes_on(line: str) -> bool:
    """Whether a line ends within a word."""
    return bool(_BROKEN.search(line))


def _joined(text: str, line: str, vocabulary: Vocabulary) -> str:
    broken, rest = _BROKEN.search(text), _REST.match(line)
    if broken and rest:
        whole, compound = broken[1] + rest.group(), f"{broken[1]}-{rest.group()}"
        seen_whole, seen_compound = (vocabulary[word.lower()] for word in (whole, compound))
        # Unknown to the text: what goes on in small letters was most likely parted for the line's sake.
        keep = seen_compound > seen_whole or (seen_compound == seen_whole and not rest.group()[0].islower())
        return text[:-1] + ("-" if keep else "") + line
    if text[-1] in _HYPHENS and line[:1].isalnum() and text[-2:-1].isalnum():
        return f"{text[:-1]}-{line}"
    return text + ("" if _are_close(text, line) else " ") + line


def _are_close(text: str, line: str) -> bool:
    if _CJK_MARK_END.search(text) or _CJK_MARK_START.match(line):
        return True
    return bool(_NO_SPACE_AFTER.search(text) and _NO_SPACE_BEFORE.match(line))


def _with_hyphen(text: str) -> str:
    return f"{text[:-1]}-" if text.endswith((HYPHEN, "\u00ad")) else text
