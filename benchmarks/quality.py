"""Ranking quality beside LanceDB's own hybrid search, over the public sets at hand.

    python benchmarks/quality.py [--json FILE]

Every figure is a mean over queries with a relevant document, with a 95 % bootstrap interval. LanceDB is measured twice:
with rows in the order of the corpus file and in a random order. Where texts tie, its result follows the order of the
rows; rgb-en lists true passages before their edited copies, so the order of its file is worth some points.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks import lance_hybrid
from benchmarks.metrics import holm, interval, mrr, ndcg, permutation_p, recall
from benchmarks.sets import SETS, Array, Corpus, read_corpus, read_judgments, shared_data
from core.ranking import rank_batch
from core.settings import Retrieval, Settings, load

DEPTH = 100
SEED = 20260601
OVER_LANCEDB = 0.02
LEAST_BM25 = {"cranfield-en": 0.525, "stard-zh": 0.465}
COMPARED = ("cranfield-en", "rgb-en", "stard-zh")
CHANNELS = ("bm25", "bm25 + feedback", "exact + bm25", "dense")
Rankings = dict[str, list[str]]


def systems() -> dict[str, Retrieval]:
    """Our configurations by name; single channels have the values of `measured`."""
    measured = load([], {"WORKBENCH_RETRIEVAL__PRESET": "measured"})
    classic = load([], {"WORKBENCH_RETRIEVAL__PRESET": "classic"})

    def alone(settings: Settings, channels: tuple[str, ...], feedback: int = 0) -> Retrieval:
        return settings.with_retrieval(channels=channels, mmr=False, feedback_documents=feedback).retrieval

    return {
        "bm25": alone(measured, ("bm25",)),
        "bm25 + feedback": alone(measured, ("bm25",), measured.retrieval.feedback_documents),
        "exact + bm25": alone(measured, ("exact", "bm25")),
        "dense": alone(measured, ("dense",)),
        "classic": classic.retrieval,
        "measured": measured.retrieval,
    }


def our_rankings(corpus: Corpus, settings: Retrieval) -> Rankings:
    queries = list(corpus.queries)
    vectors = corpus.query_vectors if "dense" in settings.channels else None
    texts = [corpus.queries[query] for query in queries]
    found = rank_batch(corpus.candidates, texts, vectors, settings, DEPTH)
    return {query: corpus.documents_of(ranking) for query, ranking in zip(queries, found, strict=True)}


def lance_rankings(corpus: Corpus, chinese: bool, order: Array) -> tuple[Rankings, int]:
    """Rankings, and how many queries raised and were asked again without punctuation."""
    ids = [corpus.ids[row] for row in order]
    texts = [corpus.texts[row] for row in order]
    raised = 0
    rankings: Rankings = {}
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = "icu" if chinese else "simple"
        table = lance_hybrid.make_table(Path(folder), ids, texts, corpus.vectors[order], tokenizer=tokenizer)
        for (query, text), vector in zip(corpus.queries.items(), corpus.query_vectors, strict=True):
            rankings[query], again = lance_hybrid.search_forgiving(table, text, vector, DEPTH)
            raised += again
    return rankings, raised


def score(rankings: Rankings, judgments: Mapping[str, Mapping[str, int]]) -> dict[str, Array]:
    """Values by metric, one a judged query, in the order of `judgments`."""
    pairs = [(rankings[query], grades) for query, grades in judgments.items()]
    return {
        "nDCG@10": np.array([ndcg(ranking, grades, 10) for ranking, grades in pairs], np.float64),
        "recall@10": np.array([recall(ranking, grades, 10) for ranking, grades in pairs], np.float64),
        "MRR@10": np.array([mrr(ranking, grades, 10) for ranking, grades in pairs], np.float64),
    }


def agreement_with_ranx(
    rankings: Rankings, judgments: Mapping[str, Mapping[str, int]], ours: Mapping[str, Array]
) -> float:
    """The largest difference of a value from ranx's on the same rankings."""
    from ranx import Qrels, Run, evaluate

    judged = {q: {d: g for d, g in grades.items() if g > 0} for q, grades in judgments.items()}
    run = {q: {d: float(len(rankings[q]) - at) for at, d in enumerate(rankings[q])} or {"": 0.0} for q in judgments}
    names = {"nDCG@10": "ndcg@10", "recall@10": "recall@10", "MRR@10": "mrr@10"}
    worst = 0.0
    for name, theirs in names.items():
        scores = Run(run)
        evaluate(Qrels(judged), scores, theirs)
        values = scores.scores[theirs]
        worst = max(worst, max(abs(values[q] - ours[name][at]) for at, q in enumerate(judgments)))
    return worst


