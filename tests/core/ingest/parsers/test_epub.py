from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableFile
from core.ingest.parsers import epub as epub_module
from core.ingest.parsers.epub import EpubParser
from core.ports import ParsedDocument
from tests.support.office import OLE, archive, epub, xhtml

Check = Callable[[ParsedDocument], ParsedDocument]


def parse(chapters: dict[str, Any], **parts: Any) -> ParsedDocument:
    return EpubParser().parse(Path("folder/name.epub"), epub(chapters, **parts))


def sections(parsed: ParsedDocument) -> list[tuple[str, str, str]]:
    """Text, section and chapter of every block."""
    found = []
    for block in parsed.blocks:
        section, chapter = ("".join(block.provenance.get(key, ())) for key in ("section", "chapter"))
        found.append((parsed.text[block.start : block.end], section, chapter))
    return found


def toc(*entries: tuple[str, str]) -> str:
    return "<ol>" + "".join(f'<li><a href="{target}">{title}</a></li>' for target, title in entries) + "</ol>"


def test_chapters_in_spine_order_with_their_headings(checked: Check) -> None:
    parsed = checked(
        parse(
            {"z.xhtml": "<h1>First</h1><p>one</p>", "a.xhtml": "<h1>Second</h1><h2>Part</h2><p>two</p>"},
            title="The Book",
        )
    )
    assert parsed.text == "First\n\none\n\nSecond\n\nPart\n\ntwo"
    assert [block.section_anchor for block in parsed.blocks] == [
        "first", "first", "second", "second/part", "second/part",
    ]  # fmt: skip
    assert sections(parsed)[-1] == ("two", "Second > Part", "Second")
    assert (parsed.title, parsed.language, parsed.parser, parsed.warnings) == ("The Book", "de-AT", "epub/1", ())


def test_the_title_is_the_stated_one_else_the_highest_heading() -> None:
    assert parse({"a.xhtml": "<h2>Two</h2>", "b.xhtml": "<h1>One</h1>"}).title == "One"
    assert parse({"a.xhtml": "<p>x</p>"}).title == "name"


def test_anchors_are_unique_over_chapters(checked: Check) -> None:
    parsed = checked(parse({f"{n}.xhtml": '<h1 id="top">Notes</h1><p>x</p>' for n in range(3)}))
    assert [b.section_anchor for b in parsed.blocks if b.kind == "heading"] == ["top", "top-1", "top-2"]


def test_levels_follow_the_table_of_contents(checked: Check) -> None:
    contents = (
        '<ol><li><a href="pre.xhtml">Preface</a></li><li><a href="p1.xhtml">Part I</a><ol>'
        '<li><a href="c1.xhtml#start">One</a></li></ol></li></ol>'
    )
    parsed = checked(
        parse(
            {
                "pre.xhtml": "<h1>Preface</h1>",
                "p1.xhtml": "<h3>Part I</h3>",
                "c1.xhtml": "<h3>One</h3><h4>In it</h4>",
                "c1b.xhtml": "<h4>Also in it</h4><p>x</p>",
            },
            contents=contents,
        )
    )
    assert sections(parsed) == [
        ("Preface", "Preface", "Preface"),
        ("Part I", "Part I", "Part I"),
        ("One", "Part I > One", "One"),
        ("In it", "Part I > One > In it", "One"),
        ("Also in it", "Part I > One > Also in it", "Also in it"),
        ("x", "Part I > One > Also in it", "Also in it"),
    ]


NCX = (
    '<navPoint><navLabel><text>Alpha</text></navLabel><content src="a.xhtml"/><navPoint><navLabel><text>Beta</text>'
    '</navLabel><content src="sub/b%20b.xhtml#x"/></navPoint></navPoint>'
)


