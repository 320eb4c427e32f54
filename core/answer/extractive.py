"""An answer without a language model: the sentences of the released passages that cover the query best, quoted."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.answer.citations import parse_citations
from core.answer.quotable import quotable
from core.text import UNSPACED, query_tokens, tokens

MAX_SENTENCES = 3
MAX_CHARS = 300
MIN_COVERAGE = 0.4
"""Below it the best sentence says too little of what was asked to be shown as an answer."""

CONTEXT_SHARE = 0.5
"""What a query word counts that stands only in the heading or question above a sentence."""
RANK_BONUS = 0.1
"""Share of the whole that the first passage gains over one far down."""
NUMBER_BONUS = 0.1
"""For a number, where the query asks for one."""
LENGTH_MALUS = 0.1
"""For a sentence of MAX_CHARS or more."""
MIN_GAIN = 0.15
"""Share of the query a further sentence must add."""
SAME = 0.7
"""Jaccard similarity of tokens from which two sentences say the same."""

# Words that ask; between them and their neighbours no pair of characters means anything.
_ASKING = re.compile(
    "请问|請問|为什么|為什麼|为何|為何|什么|什麼|甚麼|怎么样|怎麼樣|怎么|怎麼|怎样|怎樣|如何|哪里|哪裡|哪裏|哪儿|哪些|哪个|哪個|哪"
    "|多少|多久|几个|幾個|几|幾|何时|何時|何地|何处|何處|何|谁|誰|是不是|是否|有没有|有沒有|吗|嗎|呢|是|的|了"
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|often|large|big|tall|high)\b|\bwhen\b|\b(?:what|which) (?:year|date|day|percent)"
    r"|多少|多久|多长|多長|多大|多高|多远|多遠|几|幾|何时|何時|什么时候|什麼時候|哪年|哪一年|哪天|哪一天|哪月",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[0-9０-９]|[一二三四五六七八九十百千万萬两兩][年月日个個人名次天周岁歲元%]|\b(?:two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve|hundred|thousand|million|billion)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"(?<=[，,;；:：、])\s*|\s+(?=[–—-]\s)")


@dataclass(frozen=True, slots=True)
class Extract:
    text: str
    """Each sentence followed by its `[n]`."""
    citations: tuple[int, ...]
    """Numbers of the passages quoted, from 1, in order of first appearance."""
    coverage: float
    """Share of the query, weighted by how rare its words are, that the sentences hold together; 0–1."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    passage: int
    terms: frozenset[str]
    parts: Mapping[str, float]
    """Query tokens it holds (1) or stands under (CONTEXT_SHARE)."""


def extract(
    query: str,
    passages: Sequence[str],
    *,
    max_sentences: int = MAX_SENTENCES,
    max_chars: int = MAX_CHARS,
    min_coverage: float = MIN_COVERAGE,
) -> Extract | None:
    """One to `max_sentences` sentences, best support first; None where they cover less than `min_coverage`.

    `passages` in their rank order; passage 1 is cited as `[1]`. A query word weighs by its idf over the sentences,
    `ln(1 + (N − n + ½)/(n + ½))`. The first sentence has the best coverage, with small bonuses for the passage's
    rank and, if the query asks for a number, for holding one; each further one must add words still uncovered.
    Sentences are quoted as they are, longer ones than `max_chars` cut at clauses and marked with `…`.
    """
    wanted = _wanted(query)
    candidates = _candidates(wanted, passages)
    weights = _weights(wanted, candidates)
    whole = math.fsum(weights.values())
    if not whole:
        return None
    number = bool(_ASKS_NUMBER.search(query))
    bonus = {id(item): _bonus(item, number, max_chars) for item in candidates}
    chosen: list[_Candidate] = []
    covered: dict[str, float] = {}
    while len(chosen) < max_sentences:
        best, best_score = None, 0.0
        for item in candidates:
            gain = _gain(item, covered, weights) / whole
            if gain <= 0 or (chosen and gain < MIN_GAIN) or any(_same(item, other) for other in chosen):
                continue
            if best is None or gain + bonus[id(item)] > best_score:
                best, best_score = item, gain + bonus[id(item)]
        if best is None:
            break
        chosen.append(best)
        covered = {term: max(covered.get(term, 0.0), best.parts.get(term, 0.0)) for term in weights}
    coverage = math.fsum(weights[term] * share for term, share in covered.items()) / whole
    if not chosen or coverage < min_coverage:
        return None
    return _written(chosen, wanted, weights, max_chars, len(passages), coverage)


def _wanted(query: str) -> list[str]:
    return query_tokens(_ASKING.sub(" ", query), stop_words=True) or query_tokens(query, stop_words=True)


def _candidates(wanted: Sequence[str], passages: Sequence[str]) -> list[_Candidate]:
    asked = frozenset(wanted)
    found = []
    for number, passage in enumerate(passages, start=1):
        for sentence in quotable(passage):
            terms = frozenset(tokens(sentence.text))
            parts = dict.fromkeys(asked & frozenset(tokens(sentence.context)), CONTEXT_SHARE)
            parts |= dict.fromkeys(asked & terms, 1.0)
            found.append(_Candidate(sentence.text, number, terms, parts))
    return found


def _weights(wanted: Sequence[str], candidates: Sequence[_Candidate]) -> dict[str, float]:
    counts = Counter(term for item in candidates for term in item.parts)
    total = len(candidates)
    return {term: math.log1p((total - counts[term] + 0.5) / (counts[term] + 0.5)) for term in wanted}


def _gain(item: _Candidate, covered: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return math.fsum(weights[term] * max(0.0, share - covered.get(term, 0.0)) for term, share in item.parts.items())


def _bonus(item: _Candidate, number: bool, max_chars: int) -> float:
    bonus = RANK_BONUS / item.passage - LENGTH_MALUS * min(1.0, len(item.text) / max_chars)
    return bonus + NUMBER_BONUS if number and _NUMBER.search(item.text) else bonus


def _same(item: _Candidate, other: _Candidate) -> bool:
    return len(item.terms & other.terms) >= SAME * len(item.terms | other.terms)


def _written(chosen,wanted,weights,max_chars,n,coverage):
    pieces=[f"{c.text[:max_chars]} [{c.passage}]" for c in chosen]
    return Extract(" ".join(pieces), tuple(dict.fromkeys(c.passage for c in chosen)), coverage)