def measure() -> dict[str, Any]:
    """Values by set, system and metric."""
    found: dict[str, Any] = {}
    corpora: dict[str, tuple[Corpus, dict[str, Rankings], dict[str, int]]] = {}
    for item in SETS:
        folder = shared_data() / item.folder
        if not folder.is_dir():
            print(f"{item.name}: not at hand ({folder})", file=sys.stderr)
            continue
        if item.folder not in corpora:
            corpora[item.folder] = _run_all(read_corpus(folder), item.folder, item.chinese)
        corpus, rankings, raised = corpora[item.folder]
        judgments = read_judgments(folder / item.judgments, corpus, item.first)
        values = {name: score(ranking, judgments) for name, ranking in rankings.items()}
        found[item.name] = {
            "values": values,
            "raised": raised,
            "ranx": agreement_with_ranx(rankings["measured"], judgments, values["measured"]),
        }
    return found


def _run_all(corpus: Corpus, name: str, chinese: bool) -> tuple[Corpus, dict[str, Rankings], dict[str, int]]:
    rankings, raised = {}, {}
    for system, settings in systems().items():
        started = time.perf_counter()
        rankings[system] = our_rankings(corpus, settings)
        print(f"{name}: {system} {time.perf_counter() - started:.1f} s", file=sys.stderr)
    count = len(corpus.ids)
    orders = {"LanceDB": np.arange(count), "LanceDB, rows shuffled": np.random.default_rng(SEED).permutation(count)}
    for system, order in orders.items():
        started = time.perf_counter()
        rankings[system], raised[system] = lance_rankings(corpus, chinese, order)
        print(f"{name}: {system} {time.perf_counter() - started:.1f} s", file=sys.stderr)
    return corpus, rankings, raised


def report(found: Mapping[str, Any]) -> None:
    for name, entry in found.items():
        count = len(entry["values"]["measured"]["nDCG@10"])
        print(f"\n{name}: {count} queries; largest difference from ranx {entry['ranx']:.1e}")
        for system, metrics in entry["values"].items():
            cells = [f"{metric} {_cell(values)}" for metric, values in metrics.items()]
            again = f"  ({entry['raised'][system]} queries raised)" if entry["raised"].get(system) else ""
            print(f"  {system:24} {'   '.join(cells)}{again}")


def verdicts(found: Mapping[str, Any]) -> list[tuple[bool, str]]:
    def mean(name: str, system: str) -> float:
        return float(found[name]["values"][system]["nDCG@10"].mean())

    lines = []
    compared = [name for name in COMPARED if name in found]
    ours = float(np.mean([mean(name, "measured") for name in compared]))
    for system in ("LanceDB", "LanceDB, rows shuffled"):
        theirs = float(np.mean([mean(name, system) for name in compared]))
        line = f"mean nDCG@10 over {', '.join(compared)}: measured {ours:.4f}, {system} {theirs:.4f}"
        lines.append(
            (ours >= theirs + OVER_LANCEDB, f"{line}, difference {ours - theirs:+.4f} (wanted: +{OVER_LANCEDB})")
        )
    for name, least in LEAST_BM25.items():
        if name in found:
            lines.append(
                (mean(name, "bm25") >= least, f"BM25 alone on {name}: {mean(name, 'bm25'):.4f} (wanted: {least})")
            )
    return lines + _against_channels(found)


def _against_channels(found: Mapping[str, Any]) -> list[tuple[bool, str]]:
    """`measured` against each set's best single channel: paired sign-flip permutation, Holm over the sets."""
    rows = []
    for name, entry in found.items():
        values = {system: metrics["nDCG@10"] for system, metrics in entry["values"].items()}
        best = max(CHANNELS, key=lambda system: float(values[system].mean()))
        difference = values["measured"] - values[best]
        rows.append((name, best, difference, permutation_p(difference, SEED)))
    lines = []
    for (name, best, difference, _), p in zip(rows, holm([row[3] for row in rows]), strict=True):
        low, high = interval(difference, SEED)
        text = f"{name}: measured − {best} = {difference.mean():+.4f} [{low:+.4f}, {high:+.4f}], p {p:.4f}"
        lines.append((not (difference.mean() < 0 and p < 0.05), text))
    return lines


def _cell(values: Array) -> str:
    low, high = interval(values, SEED)
    return f"{values.mean():.4f} [{low:.3f}, {high:.3f}]"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write all means and intervals here")
    options = parser.parse_args(arguments)
    found = measure()
    if not found:
        print("no data set at hand: name the folder that holds `data` in WORKBENCH_SHARED", file=sys.stderr)
        return 2
    report(found)
    print()
    for holds, line in verdicts(found):
        print(f"{'holds' if holds else 'FAILS'}  {line}")
    if options.json:
        table = {
            name: {
                system: {metric: [float(v.mean()), *interval(v, SEED), len(v)] for metric, v in metrics.items()}
                for system, metrics in entry["values"].items()
            }
            for name, entry in found.items()
        }
        options.json.write_text(json.dumps(table, indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
