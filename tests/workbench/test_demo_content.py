"""The demo collection and its eval set as data: well-formed, consistent with each other, and worth showing."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.ingest.metadata import KEYS
from core.ingest.parse import parse_file
from core.ingest.read import RawFile, safe_relative
from core.ports import ParsedDocument

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "workbench" / "demo"
DOCUMENTS = DEMO / "documents"
EVAL_SET = ROOT / "eval_sets" / "demo"

SIDECAR = ".meta.yaml"
LEVELS = ("public", "internal", "confidential", "restricted")
KINDS = {"answerable", "unanswerable", "expired", "conflict", "forbidden"}
FORMATS = {"md", "txt", "html", "csv", "tsv", "json", "jsonl", "pdf", "docx", "xlsx", "pptx", "epub", "eml"}
QUESTION_KEYS = {"id", "question", "language", "kind", "as", "evidence", "answer", "tags"}
EVIDENCE_KEYS = {"document", "quote", "occurrence", "grade"}
SIMPLIFIED, TRADITIONAL = set("为发对时还这门员车单"), set("為發對時還這門員車單")


def list_documents() -> dict[str, Path]:
    files = sorted(file for file in DOCUMENTS.rglob("*") if file.is_file() and not file.name.endswith(SIDECAR))
    return {safe_relative(file.relative_to(DOCUMENTS).as_posix()): file for file in files}


def read_metadata(file: Path) -> dict[str, Any]:
    sidecar = file.with_name(file.name + SIDECAR)
    if sidecar.exists():
        found = yaml.safe_load(sidecar.read_text("utf-8"))
    else:
        match = re.match(r"---\n(.*?)\n---\n", file.read_text("utf-8"), re.DOTALL)
        assert match, f"{file}: neither sidecar nor front matter"
        found = yaml.safe_load(match[1])
    assert isinstance(found, dict)
    return found


FILES = list_documents()
META: Mapping[str, dict[str, Any]] = {path: read_metadata(file) for path, file in FILES.items()}
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (EVAL_SET / "questions.jsonl").read_text("utf-8").splitlines()
]
PRINCIPALS: Mapping[str, dict[str, Any]] = tomllib.loads((DEMO / "principals.toml").read_text("utf-8"))
COLLECTION = tomllib.loads((DEMO / "collection.toml").read_text("utf-8"))


@cache
def parsed(path: str) -> ParsedDocument:
    return parse_file(RawFile(path, FILES[path].read_bytes(), ""))


def text(path: str) -> str:
    return parsed(path).text


def permitted(path: str, name: str) -> bool:
    """Labels alone: every level, allow list and denial that the document and its parents state."""
    person, metadata = PRINCIPALS[name], META[path]
    tokens = {"*", f"user:{name}", *person["groups"]}
    own = (
        LEVELS.index(metadata.get("classification", "public")) <= LEVELS.index(person["clearance"])
        and bool(tokens & set(metadata.get("acl_allow", tokens)))
        and not tokens & set(metadata.get("acl_deny", ()))
    )
    return own and ("inherits_from" not in metadata or permitted(metadata["inherits_from"], name))


def expired(path: str) -> bool:
    until = META[path].get("valid_until")
    return isinstance(until, date) and until <= datetime.now(UTC).date()


def in_force(path: str, name: str) -> bool:
    """Active, valid, and the newest such revision that `name` may see."""
    family = [
        other
        for other, metadata in META.items()
        if metadata["knowledge_id"] == META[path]["knowledge_id"]
        and metadata["status"] == "active"
        and not expired(other)
        and permitted(other, name)
    ]
    return path in family and max(family, key=lambda other: META[other]["revised_at"]) == path


def sections(path: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n(?=#)", text(path))]


@pytest.mark.parametrize("path", META)
def test_metadata_are_well_formed(path: str) -> None:
    metadata = META[path]
    assert set(metadata) <= set(KEYS)
    assert {"knowledge_id", "revision", "revised_at", "status", "owner", "source_uri"} <= set(metadata)
    assert metadata["status"] in {"active", "deprecated", "revoked"}
    assert metadata.get("classification", "public") in LEVELS
    assert isinstance(metadata["revision"], str)
    assert isinstance(metadata["revised_at"], date)
    assert metadata["revised_at"] <= date(2026, 12, 1)
    assert metadata.get("inherits_from", path) in META
    assert {"classification", "acl_allow"} <= set(metadata) or "inherits_from" in metadata
    assert 0 <= metadata.get("quality", 0) <= 100
    for relation in metadata.get("relations", ()):
        assert set(relation) == {"type", "target"}
        assert relation["target"] in META


@pytest.mark.parametrize("path", META)
def test_documents_are_read(path: str) -> None:
    assert len(text(path)) > 400
    assert len(parsed(path).blocks) >= 2
    old_encoding = path in {"notices/仓库盘点通知.txt", "notices/安平店搬遷公告.txt"}
    assert any(warning.startswith("read as ") for warning in parsed(path).warnings) == old_encoding


def test_sidecars_belong_to_a_document() -> None:
    for sidecar in DOCUMENTS.rglob(f"*{SIDECAR}"):
        assert sidecar.with_name(sidecar.name.removesuffix(SIDECAR)).exists()


def test_formats_and_scripts() -> None:
    assert len(META) >= 60
    assert {path.rsplit(".", 1)[-1] for path in META} == FORMATS
    scripts: Counter[str] = Counter()
    for path in META:
        simplified, traditional = (sum(map(text(path).count, chars)) for chars in (SIMPLIFIED, TRADITIONAL))
        if simplified + traditional < 10:
            scripts["en"] += 1
        elif not min(simplified, traditional):
            scripts["zh-Hans" if simplified else "zh-Hant"] += 1
    assert scripts["en"] >= 40
    assert scripts["zh-Hans"] >= 8
    assert scripts["zh-Hant"] >= 6


def test_tables_parse() -> None:
    rows = list(csv.reader(FILES["products/parts-prices.csv"].read_text("utf-8").splitlines()))
    assert len(rows) > 20
    assert {len(row) for row in rows} == {8}
    assert len({row[0] for row in rows}) == len(rows)
    tickets = [json.loads(line) for line in FILES["support/tickets.jsonl"].read_text("utf-8").splitlines()]
    assert len({ticket["ticket"] for ticket in tickets}) == len(tickets)
    assert len({tuple(ticket) for ticket in tickets}) == 1


def test_life_cycle_is_shown() -> None:
    states = Counter(metadata["status"] for metadata in META.values())
    assert states["deprecated"] == 2
    assert states["revoked"] == 1
    assert {"notices/winter-hours-2024-25.txt", "notices/summer-hours-2026.txt", "notices/元宵夜騎-2026.html"} == {
        path for path in META if expired(path)
    }
    families = Counter(metadata["knowledge_id"] for metadata in META.values())
    shared = {"KB-REFUNDS", "KB-TRAVEL", "KB-WARRANTY", "KB-PARTS-PRICES", "KB-RUNBOOK-BOOKINGS"}
    assert {name for name, count in families.items() if count > 1} == shared
    assert "three working days" in text("policies/refunds.md")
    assert "seven working days" in text("policies/archive/refunds-2024.md")
    assert META["policies/refunds.md"]["revised_at"] > META["policies/archive/refunds-2024.md"]["revised_at"]


def test_duplicates_are_shown() -> None:
    shared = set(sections("policies/travel.md")) & set(sections("workshop/battery-handling.md"))
    assert len(shared) == 1
    assert len(shared.pop()) > 600
    first, second = (
        next(part for part in text(path).split("\n\n") if part.startswith("When a priority-one alert"))
        for path in ("runbooks/payments.md", "runbooks/on-call.md")
    )
    assert first != second
    assert first.replace("within 10 minutes", "within 15 minutes") == second
    assert FILES["workshop/safety-check.txt"].read_bytes() == FILES["shop/safety-check.txt"].read_bytes()
    assert permitted("shop/safety-check.txt", "guest") and not permitted("workshop/safety-check.txt", "guest")
    staff, contractors = text("policies/passwords.md"), text("partners/passwords-contractors.md")
    assert 0.6 < SequenceMatcher(None, staff, contractors, autojunk=False).ratio() < 0.95


def test_principals() -> None:
    assert {"default", "ann", "bo", "mei", "guest", "dora"} <= set(PRINCIPALS)
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
    assert {"support/tickets.jsonl", "support/回覆範本.json"}.isdisjoint(views["dora"])
    assert "meetings/2026-10-19-people-move.md" in views["ann"] - views["mei"]
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
    assert len(QUESTIONS) >= 160
    assert [question["id"] for question in QUESTIONS] == [f"q{n:02d}" for n in range(1, len(QUESTIONS) + 1)]
    assert len({question["question"] for question in QUESTIONS}) == len(QUESTIONS)
    assert {question["kind"] for question in QUESTIONS} == KINDS
    shares = {name: count / len(QUESTIONS) for name, count in Counter(q["language"] for q in QUESTIONS).items()}
    assert shares == pytest.approx({"en": 0.45, "zh-Hans": 0.35, "zh-Hant": 0.2}, abs=0.03)


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
def test_question_agrees_with_the_documents(question: dict[str, Any]) -> None:
    assert set(question) == QUESTION_KEYS
    name, kind = question["as"], question["kind"]
    assert name in PRINCIPALS
    paths = [item["document"] for item in question["evidence"]]
    for item in question["evidence"]:
        assert set(item) == EVIDENCE_KEYS
        assert item["grade"] in (1, 2)
        assert text(item["document"]).count(item["quote"]) >= item["occurrence"] >= 1
    assert bool(paths) == (kind != "unanswerable")
    assert bool(question["answer"]) == (kind in {"answerable", "conflict"})
    if kind in {"answerable", "conflict"}:
        assert all(in_force(path, name) for path in paths)
    if kind == "conflict":
        assert len(set(paths)) >= 2
        assert len({META[path]["knowledge_id"] for path in paths}) >= 2
    if kind == "expired":
        assert all(permitted(path, name) and not in_force(path, name) for path in paths)
    if kind == "forbidden":
        assert not any(permitted(path, name) for path in paths)


def test_most_quotes_are_unique_in_their_document() -> None:
    quotes = [(item["document"], item["quote"]) for question in QUESTIONS for item in question["evidence"]]
    repeated = [pair for pair in quotes if text(pair[0]).count(pair[1]) > 1]
    assert len(repeated) <= 2, repeated
