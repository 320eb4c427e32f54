from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import MetadataError
from core.ingest.metadata import (
    KEYS,
    DocumentMetadata,
    combine,
    head,
    marking,
    read_front_matter,
    read_mapping,
    unread_labels,
)
from core.ingest.metadata_files import read_sidecar, read_table
from core.types import Labels, Relation

ALL: dict[str, Any] = {
    "knowledge_id": "refunds",
    "revision": "1.10",
    "revised_at": "2026-01-31",
    "status": "deprecated",
    "valid_until": "2026-12-31T18:00:00+08:00",
    "classification": "internal",
    "acl_allow": ["staff", "user:ann", "staff"],
    "acl_deny": ["interns"],
    "inherits_from": "handbook.md",
    "owner": "Ann",
    "quality": "87.5",
    "source_uri": "https://example.org/refunds",
    "relations": [{"type": "depends_on", "target": "limits"}],
    "title": "  Refund   policy ",
    "language": "en",
}
READ = DocumentMetadata(
    knowledge_id="refunds",
    revision="1.10",
    revised_at=datetime(2026, 1, 31, tzinfo=UTC),
    status="deprecated",
    valid_until=datetime(2026, 12, 31, 10, tzinfo=UTC),
    classification="internal",
    acl_allow=("staff", "user:ann"),
    acl_deny=("interns",),
    inherits_from="handbook.md",
    owner="Ann",
    quality=87.5,
    source_uri="https://example.org/refunds",
    relations=(Relation("depends_on", "limits"),),
    title="Refund policy",
    language="en",
)


def test_every_key() -> None:
    assert set(ALL) == set(KEYS)
    assert read_mapping(ALL, "a") == READ
    assert READ.labels() == Labels("internal", ("staff", "user:ann"), ("interns",), "handbook.md")
    assert DocumentMetadata().labels() == Labels()


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("revised_at", date(2026, 1, 31), datetime(2026, 1, 31, tzinfo=UTC)),
        ("revised_at", datetime(2026, 1, 31, 9), datetime(2026, 1, 31, 9, tzinfo=UTC)),
        (
            "revised_at",
            datetime(2026, 1, 31, 9, tzinfo=timezone(timedelta(hours=1))),
            datetime(2026, 1, 31, 8, tzinfo=UTC),
        ),
        ("revised_at", "2026-01-31T09:00:00Z", datetime(2026, 1, 31, 9, tzinfo=UTC)),
        ("revised_at", "2026-01-31 09:00", datetime(2026, 1, 31, 9, tzinfo=UTC)),
        ("revision", 3, "3"),
        ("revision", date(2026, 1, 31), "2026-01-31"),
        ("acl_allow", "staff; user:ann, audit", ("audit", "staff", "user:ann")),
        ("acl_allow", "*", ("*",)),
        ("acl_deny", [], ()),
        ("quality", 0, 0.0),
        ("quality", "100", 100.0),
        (
            "relations",
            "depends_on:a/b.md; see:https://x.org",
            (Relation("depends_on", "a/b.md"), Relation("see", "https://x.org")),
        ),
        ("relations", '[{"type": "see", "target": "x"}]', (Relation("see", "x"),)),
        ("knowledge_id", "e\u0301", "é"),
    ],
)
def test_accepted_values(key: str, value: Any, expected: Any) -> None:
    assert getattr(read_mapping({key: value}, "a"), key) == expected


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("classification", "secret"),
        ("classification", "Public"),
        ("classification", 1),
        ("classification", ["public"]),
        ("acl_allow", []),
        ("acl_allow", " ; "),
        ("acl_allow", {"a": 1}),
        ("acl_allow", ["staff", 3]),
        ("acl_allow", ["user:*"]),
        ("acl_deny", ["in\u200bterns"]),
        ("acl_deny", [""]),
        ("acl_deny", 7),
        ("inherits_from", 1.5),
        ("revision", 1.1),
        ("revision", True),
        ("status", "active!"),
        ("status", "expired"),
        ("quality", 101),
        ("quality", "-1"),
        ("quality", "nan"),
        ("quality", True),
        ("quality", "high"),
        ("valid_until", "soon"),
        ("valid_until", 20260131),
        ("valid_until", "2026-13-01"),
        ("valid_until", "0001-01-01T00:00:00+14:00"),
        ("relations", [{"type": "see"}]),
        ("relations", [{"type": "see", "target": "x", "note": "y"}]),
        ("relations", "just words"),
        ("relations", "[not json"),
        ("title", ["x"]),
        ("owner", "x" * 2_001),
    ],
)
def test_refused_values_name_file_and_key(key: str, value: Any) -> None:
    with pytest.raises(MetadataError, match=rf"^folder/a\.md: {key}"):
        read_mapping({key: value}, "folder/a.md")


