from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableFile
from core.ingest.parse import parse_file
from core.ingest.parsers import PARSERS, known_extensions, parser_for
from core.ingest.read import RawFile
from core.ports import ParsedDocument


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


DATA = st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))


@given(st.sampled_from(known_extensions()), DATA)
def test_any_bytes_are_parsed_or_refused(extension: str, data: bytes) -> None:
    # By the parser itself: parse_file would turn a mistake in it into a refusal.
    parser, path = parser_for(PurePosixPath(f"a{extension}")), Path(f"a{extension}")
    try:
        parsed = parser.parse(path, data)
    except UnreadableFile:
        return
    assert parsed.text.strip() and parsed == parser.parse(path, data) == parse_file(raw(str(path), data))


def test_whatever_fails_in_a_parser_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        name = "broken/1"
        extensions = (".md",)

        def __init__(self, error: Exception) -> None:
            self.error = error

        def parse(self, path: Path, data: bytes) -> ParsedDocument:
            raise self.error

    for error, why in [
        (KeyError("two\nlines"), "broken/1 failed: KeyError"),
        (RecursionError(), "nested too deeply"),
        (MemoryError(), "too large"),
        (UnreadableFile("a.md", "as it says"), "as it says"),
    ]:
        monkeypatch.setattr("core.ingest.parsers.PARSERS", (Broken(error),))
        with pytest.raises(UnreadableFile, match=why) as caught:
            parse_file(raw("a.md", b"x"))
        assert "\n" not in caught.value.message
