"""An answer without a language model: the sentences of the released passages that cover the query best, quoted."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.answer.citations import parse_citations, without_marks
from core.answer.clip import clip
from core.answer.quotable import quotable
from core.text import UNSPACED, query_tokens, tokens

MAX_SENTENCES = 3
MAX_CHARS = 300
MIN_COVERAGE = 0.4
"""Below it the sentences say too little of what was asked to be shown as an answer."""

HEADING_SHARE = 0.7
"""What a query word counts that stands only in the heading or question above a sentence."""
PREVIOUS_SHARE = 0.5
"""What it counts if it stands only in the sentence before: `it` and `this` point there."""
RANK_BONUS = 0.2
"""Share of the whole that the first passage gains, the second half of it, the third a third, …"""
NUMBER_BONUS = 0.15
"""For a number, where the query asks for one."""
MIN_GAIN = 0.08
"""Share of the query that a further sentence must add …"""
MIN_COMMON = 0.4
"""… while covering at least this much of what the first covers: else it is about something else."""
SAME = 0.7
"""Jaccard similarity of tokens from which two sentences say the same."""

# Words that ask; a pair of characters across the edge of one means nothing.
_ASKING = re.compile(
    "请问|請問|为什么|為什麼|为何|為何|什么|什麼|甚麼|怎么样|怎麼樣|怎么|怎麼|怎样|怎樣|如何|哪里|哪裡|哪裏|哪儿|哪些|哪个"
    "|哪個|哪|多少|多久|几个|幾個|几|幾|何时|何時|何地|何处|何處|谁|誰|是不是|是否|有没有|有沒有|吗|嗎|呢|是|的|了"
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|often|large|big|tall|high)\b|\bwhen\b|\b(?:what|which) (?:year|date|day|percent)"
    r"|多少|多久|多长|多長|多大|多高|多远|多遠|几|幾|何时|何時|什么时候|什麼時候|哪年|哪一年|哪天|哪一天|哪月",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"[0-9０-９]|[一二三四五六七八九十百千万萬两兩][年月日个個人名次天周岁歲元%]"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion)\b",
    re.IGNORECASE,
)
_STATEMENT = re.compile(r"[.。!！][\"'”’」』)）]*$")
_UNSPACED_STOP = re.compile(f"[{UNSPACED}。！？；」』）】][…”’]*$")


@dataclass(frozen=True, slots=True)
class Extract:
    text: str
    """Each sentence followed by its `[n]`."""
    citations: tuple[int, ...]
    """Numbers of the passages quoted, from 1, in order of first appearance."""
    coverage: float
    """Share of the query, each word weighted by how rare it is, that the sentences hold together; 0–1."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    passage: int
    terms: frozenset[str]
    held: Mapping[str, float]
    """Query tokens in it (1) or above it (HEADING_SHARE): what counts for whether to answer."""
    hinted: Mapping[str, float]
    """The same, and those of the sentence before (PREVIOUS_SHARE) or, for a table row, of its header (1): what counts
    for which sentence is best."""


def extract(
    query: str,
    passages: Sequence[str],
    *,
    max_sentences: int = MAX_SENTENCES,
    max_chars: int = MAX_CHARS,
    min_coverage: float = MIN_COVERAGE,
) -> Extract | None:
    """One to `max_sentences` sentences, best support first; None where they cover less than `min_coverage`.

    `passages` in rank order; the first is cited as `[1]`. A query word weighs by how few sentences hold it, `1 + ln(1
    + (N − n + ½)/(n + ½))`. The first sentence has the best coverage, with a bonus for its passage's rank and, if the
    query asks for a number, for holding one; a further one must add what is not yet covered and be about the same.
    Sentences are quoted as they stand, white space collapsed, and the source's own `[1]` marks and inline markup
    removed; of one longer than `max_chars` the best clauses. A table row is one, its cells parted by ` | `. Coverage
    says that the question's words are there, not that the answer is.
    """
    wanted = _wanted(query)
    candidates = _candidates(wanted, frozenset(tokens(query)), passages)
    weights = _weights(wanted, candidates)
    if not candidates or not weights:
        return None
    whole = math.fsum(weights.values())
    chosen = _choose(candidates, weights, whole, bool(_ASKS_NUMBER.search(query)), max_sentences)
    if not chosen:
        return None
    held: dict[str, float] = {}
    for item in chosen:
        held = _united(held, item.held)
    coverage = _weigh(held, weights) / whole
    if coverage < min_coverage:
        return None
    citations = tuple(dict.fromkeys(item.passage for item in chosen))
    return Extract(_written(chosen, weights, max_chars, len(passages)), citations, coverage)


