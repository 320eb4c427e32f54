"""Tokens: what BM25 counts, of texts and of queries alike."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

import numpy as np

from core.folding import fold, fold_keeping_case

TOKENIZER_VERSION = 1
"""Raised with every change of rules, so that stored postings are built anew."""

UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf"
    "\u1000-\u103f\u1050-\u109f\u1100-\u11ff\u1780-\u17d3\u17d7\u17dc"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u3096\u3099\u309a\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Inside of a regular-expression class: Han, kana, bopomofo, Hangul, Thai, Lao, Khmer, Myanmar; indexed by n-grams."""

_EMOJI = "\u231a-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_COMPOUND_MAX_CHARS = 100

STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn did didn do does doesn doing don done down during each either etc ever
    few for from further had hadn has hasn have haven having he her here hers herself him himself his how however i if
    in into is isn it its itself just let may me might more most much must my myself neither no nor not of off on once
    only or other ought our ours ourselves out over own per same shall shan she should shouldn since so some such than
    that the their theirs them themselves then there therefore these they this those though through thus to too under
    until up upon us very was wasn we were weren what when where whether which while who whom whose why will with
    within without won would wouldn yet you your yours yourself yourselves""".split()
)
_OPERATORS = frozenset({"AND", "OR", "NOT"})
_CONTRACTION = re.compile(r"(?<=\w)['’](?:s|t|d|m|re|ve|ll)\b", re.IGNORECASE)

_ASCII_PIECE = re.compile(r"\w+(?:[-.&@]\w+)*(?:\+\+|#)?", re.ASCII)
_RUN = re.compile(f"[{UNSPACED}]+")
_PAIR = re.compile(f"(?=([{UNSPACED}]{{2}}))")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s$)")
_LETTERS_DIGITS = re.compile(r"([^\W\d_]{3,})(\d+)|(\d+)([^\W\d_]{2,})")


def tokens(text: str) -> list[str]:
    """What is counted of a text, with repeats.

    A word gives its English stem; a compound (`max_retry_count`, `RefundService`, `ERR-4012`) also itself and its
    parts; a version one token; a run of Han, kana or Hangul its characters and pairs; an emoji itself.
    """
    if text.isascii():
        return list(chain.from_iterable(map(_word_tokens, _ASCII_PIECE.findall(text))))
    cased = fold_keeping_case(text)
    found = list(chain.from_iterable(map(_word_tokens, _word_piece().findall(cased))))
    found += chain.from_iterable(_RUN.findall(cased))
    found += _PAIR.findall(cased)
    return found


def query_tokens(text: str, *, stop_words: bool) -> list[str]:
    """The distinct tokens of a query in order of first appearance; empty for a query without words.

    `stop_words`: leave out English function words while other words remain. One in capitals in a query that is not
    all capitals (`the WHO guideline`), or beside Chinese (`IT部门`), is a name and stays.
    """
    if stop_words:
        text = _CONTRACTION.sub(" ", text)
    cased = fold_keeping_case(text)
    stop_words = stop_words and _RUN.search(cased) is None
    shouting = cased == cased.upper()
    kept: dict[str, None] = {}
    stopped: dict[str, None] = {}
    for token, start, end in token_spans(cased):
        surface = cased[start:end]
        name = surface.isupper() and len(surface) > 1 and not shouting and surface not in _OPERATORS
        stop = stop_words and not name and surface.lower() in STOP_WORDS
        (stopped if stop else kept)[token] = None
    return list(kept or stopped)


def token_spans(cased: str) -> Iterator[tuple[str, int, int]]:
    """The tokens of text that went through `fold_keeping_case`, each with its span there, in order."""
    for match in _piece().finditer(cased):
        piece, start = match[0], match.start()
        if _RUN.match(piece):
            yield from _run_spans(piece, start)
        else:
            for token, first, end in _word_spans(piece):
                yield token, start + first, start + end


def necessary_tokens(phrase: str) -> tuple[str, ...]:
    """Tokens that every text has which contains the folded `phrase` as whole words, in order, distinct.

    Compounds and parts are left out: in the text the phrase may be part of a larger compound, or written in other case.
    """
    found: list[str] = []
    for match in _piece().finditer(phrase):
        piece = match[0]
        if _RUN.match(piece):
            found += _PAIR.findall(piece) or [piece]
        else:
            found += (unit["number"] or _stem(unit[0]) for unit in _unit().finditer(piece) if unit[0].strip("_"))
    return tuple(dict.fromkeys(found))


def word_class() -> str:
    """Regular expression for one character of a word in a script that sets spaces, marks included."""
    return f"(?:[^\\W{UNSPACED}]|[{_marks()}])"


@lru_cache(maxsize=1)
def tokenizer_fingerprint() -> str:
    """Equal for two installations exactly if they tokenise alike; part of the name of stored postings."""
    import opencc
    import Stemmer

    parts = (TOKENIZER_VERSION, unicodedata.unidata_version, opencc.__version__, Stemmer.version())
    return "-".join(map(str, parts))


def _run_spans(run: str, start: int) -> Iterator[tuple[str, int, int]]:
    for index, character in enumerate(run, start):
        yield character, index, index + 1
        if index - start + 1 < len(run):
            yield run[index - start : index - start + 2], index, index + 2


@lru_cache(maxsize=1 << 17)
def _word_tokens(piece: str) -> tuple[str, ...]:
    return tuple(token for token, _, _ in _word_spans(piece))


@lru_cache(maxsize=1 << 16)
def _word_spans(piece: str) -> tuple[tuple[str, int, int], ...]:
    """Tokens of one piece (words joined by `- . & @`), the whole first, each with its span in the piece."""
    units = list(_unit().finditer(piece))
    if not units:
        return () if piece.strip("_+#") == "" and piece.isascii() else ((piece, 0, len(piece)),)
    spans: list[tuple[str, int, int]] = []
    if len(units) > 1 and len(piece) <= _COMPOUND_MAX_CHARS and (whole := _compound(fold(piece))):
        spans.append((whole, 0, len(piece)))
    for unit in units:
        if unit["number"]:
            spans.append((unit["number"], unit.start(), unit.end()))
        else:
            spans += _atom_spans(unit[0], unit.start())
    if piece[-1] in "+#" and len(units) == 1:
        spans.append((fold(piece), 0, len(piece)))
    return tuple(spans)


def _compound(piece: str) -> str | None:
    """The token of a whole compound.

    Hyphenated plain words are found by their parts, which ranks best; only where a part is a single letter
    (`e-mail`, `x-ray`) do they also count as written together.
    """
    parts = piece.split("-")
    if not all(part.isalpha() for part in parts):
        return piece
    return _stem("".join(parts)) if min(map(len, parts)) == 1 else None


def _atom_spans(atom: str, offset: int) -> list[tuple[str, int, int]]:
    """A word of letters, digits and underscores: itself, and its parts where it has several."""
    parts = [
        (offset + start + first, offset + start + end)
        for start, stop in _split_at(atom, [m.span() for m in re.finditer("_+", atom)])
        for first, end in _split_part(atom[start:stop])
    ]
    if not parts:
        return []
    whole = (_stem(fold(atom)), offset, offset + len(atom))
    if parts == [(offset, offset + len(atom))]:
        return [whole]
    pieces = ((atom[first - offset : end - offset], first, end) for first, end in parts)
    return [whole, *((_stem(fold(part)), first, end) for part, first, end in pieces if len(part) > 1)]


def _split_at(atom: str, gaps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The non-empty stretches of `atom` between `gaps`."""
    starts = [0, *(end for _, end in gaps)]
    ends = [*(start for start, _ in gaps), len(atom)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def _split_part(part: str) -> list[tuple[int, int]]:
    """Split at case change, and between digits and letters where neither side is too short to stand alone."""
    cuts = [match.start() for match in _CAMEL.finditer(part)]
    spans: list[tuple[int, int]] = []
    for start, end in _split_at(part, [(cut, cut) for cut in cuts]):
        mixed = _LETTERS_DIGITS.fullmatch(part, start, end)
        if mixed:
            middle = mixed.end(1) if mixed[1] else mixed.end(3)
            spans += [(start, middle), (middle, end)]
        else:
            spans.append((start, end))
    return spans


def _stem(word: str) -> str:
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    import Stemmer

    # A stemmer is not safe to share between threads; results are cached by piece, so a new one costs little.
    return str(Stemmer.Stemmer("english", 0).stemWord(word))


@lru_cache(maxsize=1)
def _marks() -> str:
    """Combining marks that folding keeps (Arabic, Indic, …), as the inside of a regular-expression class."""
    unspaced = re.compile(f"[{UNSPACED}]")
    codes = [
        code
        for code in range(0x300, 0x1E950)
        if unicodedata.category(chr(code))[0] == "M" and fold(chr(code)) and not unspaced.match(chr(code))
    ]
    runs: list[list[int]] = []
    for code in codes:
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in runs)


def _atom() -> str:
    letters = f"[^\\W{UNSPACED}]"
    return f"{letters}+(?:[{_marks()}]+{letters}*)*"


@lru_cache(maxsize=1)
def _word_piece() -> re.Pattern[str]:
    atom = _atom()
    return re.compile(rf"{atom}(?:[-.&@]{atom})*(?:\+\+|#)?|[\U0001f1e6-\U0001f1ff]{{2}}|[{_EMOJI}]")


@lru_cache(maxsize=1)
def _piece() -> re.Pattern[str]:
    return re.compile(f"{_word_piece().pattern}|{_RUN.pattern}")


@lru_cache(maxsize=1)
def _unit() -> re.Pattern[str]:
    return re.compile(rf"[vV]?(?P<number>[0-9]+(?:\.[0-9]+)+)(?!{word_class()})|{_atom()}")


@lru_cache(maxsize=1 << 16)
def term_hash(term: str) -> np.uint64:
    """64 bits that stand for a term in postings (two terms of a million collide with odds of 3e-8)."""
    digest = hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))