@pytest.mark.parametrize("key", ["classification", "acl_allow", "acl_deny", "inherits_from", "status", "valid_until"])
@pytest.mark.parametrize("value", [None, ""])
def test_what_restricts_may_not_be_left_without_a_value(key: str, value: Any) -> None:
    with pytest.raises(MetadataError, match="has no value"):
        read_mapping({key: value}, "a")


def test_other_keys_without_a_value_are_not_stated() -> None:
    assert read_mapping({"title": None, "owner": ""}, "a") == DocumentMetadata()


def test_an_unknown_key_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(MetadataError) as caught:
        read_mapping({"acl_denny": ["x"]}, "a.meta.yaml")
    assert "a.meta.yaml: unknown key 'acl_denny'" in caught.value.line()
    assert "did you mean acl_deny?" in caught.value.remedy and "knowledge_id" in caught.value.remedy


def test_front_matter_may_serve_other_tools() -> None:
    found = {"title": "T", "author": "x", "tags": [], "layout": "post", "allow_comments": "yes", 3: "x"}
    metadata, warnings = read_front_matter(found, "a.md")
    assert metadata == DocumentMetadata(title="T")
    assert warnings == ("front matter keys not used: author, tags, layout, allow_comments, 3",)


@pytest.mark.parametrize(
    "key",
    [
        "acl_denny",
        "acl-deny",
        "ACL_DENY",
        "acl",
        "acldeny",
        "Classification",
        "clasification",
        "inherit_from",
        "inherits",
        "statuss",
        "valid_untill",
        "valid-until",
        "deny",
        "allow",
        "classified",
    ],
)
def test_a_misspelt_label_in_front_matter_never_goes_unnoticed(key: str) -> None:
    with pytest.raises(MetadataError, match="looks misspelt"):
        read_front_matter({key: "x"}, "a.md")


def test_precedence_key_by_key() -> None:
    table = DocumentMetadata(title="table", acl_deny=())
    sidecar = DocumentMetadata(title="sidecar", owner="sidecar", acl_deny=("x",))
    front = DocumentMetadata(title="front", owner="front", revision="1", quality=0.0)
    assert combine(table, sidecar, None, front) == DocumentMetadata(
        title="table", owner="sidecar", revision="1", quality=0.0, acl_deny=()
    )
    assert combine() == DocumentMetadata()


VALUES = st.none() | st.text(max_size=8) | st.integers() | st.floats() | st.booleans() | st.lists(st.text(max_size=3))