def _wanted(query: str) -> list[str]:
    return query_tokens(_ASKING.sub(" ", query), stop_words=True) or query_tokens(query, stop_words=True)


def _candidates(wanted: Sequence[str], asked: frozenset[str], passages: Sequence[str]) -> list[_Candidate]:
    """All sentences but those that only echo the query, as a title does."""
    terms_wanted = frozenset(wanted)
    found = []
    for number, passage in enumerate(passages, start=1):
        before: frozenset[str] = frozenset()
        for sentence in quotable(passage):
            terms = frozenset(tokens(sentence.text))
            above = terms_wanted.intersection(tokens(f"{sentence.context} {sentence.header}"))
            held = {**dict.fromkeys(above, HEADING_SHARE), **dict.fromkeys(terms_wanted & terms, 1.0)}
            hinted = _united(dict.fromkeys(before, PREVIOUS_SHARE), held)
            if sentence.header and terms_wanted & terms:
                # A row about what is asked says its columns' names with its cells. Whether that suffices for an
                # answer is another matter: half of a table's rows are about something that was asked.
                hinted |= dict.fromkeys(terms_wanted.intersection(tokens(sentence.header)), 1.0)
            if terms - asked or _STATEMENT.search(sentence.text):
                found.append(_Candidate(sentence.text, number, terms, held, hinted))
            before = terms_wanted & terms
    return found


def _weights(wanted: Sequence[str], candidates: Sequence[_Candidate]) -> dict[str, float]:
    """A word in all sentences is still asked for, so it keeps 1; one in none counts as rare, not as rarer than rare."""
    counts = Counter(term for item in candidates for term in item.held if term in item.terms)
    total = len(candidates)
    seen = {term: max(1, counts[term]) for term in wanted}
    return {term: 1.0 + math.log1p(max(0.0, total - n + 0.5) / (n + 0.5)) for term, n in seen.items()}


def _choose(
    candidates: Sequence[_Candidate], weights: Mapping[str, float], whole: float, number: bool, most: int
) -> list[_Candidate]:
    """Greedy: each time what adds most, bonuses included; ties to the earlier passage and sentence."""
    chosen: list[_Candidate] = []
    covered: dict[str, float] = {}
    while len(chosen) < most:
        best, best_score = None, 0.0
        for item in candidates:
            gain = (_weigh(_united(covered, item.hinted), weights) - _weigh(covered, weights)) / whole
            if gain <= 0 or not item.held or (chosen and not _supports(item, chosen, gain, weights)):
                continue
            score = gain + RANK_BONUS / item.passage + (NUMBER_BONUS if number and _NUMBER.search(item.text) else 0.0)
            if score > best_score:
                best, best_score = item, score
        if best is None:
            break
        chosen.append(best)
        covered = _united(covered, best.hinted)
    return chosen


def _supports(item: _Candidate, chosen: Sequence[_Candidate], gain: float, weights: Mapping[str, float]) -> bool:
    first = chosen[0].hinted
    common = {term: min(share, first[term]) for term, share in item.hinted.items() if term in first}
    on_subject = _weigh(common, weights) >= MIN_COMMON * _weigh(first, weights)
    return gain >= MIN_GAIN and on_subject and not any(_same(item, other) for other in chosen)


def _same(item: _Candidate, other: _Candidate) -> bool:
    return len(item.terms & other.terms) >= SAME * len(item.terms | other.terms)


def _weigh(shares: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return math.fsum(weights[term] * share for term, share in shares.items())


def _united(a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
    return {**a, **{term: max(share, a.get(term, 0.0)) for term, share in b.items()}}


def _written(chosen: Sequence[_Candidate], weights: Mapping[str, float], max_chars: int, passages: int) -> str:
    expected = [(item.passage,) for item in chosen]
    text = ""
    for plain in (False, True):
        pieces = []
        for item in chosen:
            whole = without_marks(item.text.replace("`", "").replace("~~~", "")) if plain else item.text
            sentence = clip(whole, weights, max_chars)
            pieces.append(f"{sentence}{'' if _UNSPACED_STOP.search(sentence) else ' '}[{item.passage}]")
        text = " ".join(pieces)
        # A backtick left open in a sentence can make code of the marks after it: then all go.
        if [mark.numbers for mark in parse_citations(text, passages).marks] == expected:
            break
    return text
