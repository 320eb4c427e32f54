from __future__ import annotations

import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableFile
from core.ingest.parsers.zip_guard import ENTRIES_MAX, RATIO_FREE_BYTES, open_container, parse_xml
from tests.support.office import OLE, archive


def read_all(path: str, data: bytes, names: Sequence[str]) -> None:
    container = open_container(path, data)
    for name in names:
        container.read(name)


def refused(data: bytes, message: str, read: str = "") -> None:
    with pytest.raises(UnreadableFile, match=message) as caught:
        read_all("folder/x.docx", data, (read,) if read else ())
    assert caught.value.path == "folder/x.docx" and caught.value.message.isprintable()


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8})?", fullmatch=True), st.binary(max_size=200), min_size=1, max_size=6
    )
)
def test_what_is_packed_comes_out(files: dict[str, bytes]) -> None:
    container = open_container("x", archive(files))
    assert container.names == tuple(files)
    assert {name: container.read(name) for name in container.names} == files


def test_backslashes_part_folders_and_folders_are_no_files() -> None:
    container = open_container("x", archive({"word/": "", "word\\a.xml": "<a/>"}))
    assert container.names == ("word/a.xml",)
    assert container.xml("word/a.xml").tag == "a"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (OLE, "protected by a password or an old Office format"),
        (b"%PDF-1.7\n", "it is a PDF"),
        (b"{\\rtf1 x}", "it is an RTF document"),
        (b"\n<html>", "it is HTML or XML"),
        (b"plain words", "not what its extension says"),
        (archive({}), "an empty archive"),
        (archive({"a": "x" * 9000})[:50], "damaged or cut short"),
        (archive({"a": "x" * 9000})[:-8], "damaged or cut short"),
    ],
)
def test_what_is_no_whole_archive(data: bytes, message: str) -> None:
    refused(data, message)


def test_every_way_of_cutting_short_is_refused() -> None:
    whole = archive({"a.xml": "<a/>", "b.xml": "<b/>"})
    for length in range(len(whole)):
        with pytest.raises(UnreadableFile):
            open_container("x", whole[:length])


@pytest.mark.parametrize(
    "name", ["../a", "a/../../b", "/etc/passwd", "C:/a", "..\\a", "a\\..\\b", "\\a", "a/..", "a\nb", "a\x01"]
)
def test_paths_that_lead_out(name: str) -> None:
    refused(archive({"ok": "1", name: "2"}), "unsafe path")


def test_names_that_end_early() -> None:
    refused(archive({"aXb": "1"}).replace(b"aXb", b"a\0b"), "unsafe path")


def test_two_of_one_name() -> None:
    refused(archive({"aa": "1", "ab": "2"}).replace(b"ab", b"aa"), "two entries are named aa")


def test_too_many_entries() -> None:
    open_container("x", archive({f"{n}": "" for n in range(ENTRIES_MAX)}))
    refused(archive({f"{n}": "" for n in range(ENTRIES_MAX + 1)}), "more than 2,000 entries")


def test_a_million_names_are_refused_before_they_are_read() -> None:
    entry = b"PK\x01\x02" + bytes(24) + struct.pack("<H", 1) + bytes(16) + b"n"
    directory = entry * 1_000_000
    end = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 0xFFFF, 0xFFFF, len(directory), 4, 0)
    data = b"PK\x03\x04" + directory + end
    tracemalloc.start()
    refused(data, "more than 2,000 entries")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_bomb_is_not_unpacked() -> None:
    bomb = archive({"a": bytes(60_000_000), "b": "small"})
    container = open_container("x", bomb)
    assert container.read("b") == b"small"
    tracemalloc.start()
    refused(bomb, "a unpacks to more than 100 MB or 200 times its size", read="a")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000_000
    assert len(open_container("x", archive({"a": bytes(RATIO_FREE_BYTES)})).read("a")) == RATIO_FREE_BYTES


def test_declared_sizes_are_not_believed() -> None:
    content = bytes(60_000_000)
    data = archive({"a": content})
    lies = data.replace(struct.pack("<L", len(content)), struct.pack("<L", 1000))
    refused(lies, "damaged: a cannot be unpacked", read="a")
    huge = data.replace(struct.pack("<L", len(content)), struct.pack("<L", 400_000_000))
    refused(huge, "unpacks to more than 300 MB")