def test_chapters_without_headings_get_those_of_the_contents(checked: Check) -> None:
    chapters = {"a.xhtml": "<p> ALPHA </p><p>one</p>", "sub/b b.xhtml": "<p>two</p>", "c.xhtml": "<p>three</p>"}
    parsed = checked(parse(chapters, ncx=NCX))
    assert parsed.text == "ALPHA\n\none\n\nBeta\n\ntwo\n\nthree"
    assert [(block.kind, block.level) for block in parsed.blocks if block.level] == [("heading", 1), ("heading", 2)]
    assert sections(parsed)[3] == ("two", "Alpha > Beta", "Beta")


def test_hidden_text_also_by_linked_sheets_is_left_out() -> None:
    head = (
        '<link rel="stylesheet" href="../styles/a.css"/><link rel="stylesheet" href="http://127.0.0.1:1/x.css"/>'
        '<link rel="stylesheet" media="print" href="../styles/print.css"/><link rel="stylesheet" href="gone.css"/>'
    )
    page = xhtml('<p class="x">HID</p><p hidden="">HID</p><p class="y">seen</p><p class="x">HID</p>', head)
    more = {"OEBPS/styles/a.css": "/* c */ .x { display: none }", "OEBPS/styles/print.css": ".y{display:none}"}
    parsed = parse({"text/a.xhtml": page, "text/b.xhtml": "<p class='x'>other</p>"}, more=more)
    assert parsed.text == "seen\n\nother"
    assert parsed.warnings == ("left out 3 hidden elements",)


def test_warnings_are_summed_over_chapters() -> None:
    parsed = parse({f"{n}.xhtml": "<p>x<b hidden=''>y</b>\u202e</p>" for n in range(4)})
    assert parsed.warnings == (
        "removed hidden characters: 4 bidirectional controls",
        "left out 4 hidden elements",
    )


def test_pages_without_text_are_passed_over() -> None:
    assert parse({"cover.xhtml": "<img src='c.png'/>", "e.xhtml": b"", "a.xhtml": "<p>x</p>"}).text == "x"


def encryption(*names: str) -> dict[str, str | bytes]:
    data = "".join(f'<EncryptedData><CipherReference URI="{name}"/></EncryptedData>' for name in names)
    return {"META-INF/encryption.xml": f"<encryption>{data}</encryption>"}


def test_protected_books_are_refused_and_scrambled_fonts_are_not() -> None:
    chapters = {"a.xhtml": b"\x00\x01scrambled", "b.xhtml": "<p>x</p>"}
    with pytest.raises(UnreadableFile, match=r"protected against copying \(DRM\)"):
        parse(chapters, more=encryption("OEBPS/a.xhtml"))
    assert parse({"b.xhtml": "<p>x</p>"}, more=encryption("OEBPS/fonts/f.otf", "OEBPS/b%20.xhtml")).text == "x"


def package(spine: str, manifest: str = "", **pages: str) -> bytes:
    container = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
    return archive(
        {
            "META-INF/container.xml": container,
            "p.opf": f"<package><metadata/><manifest>{manifest}</manifest><spine>{spine}</spine></package>",
            **{f"{name}.xhtml": page for name, page in pages.items()},
        }
    )


CHAPTER = '<item id="c" href="{}" media-type="application/xhtml+xml"/>'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (OLE, "protected by a password"),
        (b"%PDF-1.4", "it is a PDF"),
        (epub({"a.xhtml": "<p>x</p>"})[:-40], "cut short"),
        (archive({"word/document.xml": "<a/>"}), "not an EPUB book"),
        (archive({"META-INF/container.xml": "<container"}), "not well-formed"),
        (archive({"META-INF/container.xml": "<container><rootfile full-path='../x'/></container>"}), "not an EPUB"),
        (package(""), "without pages of text"),
        (package('<itemref idref="c"/>', CHAPTER.format("gone.xhtml")), "it has no gone.xhtml"),
        (package('<itemref idref="c"/>', CHAPTER.format("http://127.0.0.1:1/x")), "incomplete"),
        (package('<itemref idref="c"/>', CHAPTER.format("file:///etc/hostname")), "incomplete"),
        (package('<itemref idref="c"/>', CHAPTER.format("../../../etc/hostname")), "incomplete"),
        (epub({"a.xhtml": "<p hidden=''>x</p>"}), "no visible text"),
        (epub({"a.xhtml": "<b>" * 5_000}), "a.xhtml: not parsed"),
        (epub({"a.xhtml": b"%PDF-1.4"}), "a.xhtml: not what its extension says"),
        (epub({"a.xhtml": "x"}, more={"../evil": ""}), "unsafe path"),
        (epub({"a.xhtml": bytes(60_000_000)}), "200 times its size"),
    ],
)
def test_what_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableFile, match=message) as caught:
        EpubParser().parse(Path("name.epub"), data)
    assert caught.value.path == "name.epub"


