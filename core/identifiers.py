"""What a query asks for to the letter: identifiers, quoted phrases, short Chinese or Japanese queries.

A term matches whole only: `M4` is not in `M40`, `2.3.1` not in `2.3.10` or `1.2.3.1`; but a part of a path or a
dotted name is whole. Han, kana and Hangul set no spaces, so any neighbour of theirs will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

from core.folding import fold, fold_with_offsets, source_span
from core.tokens import UNSPACED, necessary_tokens, word_class

ExactKind = Literal["code", "version", "path", "name", "phrase"]


@dataclass(frozen=True, slots=True)
class ExactTerm:
    """Something to be found as it stands."""

    phrase: str
    """Folded, white space collapsed; of a version without the leading `v`."""
    source: str
    """As the query has it."""
    kind: ExactKind
    tokens: tuple[str, ...]
    """Every text that contains the term has each of these index tokens; never empty."""


PHRASE_MAX_CHARS = 300
"""Longer stretches are no terms: nobody repeats them to the letter, and the search for them must stay cheap."""

_QUOTED = re.compile('"([^"]+)"|「([^「」]+)」|『([^『』]+)』|《([^《》]+)》|«([^«»]+)»')
_STRETCH = re.compile(rf"[^\s\"'`<>(){{}}\[\],;|*、。！？；，「」『』《》«»{UNSPACED}]+")
_EDGE = ".:!?&@=/\\~…"
_SHORT_RUN = re.compile(rf"[\W_]*((?=[^\W_]*[{UNSPACED}])[^\W_]{{2,8}})[\W_]*")

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.")
_ROOTED = re.compile(r"(?:[A-Za-z]:|\.{1,2}|~)?[/\\]{1,2}[\w.~-]+[/\\.]?\w")
_SCOPED = re.compile(r"\w+(?:::\w+)+")
_FLAG = re.compile(r"--?[A-Za-z]\w*(?:-\w+)+|--[A-Za-z]\w+")

_COMPOUND = re.compile(r"\w+(?:[-.@]\w+)*(?:\+\+|#)?")
_VERSION = re.compile(r"[vV]?[0-9]+(?:\.[0-9]+){2,}|[vV][0-9]+(?:\.[0-9]+)+|[vV]?[0-9]+(?:\.[0-9]+)+-[A-Za-z][\w.-]*")
_LONG_NUMBER = re.compile(r"[0-9]{6,}|[0-9]+(?:-[0-9]+){2,}")
_QUANTITY = re.compile(r"[0-9]+[A-Za-z]{1,3}")
_ORDINAL = re.compile(r"[0-9]+(?:ST|ND|RD|TH|S)")
_CAMEL = re.compile(r"[a-z][A-Z]")
_SNAKE = re.compile(r"[^\W_]_+[^\W_]|^__\w+__$")


def exact_terms(query: str) -> tuple[ExactTerm, ...]:
    """The terms of a query, distinct, quoted phrases first, else in order of appearance."""
    cased, offsets = fold_with_offsets(query, keep_case=True)
    terms: dict[str, ExactTerm] = {}
    for start, end, kind in chain(_quoted(cased), _short_query(cased), _identifiers(cased)):
        first, last = source_span(query, offsets, start, end)
        phrase = " ".join(fold(cased[start:end]).split())
        if kind == "version":
            phrase = phrase.removeprefix("v")
        if len(phrase) > PHRASE_MAX_CHARS:
            continue
        tokens = necessary_tokens(phrase)
        if tokens and phrase not in terms:
            terms[phrase] = ExactTerm(phrase, query[first:last], kind, tokens)
    return tuple(terms.values())


def contains_exact(term: ExactTerm, folded_text: str) -> bool:
    """Whether text that went through `fold` has the term as a whole."""
    return next(_matches(term, _spaced(term, folded_text)), None) is not None


def count_exact(term: ExactTerm, folded_text: str) -> int:
    """How often text that went through `fold` has the term as a whole, without overlap."""
    return sum(1 for _ in _matches(term, _spaced(term, folded_text)))


def exact_spans(term: ExactTerm, folded_text: str) -> list[tuple[int, int]]:
    """Where `folded_text` has the term, in order, without overlap."""
    if " " not in term.phrase:
        return list(_matches(term, folded_text))
    words = [match.span() for match in re.finditer(r"\S+", folded_text)]
    offsets: list[int] = []
    for start, end in words:
        # One place for the space before each word but the first.
        offsets += range(start - 1 if offsets else start, end)
    found = _matches(term, " ".join(folded_text[start:end] for start, end in words))
    return [(offsets[start], offsets[end - 1] + 1) for start, end in found]


def _spaced(term: ExactTerm, text: str) -> str:
    return " ".join(text.split()) if " " in term.phrase else text


def _matches(term: ExactTerm, text: str) -> Iterator[tuple[int, int]]:
    phrase, place = term.phrase, 0
    opens_word = _is_word(phrase[0])
    while (start := text.find(phrase, place)) >= 0:
        end = start + len(phrase)
        if not _open_before(term, text, start):
            # No match can begin inside this word: go on after it, not one character further.
            run = _word_run().match(text, start) if opens_word else None
            place = run.end() if run else start + 1
        elif not _open_after(phrase, text, end):
            place = start + 1
        else:
            yield start, end
            place = end


def _open_before(term: ExactTerm, text: str, start: int) -> bool:
    if start == 0:
        return True
    phrase, before = term.phrase, text[start - 1]
    if term.kind == "version" and before == "v":
        return start == 1 or not _is_word(text[start - 2])
    if _is_word(before) and _is_word(phrase[0]):
        return False
    if before == "." and _is_digit(phrase[0]):
        return start == 1 or not _is_digit(text[start - 2])
    return not (_is_digit(before) and phrase[0] == "." and _is_digit(phrase[1:2]))


def _open_after(phrase: str, text: str, end: int) -> bool:
    if end == len(text):
        return True
    after = text[end]
    if _is_word(after) and _is_word(phrase[-1]):
        return False
    if after == "." and _is_digit(phrase[-1]):
        return not _is_digit(text[end + 1 : end + 2])
    return not (_is_digit(after) and phrase[-1] == "." and _is_digit(phrase[-2:-1]))


def _is_digit(character: str) -> bool:
    return "0" <= character <= "9"


@lru_cache(maxsize=1 << 12)
def _is_word(character: str) -> bool:
    return _word_run().match(character) is not None


@lru_cache(maxsize=1)
def _word_run() -> re.Pattern[str]:
    return re.compile(f"{word_class()}+")


def _quoted(cased: str) -> Iterator[tuple[int, int, ExactKind]]:
    for match in _QUOTED.finditer(cased):
        group = match.lastindex or 0
        inner = match[group]
        start = match.start(group) + len(inner) - len(inner.lstrip())
        if inner.strip():
            yield start, start + len(inner.strip()), "phrase"


def _short_query(cased: str) -> Iterator[tuple[int, int, ExactKind]]:
    match = _SHORT_RUN.fullmatch(cased)
    if match:
        yield match.start(1), match.end(1), "phrase"


def _identifiers(cased: str) -> Iterator[tuple[int, int, ExactKind]]:
    for match in _STRETCH.finditer(cased):
        start = match.start()
        stretch = match[0].rstrip(_EDGE)
        kind = _stretch_kind(stretch)
        if kind:
            yield start, start + len(stretch), kind
        for compound in _COMPOUND.finditer(stretch):
            for first, end, inner in _compound_terms(compound[0]):
                yield start + compound.start() + first, start + compound.start() + end, inner


def _stretch_kind(stretch: str) -> ExactKind | None:
    if _URI.match(stretch) or _ROOTED.match(stretch) or _is_relative_path(stretch):
        return "path"
    if _SCOPED.fullmatch(stretch) or _FLAG.fullmatch(stretch):
        return "name"
    return None


def _is_relative_path(stretch: str) -> bool:
    """`src/RefundService.java`, `a/b/c`; but not `and/or`, `24/7` or `km/h`."""
    parts = re.split(r"[/\\]", stretch)
    if len(parts) < 2 or not all(parts):
        return False
    telling = any(re.search(r"[._]", part) or _CAMEL.search(part) for part in parts)
    return len(parts) > 2 or (telling and not all(part.replace(".", "").isdigit() for part in parts))


def _compound_terms(compound: str) -> Iterator[tuple[int, int, ExactKind]]:
    kind = _kind(compound)
    if kind:
        yield 0, len(compound), kind
        return
    for atom in re.finditer(r"\w+", compound):
        inner = _kind(atom[0])
        if inner and atom[0] != compound:
            yield atom.start(), atom.end(), inner


def _kind(compound: str) -> ExactKind | None:
    if _VERSION.fullmatch(compound):
        return "version"
    if _LONG_NUMBER.fullmatch(compound) or _is_code(compound):
        return "code"
    return "name" if _is_name(compound) else None


def _is_code(compound: str) -> bool:
    """`M4`, `ABC123`, `ERR-4012`, `utf-8`; but not `1st`, `10kg` or `14-year-old`."""
    digits = any(map(str.isdigit, compound))
    if "." in compound or "@" in compound or not (digits and any(map(str.isalpha, compound))):
        return False
    if "-" not in compound:
        return not (_QUANTITY.fullmatch(compound) and (compound.islower() or _ORDINAL.fullmatch(compound)))
    first, _, rest = compound.partition("-")
    return any(map(str.isupper, compound)) or (first[0].isalpha() and any(map(str.isdigit, rest)))


def _is_name(compound: str) -> bool:
    """CamelCase, snake_case, dotted names, addresses, `C++`; but not `e.g`, `U.S` or `2.5kg`."""
    if compound[-1] in "+#" or _SNAKE.search(compound) or _CAMEL.search(compound):
        return True
    *first, last = re.split("[.@]", compound)
    return bool(first) and not compound[0].isdigit() and len(last) > 1 and any(map(str.isalpha, last))