def test_the_total_is_counted_over_all_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.ingest.parsers.zip_guard.TOTAL_BYTES_MAX", 2_500)
    container = open_container("x", archive({"a": bytes(1_000), "b": bytes(1_000)}))
    assert [len(container.read(name)) for name in "aabb"] == [1_000] * 4
    monkeypatch.setattr("core.ingest.parsers.zip_guard.TOTAL_BYTES_MAX", 1_500)
    with pytest.raises(UnreadableFile, match="unpacks to more"):
        container.read("b")


def test_entries_that_share_their_bytes() -> None:
    packed = zlib.compress(b"x" * 50_000, 9)[2:-4]
    local = b"PK\x03\x04" + struct.pack("<5H3L2H", 20, 0, 8, 0, 0, 0, len(packed), 50_000, 1, 0) + b"a" + packed
    central = b"".join(
        b"PK\x01\x02" + struct.pack("<6H3L5H2L", 20, 20, 0, 8, 0, 0, 0, len(packed), 50_000, 1, 0, 0, 0, 0, 0, 0) + name
        for name in (bytes([letter]) for letter in range(97, 123))
    )
    end = b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 26, 26, len(central), len(local), 0)
    data = local + central + end
    with pytest.raises(UnreadableFile, match="entries overlap"):
        read_all("x", data, "abc")


def test_protected_entries() -> None:
    data = bytearray(archive({"a": "secret"}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    refused(bytes(data), "protected by a password")


def test_unusual_packing() -> None:
    refused(archive({"a": "x" * 999}, zipfile.ZIP_LZMA), "packed in an unusual way")


def test_damaged_content() -> None:
    data = bytearray(archive({"a": "words " * 99}, zipfile.ZIP_STORED))
    data[60] ^= 0xFF
    refused(bytes(data), "damaged: a cannot be unpacked", read="a")


def test_absent_parts() -> None:
    refused(archive({"a": "1"}), "incomplete: it has no word/document.xml", read="word/document.xml")


def test_archives_inside_are_left_packed() -> None:
    inner = archive({f"{n}": "" for n in range(1_500)}, zipfile.ZIP_STORED)
    data = archive({"word/embeddings/1.xlsx": inner, "a": "1"}, zipfile.ZIP_STORED)
    assert open_container("x", data).names == ("word/embeddings/1.xlsx", "a")


ENTITY_BOMB = (
    '<!DOCTYPE a [<!ENTITY x0 "ha">'
    + "".join(f'<!ENTITY x{n} "&x{n - 1};&x{n - 1};&x{n - 1};">' for n in range(1, 40))
    + "]><a>&x39;</a>"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("source", [ENTITY_BOMB, "<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/a.dtd'><a/>"])
def test_document_types_are_refused(source: str, encoding: str) -> None:
    with pytest.raises(UnreadableFile, match=r"declares a document type|not well-formed"):
        parse_xml(source.encode(encoding), "x")


def test_document_types_in_unusual_encodings() -> None:
    head = b'<?xml version="1.0" encoding="UTF-7"?>'
    for body in (b"+ADw-!DOCTYPE a [+ADw-!ENTITY b 'leak'>]><a>&b;</a>", b"+ADwAIQ-DOCTYPE a []><a/>"):
        with pytest.raises(UnreadableFile):
            parse_xml(head + body, "x")


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    for source in (
        f'<!DOCTYPE a [<!ENTITY b SYSTEM "{secret.as_uri()}">]><a>&b;</a>',
        f'<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{secret.as_uri()}" parse="text"/></a>',
    ):
        try:
            root = parse_xml(source.encode(), "x")
        except UnreadableFile:
            continue
        assert "SECRET" not in "".join(map(str, root.itertext()))


@pytest.mark.parametrize(
    "source", ["", "<a>", "<a></b>", "words", "<a>&nbsp;</a>", "<a>" * 300 + "</a>" * 300, "<a>\0</a>", "<a/><b/>"]
)
def test_what_is_not_well_formed(source: str) -> None:
    with pytest.raises(UnreadableFile, match=r"part\.xml is not well-formed"):
        parse_xml(source.encode(), "x", "part.xml")


def test_too_many_tags() -> None:
    with pytest.raises(UnreadableFile, match="more than 4,000,000 tags"):
        parse_xml(b"<a>" + b"<b/>" * 4_000_000 + b"</a>", "x")


def test_comments_and_instructions_are_dropped() -> None:
    root = parse_xml(b"<?xml version='1.0'?><!-- c --><a><?p q?><b/><!-- d --></a>", "x")
    assert [child.tag for child in root] == ["b"]