def test_entities_are_not_expanded() -> None:
    declared = '<!DOCTYPE html [<!ENTITY e "leak"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
    page = f'<?xml version="1.0"?>{declared}<html xmlns="x"><body><p>a &e; &f; b</p></body></html>'
    text = parse({"a.xhtml": page}).text
    assert "a &e; &f; b" in text
    bad = archive({"META-INF/container.xml": f"{declared}<container/>"})
    with pytest.raises(UnreadableFile, match="declares a document type"):
        EpubParser().parse(Path("x.epub"), bad)


def test_text_and_sheets_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub_module, "CHAPTERS_BYTES_MAX", 2_000)
    with pytest.raises(UnreadableFile, match="a book of more than"):
        parse({f"{n}.xhtml": f"<p>{'x' * 900}</p>" for n in range(3)})
    monkeypatch.setattr(epub_module, "SHEETS_BYTES_MAX", 2_000)
    page = xhtml("<p>x</p>", '<link rel="stylesheet" href="a.css"/>')
    with pytest.raises(UnreadableFile, match="style sheets are too large"):
        parse({f"{n}.xhtml": page for n in range(3)}, more={"OEBPS/a.css": " " * 900})


def test_a_chapter_named_twice_stands_once() -> None:
    manifest = CHAPTER.format("a.xhtml") + CHAPTER.format("a.xhtml").replace('id="c"', 'id="d"')
    spine = '<itemref idref="c"/><itemref idref="d"/><itemref idref="c"/><itemref idref="gone"/>'
    parsed = EpubParser().parse(Path("x.epub"), package(spine, manifest, a="<p>once</p>"))
    assert (parsed.text, parsed.warnings) == ("once", ("left out 1 pages that are no text",))


PAGES = st.sampled_from(
    [
        "<h1>A</h1><p>x</p>",
        "<h3>B</h3>",
        "<p>y</p>",
        "",
        "<table><tr><td>1</td><td>2</td></tr></table>",
        "<ul><li>i</ul>",
    ]
)


@given(st.lists(PAGES, max_size=6), st.lists(st.integers(0, 5), max_size=4))
def test_any_book_gives_sound_blocks(checked: Check, pages: list[str], listed: list[int]) -> None:
    chapters = {"start.xhtml": "<p>start</p>", **{f"{n}.xhtml": page for n, page in enumerate(pages)}}
    checked(parse(chapters, contents=toc(*((f"{n}.xhtml", f"T{n}") for n in listed))))


def test_public_books(shared_data: Path, checked: Check) -> None:
    folder = shared_data / "documents"
    entries = [json.loads(line) for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines()]
    books = [entry for entry in entries if entry["file"].endswith(".epub")]
    for entry in books:
        parsed = checked(EpubParser().parse(Path(entry["file"]), (folder / entry["file"]).read_bytes()))
        assert [fact for fact in entry.get("facts", ()) if fact not in parsed.text] == []
        assert parsed.warnings == () and parsed.title == "Test EPUB Document"
        assert parsed.text.index("Chapter 1: Test Content") < parsed.text.index("Chapter 2: More Content")
    assert len(books) == 1
