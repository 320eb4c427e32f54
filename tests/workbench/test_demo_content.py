"""The demo collection and its eval set as data: well-formed, consistent with each other, and worth showing."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "workbench" / "demo"
DOCUMENTS = DEMO / "documents"
EVAL_SET = ROOT / "eval_sets" / "demo"

SIDECAR = ".meta.yaml"
LEVELS = ("public", "internal", "confidential", "restricted")
KINDS = {"answerable", "unanswerable", "expired", "conflict", "forbidden"}
METADATA_KEYS = {
    "knowledge_id", "revision", "revised_at", "status", "valid_until", "classification", "acl_allow", "acl_deny",
    "inherits_from", "owner", "quality", "source_uri", "relations",
}  # fmt: skip
QUESTION_KEYS = {"id", "question", "language", "kind", "as", "evidence", "answer", "tags"}
EVIDENCE_KEYS = {"document", "quote", "occurrence", "grade"}
SIMPLIFIED, TRADITIONAL = set("为发对时还这门员车单"), set("為發對時還這門員車單")


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    match = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    assert match, "no front matter"
    return yaml.safe_load(match[1]), text[match.end() :]


def load_documents() -> dict[str, tuple[dict[str, Any], str]]:
    """Path under `documents/` -> (metadata, text without metadata)."""
    found = {}
    for file in sorted(DOCUMENTS.rglob("*")):
        if file.is_dir() or file.name.endswith(SIDECAR):
            continue
        text = file.read_text("utf-8")
        sidecar = file.with_name(file.name + SIDECAR)
        pair = (yaml.safe_load(sidecar.read_text("utf-8")), text) if sidecar.exists() else split_front_matter(text)
        found[file.relative_to(DOCUMENTS).as_posix()] = pair
    return found


def load_questions() -> list[dict[str, Any]]:
    lines = (EVAL_SET / "questions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


DOCS = load_documents()
META: Mapping[str, dict[str, Any]] = {path: metadata for path, (metadata, _) in DOCS.items()}
QUESTIONS = load_questions()
PRINCIPALS: Mapping[str, dict[str, Any]] = tomllib.loads((DEMO / "principals.toml").read_text("utf-8"))
COLLECTION = tomllib.loads((DEMO / "collection.toml").read_text("utf-8"))


def permitted(path: str, name: str) -> bool:
    """Labels alone: level, allow list and denials of the document and of every parent."""
    person = PRINCIPALS[name]
    tokens = {"*", f"user:{name}", *person["groups"]}
    metadata = META[path]
    parent = metadata.get("inherits_from")
    above = META[parent] if parent else {}
    level, allow = (metadata.get(key, above.get(key)) for key in ("classification", "acl_allow"))
    own = (
        LEVELS.index(str(level)) <= LEVELS.index(person["clearance"])
        and bool(tokens & set(allow or ()))
        and not tokens & set(metadata.get("acl_deny", ()))
    )
    return own and (parent is None or permitted(parent, name))


def expired(path: str) -> bool:
    until = META[path].get("valid_until")
    return isinstance(until, date) and until < datetime.now(UTC).date()


def findable(path: str, name: str) -> bool:
    """Permitted, active, valid, and no newer active revision is permitted."""
    if META[path]["status"] != "active" or expired(path) or not permitted(path, name):
        return False
    family = [
        other
        for other in META
        if META[other]["knowledge_id"] == META[path]["knowledge_id"]
        and META[other]["status"] == "active"
        and permitted(other, name)
    ]
    return max(family, key=lambda other: META[other]["revised_at"]) == path


def sections(path: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n(?=#)", DOCS[path][1])]


@pytest.mark.parametrize("path", DOCS)
def test_metadata_are_well_formed(path: str) -> None:
    metadata = META[path]
    assert set(metadata) <= METADATA_KEYS
    assert {"knowledge_id", "revision", "revised_at", "status", "owner", "source_uri"} <= set(metadata)
    assert metadata["status"] in {"active", "deprecated", "revoked"}
    assert metadata.get("classification", "public") in LEVELS
    assert isinstance(metadata["revision"], str)
    assert isinstance(metadata["revised_at"], date)
    assert metadata.get("inherits_from", path) in META
    assert {"classification", "acl_allow"} <= set(metadata) or "inherits_from" in metadata
    assert 0 <= metadata.get("quality", 0) <= 100
    for relation in metadata.get("relations", ()):
        assert set(relation) == {"type", "target"}
        assert relation["target"] in META


def test_sidecars_belong_to_a_document() -> None:
    for sidecar in DOCUMENTS.rglob(f"*{SIDECAR}"):
        assert sidecar.with_name(sidecar.name.removesuffix(SIDECAR)).exists()


def test_formats_and_scripts() -> None:
    assert {path.rsplit(".", 1)[-1] for path in DOCS} == {"md", "html", "csv", "jsonl", "txt"}
    scripts: Counter[str] = Counter()
    for _, text in DOCS.values():
        simplified, traditional = (sum(text.count(char) for char in chars) for chars in (SIMPLIFIED, TRADITIONAL))
        if simplified + traditional < 20:
            scripts["en"] += 1
        elif not min(simplified, traditional):
            scripts["zh-Hans" if simplified else "zh-Hant"] += 1
    assert scripts["en"] >= 8
    assert scripts["zh-Hans"] >= 3
    assert scripts["zh-Hant"] >= 2


def test_tables_parse() -> None:
    rows = list(csv.reader(DOCS["products/parts-prices.csv"][1].splitlines()))
    assert len(rows) > 20
    assert {len(row) for row in rows} == {8}
    assert len({row[0] for row in rows}) == len(rows)
    tickets = [json.loads(line) for line in DOCS["support/tickets.jsonl"][1].splitlines()]
    assert len({ticket["ticket"] for ticket in tickets}) == len(tickets)
    assert len({tuple(ticket) for ticket in tickets}) == 1


def test_life_cycle_is_shown() -> None:
    assert Counter(metadata["status"] for metadata in META.values())["deprecated"] == 1
    assert Counter(metadata["status"] for metadata in META.values())["revoked"] == 1
    assert [path for path in META if expired(path)] == ["notices/winter-hours-2024-25.txt"]
    families = Counter(metadata["knowledge_id"] for metadata in META.values())
    assert [name for name, count in families.items() if count > 1] == ["KB-REFUNDS"]
    assert "three working days" in DOCS["policies/refunds.md"][1]
    assert "seven working days" in DOCS["policies/archive/refunds-2024.md"][1]
    assert META["policies/refunds.md"]["revised_at"] > META["policies/archive/refunds-2024.md"]["revised_at"]


def test_duplicates_are_shown() -> None:
    shared = set(sections("policies/travel.md")) & set(sections("workshop/battery-handling.md"))
    assert len(shared) == 1
    assert len(shared.pop()) > 600
    first, second = (
        next(part for part in DOCS[path][1].split("\n\n") if part.startswith("When a priority-one alert"))
        for path in ("runbooks/payments.md", "runbooks/on-call.md")
    )
    assert first != second
    assert first.replace("within 10 minutes", "within 15 minutes") == second


def test_principals() -> None:
    assert {"default", "ann", "bo", "guest", "dora"} <= set(PRINCIPALS)
    for person in PRINCIPALS.values():
        assert set(person) == {"groups", "clearance", "roles"}
        assert person["clearance"] in LEVELS
        assert set(person["roles"]["demo"]) <= {"reader", "owner", "evaluator", "auditor"}
        assert not any(group == "*" or group.startswith("user:") for group in person["groups"])


def test_everybody_sees_something_else() -> None:
    views = {name: frozenset(path for path in META if permitted(path, name)) for name in PRINCIPALS}
    assert views["default"] == views["ann"]
    assert len(set(views.values())) == len(views) - 1
    assert frozenset.union(*views.values()) == set(META)
    assert views["guest"] < views["ann"] < views["bo"]
    assert "support/tickets.jsonl" not in views["dora"]
    assert [name for name in PRINCIPALS if "hr/salary-bands.md" in views[name]] == ["mei"]
    hidden_by_parent = "finance/2026-10-06-vendor-call.md"
    assert META[hidden_by_parent]["classification"] == "public"
    assert [name for name in PRINCIPALS if hidden_by_parent in views[name]] == ["bo"]


def test_collection() -> None:
    assert set(COLLECTION) == {"name", "description", "examples"}
    assert COLLECTION["name"] == "demo"
    assert len(COLLECTION["examples"]) == 8
    by_text = {question["question"]: question for question in QUESTIONS}
    for example in COLLECTION["examples"]:
        assert by_text[example]["as"] == "ann"
        assert by_text[example]["kind"] == "answerable"
        assert "example" in by_text[example]["tags"]


def test_eval_set_description() -> None:
    content = tomllib.loads((EVAL_SET / "set.toml").read_text("utf-8"))
    assert set(content) == {"name", "description", "tags"}
    assert content["name"] == "demo"


def test_questions_are_distinct_and_of_every_kind() -> None:
    assert len(QUESTIONS) >= 40
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert len({question["question"] for question in QUESTIONS}) == len(QUESTIONS)
    assert {question["kind"] for question in QUESTIONS} == KINDS
    assert {question["language"] for question in QUESTIONS} == {"en", "zh-Hans", "zh-Hant"}


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
def test_question_agrees_with_the_documents(question: dict[str, Any]) -> None:
    assert set(question) == QUESTION_KEYS
    assert question["as"] in PRINCIPALS
    kind, paths = question["kind"], [item["document"] for item in question["evidence"]]
    for item in question["evidence"]:
        assert set(item) == EVIDENCE_KEYS
        assert item["grade"] >= 1
        assert DOCS[item["document"]][1].count(item["quote"]) >= item["occurrence"] >= 1
    assert bool(paths) == (kind != "unanswerable")
    assert bool(question["answer"]) == (kind in {"answerable", "conflict"})
    if kind in {"answerable", "conflict"}:
        assert all(findable(path, question["as"]) for path in paths)
    if kind == "conflict":
        assert len(set(paths)) >= 2
    if kind == "expired":
        assert all(expired(path) and permitted(path, question["as"]) for path in paths)
    if kind == "forbidden":
        assert not any(permitted(path, question["as"]) for path in paths)


def test_most_quotes_are_unique_in_their_document() -> None:
    quotes = [(item["document"], item["quote"]) for question in QUESTIONS for item in question["evidence"]]
    repeated = [pair for pair in quotes if DOCS[pair[0]][1].count(pair[1]) > 1]
    assert len(repeated) <= 2, repeated
