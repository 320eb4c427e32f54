from __future__ import annotations

import hashlib
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, UnreadableFile
from core.ingest.read import raw_file, read_file, safe_relative, walk
from core.settings import Limits

SMALL = Limits(file_max_bytes=10)


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def relatives(*paths: Path) -> list[str]:
    return [found.relative_path for found in walk(paths).files]


def test_a_folder_in_order_without_hidden_files_and_sidecars(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a/b/c.md", ".hidden.md", ".git/x.md", "b.md.meta.yaml", "b.md.meta.json", "a.md")
    assert relatives(tmp_path) == ["a.md", "a/b/c.md", "a/z.md", "b.md"]
    assert walk([tmp_path]).refused == ()


def test_a_file_goes_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a/z.md")
    assert relatives(tmp_path / "a" / "z.md") == ["z.md"]
    monkeypatch.chdir(tmp_path / "a")
    assert relatives(Path("z.md")) == ["z.md"]
    assert relatives(Path()) == ["z.md"]
    assert read_file(Path("z.md"), Path(), Limits()).relative_path == "z.md"


def test_the_same_file_twice_is_once_two_files_of_one_name_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a/x.md", "b/x.md")
    assert relatives(tmp_path / "a", tmp_path / "a" / "x.md") == ["x.md"]
    with pytest.raises(InputError, match=r"would both be 'x\.md'"):
        walk([tmp_path / "a", tmp_path / "b"])


def test_names_that_differ_only_in_normalisation_are_an_error(tmp_path: Path) -> None:
    write(tmp_path, "caf\u00e9.md", "cafe\u0301.md")
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system normalises names")
    with pytest.raises(InputError, match="would both be"):
        walk([tmp_path])


def test_what_is_refused_does_not_stop_the_rest(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(tmp_path, "secret.md", "root/a.md", "root/con.md", "root/sub/b.md", "root/new\nline.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "outside").symlink_to(tmp_path)
    (root / "loop.md").symlink_to(root / "loop.md")
    (root / "gone.md").symlink_to(root / "nowhere.md")
    (root / "inside.md").symlink_to(root / "sub" / "b.md")
    found = walk([root, tmp_path / "absent.md", root / "out.md"])
    assert [file.relative_path for file in found.files] == ["a.md", "inside.md", "sub/b.md"]
    reasons = {Path(error.path).name: error.reason for error in found.refused}
    assert set(reasons) == {"out.md", "outside", "loop.md", "gone.md", "con.md", "new\\nline.md", "absent.md"}
    assert "leads out" in reasons["out.md"]
    assert all("\n" not in error.line() for error in found.refused)


def test_a_sidecar_named_itself_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.md.meta.yaml")
    assert [error.reason for error in walk([tmp_path / "a.md.meta.yaml"]).refused] == ["holds metadata"]


@pytest.mark.parametrize(
    ("sidecar", "document", "meant"),
    [
        ("plan.meta.yaml", "plan.md", "plan.md.meta.yaml"),
        ("plan.htm.meta.yaml", "plan.html", "plan.html.meta.yaml"),
        ("plan.md.meta.yml", "plan.md", "plan.md.meta.yaml"),
        ("Plan.md.META.JSON", "plan.md", "plan.md.meta.json"),
    ],
)
def test_a_sidecar_gone_astray_and_its_document_are_refused(
    tmp_path: Path, sidecar: str, document: str, meant: str
) -> None:
    write(tmp_path, sidecar, document, "other.md", "other.md.meta.yaml")
    found = walk([tmp_path])
    assert [file.relative_path for file in found.files] == ["other.md"]
    refused = {Path(error.path).name: error.line() for error in found.refused}
    assert set(refused) == {sidecar, document}
    assert meant in refused[sidecar] and sidecar in refused[document]
    alone = walk([tmp_path / document, tmp_path / "other.md"])
    assert [file.relative_path for file in alone.files] == ["other.md"]
    assert [Path(error.path).name for error in alone.refused] == [document]


def test_a_sidecar_without_any_document(tmp_path: Path) -> None:
    write(tmp_path, "gone.md.meta.yaml", "a.md")
    found = walk([tmp_path])
    assert [file.relative_path for file in found.files] == ["a.md"]
    assert [error.remedy for error in found.refused] == ["name it FILE.meta.yaml, or remove it"]


def test_read(tmp_path: Path) -> None:
    write(tmp_path, "d/e\u0301.md")
    raw = read_file(tmp_path / "d" / "e\u0301.md", tmp_path, Limits())
    assert raw.relative_path == "d/é.md"
    assert raw.source_hash == hashlib.sha256(raw.data).hexdigest()
    assert raw.data.decode() == "d/e\u0301.md"


def test_reading_stays_in_the_root_and_within_the_limit(tmp_path: Path) -> None:
    write(tmp_path, "root/a.md", "secret.md", "root/long.md")
    root = tmp_path / "root"
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "long.md").write_bytes(b"x" * 11)
    (root / "exact.md").write_bytes(b"x" * 10)
    os.mkfifo(root / "pipe.md")
    for path, why in [
        (root / "out.md", "leads out"),
        (root / ".." / "secret.md", "leads out"),
        (root / "long.md", "larger than 10 bytes"),
        (root / "pipe.md", "not a regular file"),
        (root, "leads elsewhere|not a"),
        (root / "none.md", "No such file"),
    ]:
        with pytest.raises(UnreadableFile, match=why):
            read_file(path, root, SMALL)
    assert len(read_file(root / "exact.md", root, SMALL).data) == 10


def test_uploads_obey_the_same_rules() -> None:
    assert raw_file("a.md", b"x", SMALL).relative_path == "a.md"
    with pytest.raises(UnreadableFile, match="larger"):
        raw_file("a.md", b"x" * 11, SMALL)
    with pytest.raises(UnreadableFile, match="not a path"):
        raw_file("../a.md", b"x", SMALL)


@pytest.mark.parametrize(
    "name",
    [
        "../x", "a/../x", "..", ".", "", "/etc/passwd", "a//b", "a/./b", "\\\\host\\x", "a\\b", "C:/x", "c:x", "a\0.md",
        "a\nb", "a\u202eb.md", "a\u200bb.md", "CON", "nul.txt", "a/COM1.md", "lpt9", "\ud800.md", "x" * 256,
        "/".join(["x" * 200] * 6), " /x", "a/ ",
    ],
)  # fmt: skip
def test_names_that_no_document_has(name: str) -> None:
    with pytest.raises(UnreadableFile, match="not a path") as caught:
        safe_relative(name)
    assert caught.value.line().isprintable()


@pytest.mark.parametrize("name", ["a.md", "政策/退款.md", "a b/c: d.md", "console.md", "...md", "कक्\u200dष.md"])
def test_names_that_a_document_may_have(name: str) -> None:
    assert safe_relative(name) == name


@given(st.text(max_size=20))
def test_a_safe_name_stays_inside_and_is_stable(name: str) -> None:
    try:
        safe = safe_relative(name)
    except UnreadableFile:
        return
    assert unicodedata.is_normalized("NFC", safe) and safe_relative(safe) == safe
    assert os.path.normpath(os.path.join("/root", safe)).startswith("/root/")
