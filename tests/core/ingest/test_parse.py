from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableFile
from core.ingest.parse import parse_file
from core.ingest.parsers import PARSERS, known_extensions, parser_for
from core.ingest.read import RawFile


def raw(name: str, data: bytes) -> RawFile:
    return RawFile(name, data, "")


def test_every_extension_has_one_parser() -> None:
    extensions = [extension for parser in PARSERS for extension in parser.extensions]
    assert len(set(extensions)) == len(extensions) and sorted(extensions) == list(known_extensions())
    assert parser_for(PurePosixPath("a/B.MD")).name == "markdown/1"


@pytest.mark.parametrize("name", ["a.exe", "README", "a.md.bak", ".md"])
def test_unknown_extensions_list_the_known(name: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        parse_file(raw(name, b"x"))
    assert ".md" in caught.value.remedy and ".csv" in caught.value.remedy


@pytest.mark.parametrize("extension", known_extensions())
@pytest.mark.parametrize("data", [b"", b"\n\n", b"%PDF-1.7 x", b"a\x00b", b"PK\x03\x04"])
def test_no_format_takes_what_is_no_text(extension: str, data: bytes) -> None:
    with pytest.raises(UnreadableFile) as caught:
        parse_file(raw(f"folder/a{extension}", data))
    assert caught.value.path == f"folder/a{extension}" and caught.value.line().count("\n") == 0


@given(st.sampled_from(known_extensions()), st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")))
def test_any_bytes_are_parsed_or_refused(extension: str, data: bytes) -> None:
    try:
        parsed = parse_file(raw(f"a{extension}", data))
    except UnreadableFile as error:
        assert " failed: " not in error.reason
        return
    assert parsed.text.strip() and parsed == parse_file(raw(f"a{extension}", data))