@given(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_any_mapping_is_read_or_refused(found: dict[str, Any]) -> None:
    try:
        metadata = read_mapping(found, "a")
    except MetadataError:
        return
    assert metadata.quality is None or 0 <= metadata.quality <= 100
    assert metadata.acl_allow != ()


# files


def test_sidecars(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    assert read_sidecar(document) is None
    yaml_file = tmp_path / "a.md.meta.yaml"
    yaml_file.write_text("revision: 1.10\nacl_deny: [no]\nrevised_at: 2026-01-31\n")
    expected = DocumentMetadata(revision="1.10", acl_deny=("no",), revised_at=datetime(2026, 1, 31, tzinfo=UTC))
    assert read_sidecar(document) == expected
    (tmp_path / "a.md.meta.json").write_text("{}")
    with pytest.raises(MetadataError, match="two sidecars"):
        read_sidecar(document)
    yaml_file.unlink()
    assert read_sidecar(document) == DocumentMetadata()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md.meta.yaml", "acl_deny: [x"),
        ("a.md.meta.yaml", "acl_deny: [x]\nacl_deny: []"),
        ("a.md.meta.yaml", "- x"),
        ("a.md.meta.yaml", "author: x"),
        ("a.md.meta.yaml", ""),
        ("a.md.meta.json", '{"acl_deny": ["x"], "acl_deny": []}'),
        ("a.md.meta.json", "[" * 100_000),
        ("a.md.meta.json", '{"revision": 1.10}'),
    ],
)
def test_bad_sidecars(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(MetadataError, match=r"a\.md\.meta"):
        read_sidecar(tmp_path / "a.md")


def test_a_sidecar_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.md.meta.yaml").symlink_to(tmp_path / "nowhere.yaml")
    os.mkfifo(tmp_path / "b.md.meta.json")
    (tmp_path / "c.md.meta.json").mkdir()
    for name, why in [("a.md", "No such file"), ("b.md", "not a regular file"), ("c.md", "not a regular file")]:
        with pytest.raises(MetadataError, match=why):
            read_sidecar(tmp_path / name)


EXPECTED = {
    "a.md": DocumentMetadata(classification="internal", acl_allow=("audit", "staff"), revision="1.0"),
    "b/é.md": DocumentMetadata(title="B"),
}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "m.csv",
            "path,classification,acl_allow,revision,title\na.md,internal,staff;audit,1.0,\n\n./b/e\u0301.md,,,,B\n",
        ),
        ("m.csv", 'path;classification;acl_allow;revision;title\na.md;internal;"staff;audit";1.0;\nb/é.md;;;;B\n'),
        (
            "m.jsonl",
            '{"path": "a.md", "classification": "internal", '
            '"acl_allow": ["staff", "audit"], "revision": "1.0"}\n\n'
            '{"path": "b/é.md", "title": "B"}\n',
        ),
        (
            "m.yaml",
            "a.md:\n  classification: internal\n  acl_allow: [staff, audit]\n  revision: 1.0\nb/é.md: {title: B}\n",
        ),
        (
            "m.yml",
            "- path: a.md\n  classification: internal\n  acl_allow: staff, audit\n  revision: 1.0\n"
            "- {path: b/é.md, title: B}\n",
        ),
        (
            "m.json",
            json.dumps(
                {
                    "a.md": {"classification": "internal", "acl_allow": ["staff", "audit"], "revision": "1.0"},
                    "b/é.md": {"title": "B"},
                }
            ),
        ),
    ],
)
def test_tables(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    assert read_table(tmp_path / name) == EXPECTED


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("m.csv", "path,acl_denny\na.md,x\n", "unknown column 'acl_denny'"),
        ("m.csv", "path,title,title\na.md,x,y\n", "stands twice"),
        ("m.csv", "name,title\na.md,x\n", "unknown column"),
        ("m.csv", "title\nx\n", "no column `path`"),
        ("m.csv", "path,acl_allow\na.md,staff,audit\n", "line 2: more cells"),
        ("m.csv", "path,title\na.md,x\na.md,y\n", "stands twice"),
        ("m.csv", "path,title\n,x\n", "no path"),
        ("m.csv", 'path,title\na.md,"x\n', "m.csv, line"),
        ("m.csv", "path,quality\na.md,200\n", "line 2: quality"),
        ("m.jsonl", '{"path": "a.md"}\n{"path":\n', "m.jsonl: not readable as JSON: line 2, column 9: expecting value"),
        ("m.jsonl", '{"title": "x"}\n', "line 1: no path"),
        ("m.jsonl", '{"path": "a.md", "acl_deny": ["x"], "acl_deny": []}\n', "stands twice"),
        ("m.yaml", "a.md: x\n", "no table"),
        ("m.yaml", "a.md: {path: b.md}\n", "path of its own"),
        ("m.yaml", "a.md: {title: x}\na.md: {title: y}\n", "stands twice"),
        ("m.yaml", "a.md: {titel: x}\n", "a.md: unknown key 'titel'"),
        ("m.txt", "x", "no kind of metadata file"),
        ("m.csv", "", "empty"),
        ("m.csv", "path\0,title of it\n" * 9, "not a text file"),
    ],
)
def test_bad_tables(tmp_path: Path, name: str, content: str, why: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(MetadataError, match=why):
        read_table(tmp_path / name)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MetadataError, match="No such file"):
        read_table(tmp_path / "m.csv")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("---\nclassification: restricted\n---\nText", "classification"),
        ("\n---\ntitle: x\nacl_deny: [a]\n---\nText", "acl_deny"),
        ('+++\nclassification = "restricted"\n+++\nText', "classification"),
        ("---\nstatus: revoked\n", "status"),
        ("---\ntitle: x\n---\nclassification: is explained below", None),
        ("Classification\n---\nclassification: of fish", None),
        ("classification: restricted\nText", "classification"),
        ("\ufefftitle: x\r\nacl_allow: hr\r\n", "acl_allow"),
        ("\n\nowner:\ninherits_from: b.md", "inherits_from"),
        ("title: x\n\nclassification: of fish", None),
        ("note: see below\nOf fish:\nclassification: of fish", None),
        ("valid_until: see below", None),
        ("Text", None),
        ("", None),
    ],
)
def test_labels_at_the_top_that_no_parser_read_are_noticed(text: str, key: str | None) -> None:
    assert unread_labels(text) == key


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Plan\n\nClassification: Confidential.\n", "confidential"),
        ("  classification：RESTRICTED", "restricted"),
        ("Classification: of fish", None),
        ("The classification: restricted", None),
        ("", None),
    ],
)
def test_a_marking_is_a_line_of_its_own(text: str, level: str | None) -> None:
    assert marking(text) == level


def test_the_head_of_a_file_is_read_in_its_encoding() -> None:
    text = "classification: restricted\n"
    assert [head(text.encode(coding)) for coding in ("utf-8", "utf-8-sig", "utf-16")] == [text] * 3
    assert unread_labels(head(bytes(range(256)) * 100)) is None
