from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableFile
from core.ingest.parsers.docx import DocxParser
from core.ports import ParsedDocument
from tests.support.office import OLE, W, archive, docx, item, level, lists, p, r, styled, table, tc, tr

Check = Callable[[ParsedDocument], ParsedDocument]
RAISED = '<w:vertAlign w:val="superscript"/>'


def parse(body: str, **parts: Any) -> ParsedDocument:
    return DocxParser().parse(Path("folder/name.docx"), docx(body, **parts))


def shown(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, parsed.text[block.start : block.end]) for block in parsed.blocks]


def test_paragraphs_and_what_is_in_their_lines(checked: Check) -> None:
    body = (
        p("plain <b> & 中文")
        + f"<w:p><w:ins>{r('kept ')}</w:ins><w:hyperlink>{r('link ')}</w:hyperlink><w:smartTag>{r('tag')}</w:smartTag>"
        f"<w:r><w:tab/><w:t>after</w:t><w:br/><w:t>second</w:t><w:noBreakHyphen/><w:t>line</w:t></w:r></w:p>"
        + f"<w:p>{r('10 m')}{r('2', RAISED)}</w:p>"
        + f"<w:sdt><w:sdtPr/><w:sdtContent>{p('control')}</w:sdtContent></w:sdt><w:p/>"
        + f"<w:p><w:moveTo>{r('moved here')}</w:moveTo><w:sdt><w:sdtContent>{r(' inline')}</w:sdtContent></w:sdt></w:p>"
    )
    parsed = checked(parse(body))
    assert shown(parsed) == [
        ("paragraph", "plain <b> & 中文"),
        ("paragraph", "kept link tag after\nsecond-line"),
        ("paragraph", "10 m^2"),
        ("paragraph", "control"),
        ("paragraph", "moved here inline"),
    ]
    assert (parsed.title, parsed.parser, parsed.warnings) == ("name", "docx/1", ())


STYLES = (
    styled("berschrift1", title="heading 1")
    + styled("Custom", on="berschrift1")
    + styled("Outlined", p='<w:outlineLvl w:val="1"/>')
    + styled("Body", on="Outlined", p='<w:outlineLvl w:val="9"/>')
    + styled("Titel", title="Title")
)


def test_headings_by_name_inheritance_and_outline(checked: Check) -> None:
    body = (
        p("Front", '<w:pStyle w:val="Titel"/>')
        + p("One", '<w:pStyle w:val="berschrift1"/>')
        + p("Two", '<w:pStyle w:val="Custom"/>')
        + p("Deep", '<w:pStyle w:val="Outlined"/>')
        + p("text", '<w:pStyle w:val="Body"/>')
        + p("Direct", '<w:outlineLvl w:val="2"/>')
        + p("Deep", '<w:pStyle w:val="Outlined"/>')
        + p("", '<w:pStyle w:val="Outlined"/>')
        + p("Far", '<w:outlineLvl w:val="8"/>')
    )
    parsed = checked(parse(body, styles=STYLES))
    headings = [(b.level, b.section_anchor) for b in parsed.blocks if b.kind == "heading"]
    assert headings == [
        (1, "front"), (1, "one"), (1, "two"), (2, "two/deep"), (3, "two/deep/direct"), (2, "two/deep-1"),
        (6, "two/deep-1/far"),
    ]  # fmt: skip
    assert parsed.blocks[5].provenance["section"] == ("Two > Deep > Direct",)
    assert dict(shown(parsed))["paragraph"] == "text"
    assert parsed.title == "Front"


@pytest.mark.parametrize("title", ["Heading 2", "Überschrift 2", "标题 2", "標題2", "見出し 2", "Заголовок 2"])
def test_headings_by_localised_names(title: str) -> None:
    parsed = parse(p("H", '<w:pStyle w:val="x"/>') + p("t"), styles=styled("x", title=title))
    assert [(block.kind, block.level) for block in parsed.blocks] == [("heading", 2), ("paragraph", 0)]


def test_the_title_is_the_stated_one() -> None:
    heading = p("Heading", '<w:outlineLvl w:val="0"/>')
    assert parse(heading, title=" A &  B\u200b ").title == "A & B"
    assert parse(heading).title == "Heading"
    assert parse(heading, title=" ").title == "Heading"


def test_numbered_headings_and_lists(checked: Check) -> None:
    numbering = lists(level(0, "%1.") + level(1, "%1.%2") + level(2, "(%3)", "lowerLetter"))
    styles = styled("H", title="heading 1", p='<w:numPr><w:numId w:val="1"/></w:numPr>')
    body = (
        p("Scope", '<w:pStyle w:val="H"/>')
        + p("text")
        + p("Terms", '<w:pStyle w:val="H"/>')
        + item("first", 1)
        + item("a", 2)
        + item("b", 2)
        + item("second", 1)
        + item("c", 2)
        + p("off", '<w:pStyle w:val="H"/><w:numPr><w:numId w:val="0"/></w:numPr>')
        + p("Last", '<w:pStyle w:val="H"/>')
    )
    parsed = checked(parse(body, numbering=numbering, styles=styles))
    assert shown(parsed) == [
        ("heading", "1. Scope"),
        ("paragraph", "text"),
        ("heading", "2. Terms"),
        ("list", "  2.1 first\n    (a) a\n    (b) b\n  2.2 second\n    (a) c"),
        ("heading", "off"),
        ("heading", "3. Last"),
    ]


def test_bullets_and_lists_apart() -> None:
    numbering = lists(level(0, "\uf0b7", "bullet"))
    parsed = parse(item("one") + item("two") + p("between") + item("three"), numbering=numbering)
    assert shown(parsed) == [("list", "- one\n- two"), ("paragraph", "between"), ("list", "- three")]


def test_tables_with_merged_and_nested_cells(checked: Check) -> None:
    across, down, on = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    inner = table(tr(tc("i"), tc("j")))
    body = (
        table(
            tr(tc("Zone", down), tc("2023", across)),
            tr(tc("", on), tc("H1"), tc(p("H") + p("2"))),
            f"<w:sdt><w:sdtContent>{tr(tc('EUR'), tc('1'), tc('2'))}</w:sdtContent></w:sdt>",
            tr(tc("late"), tc("x"), properties='<w:gridBefore w:val="1"/>'),
            tr(tc("gone"), tc("y"), tc("z"), properties="<w:del/>"),
        )
        + p("then")
        + table(tr(tc("outer"), tc(p("before") + inner)))
        + table(tr(tc(p("Box", '<w:outlineLvl w:val="0"/>') + p("in a frame"))))
    )
    parsed = checked(parse(body))
    assert parsed.text == (
        "Zone | 2023 | 2023\nZone | H1 | H 2\nEUR | 1 | 2\n | late | x\n\nthen\n\nouter\n\nbefore\n\ni | j\n\n"
        "Box\n\nin a frame"
    )
    assert [b.section_anchor for b in parsed.blocks if b.kind == "heading"] == ["box"]
    assert parsed.warnings == ("left out 1 hidden or deleted passages",)


def test_notes_follow_the_block_that_refers_to_them(checked: Check) -> None:
    def ref(kind: str, number: int, more: str = "") -> str:
        return f'<w:r><w:{kind}Reference w:id="{number}" {more}/></w:r>'

    own_mark = 'w:customMarkFollows="1"'
    body = (
        f"<w:p>{r('First')}{ref('footnote', 2)}{r(', more')}{ref('endnote', 1)}</w:p>"
        + p("Next", '<w:outlineLvl w:val="0"/>')
        + table(tr(tc(f"<w:p>{r('cell')}{ref('footnote', 3)}</w:p>"), tc("b")), tr(tc("c"), tc("d")))
        + f"<w:p>{r('custom')}{ref('footnote', 4, own_mark)}{r('*')}</w:p>"
    )
    footnotes = "".join(
        f'<w:footnote w:id="{n}"><w:p><w:r><w:footnoteRef/></w:r>{r(text)}</w:p></w:footnote>'
        for n, text in ((0, "separator"), (2, "note two"), (3, "note three"), (4, "* note four"))
    )
    endnotes = f'<w:endnote w:id="1">{p("at the end")}</w:endnote>'
    parsed = checked(parse(body, footnotes=footnotes, endnotes=endnotes))
    assert parsed.text.split("\n\n") == [
        "First[1], more[i]", "[1] note two", "[i] at the end", "Next", "cell[2] | b\nc | d", "[2] note three",
        "custom*", "* note four",
    ]  # fmt: skip


def test_notes_wait_for_the_end_of_a_list() -> None:
    noted = item("one").replace("</w:p>", '<w:r><w:footnoteReference w:id="1"/></w:r></w:p>')
    footnotes = f'<w:footnote w:id="1">{p("note")}</w:footnote>'
    parsed = parse(noted + item("two") + p("after"), numbering=lists(level(0, "%1)")), footnotes=footnotes)
    assert parsed.text == "1) one[1]\n2) two\n\n[1] note\n\nafter"


def test_notes_that_refer_to_each_other_end() -> None:
    again = '<w:r><w:footnoteReference w:id="1"/></w:r>'
    footnotes = f'<w:footnote w:id="1">{p("note").replace("</w:p>", again + "</w:p>")}</w:footnote>'
    assert parse(f"<w:p>{r('x')}{again}</w:p>", footnotes=footnotes).text == "x[1]\n\n[1] note[2]"


def box(content: str, fill: str = "") -> str:
    """A drawing with a text box, also in the reading for old programs."""
    inner = f"<w:txbxContent>{content}</w:txbxContent>"
    return (
        f"<w:r><mc:AlternateContent><mc:Choice><w:drawing><wp:anchor><wps:wsp><wps:spPr>{fill}</wps:spPr><wps:txbx>"
        f"{inner}</wps:txbx></wps:wsp></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>"
        f"{inner}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )


def test_text_boxes_stand_once_after_their_paragraph(checked: Check) -> None:
    nested = p("in").replace("</w:p>", box(p("innermost")) + "</w:p>")
    body = f"<w:p>{r('a')}{box(nested)}{r('b')}</w:p>" + table(tr(tc(f"<w:p>{r('c')}{box(p('d'))}</w:p>"), tc("e")))
    assert checked(parse(body)).text == "ab\n\nin\n\ninnermost\n\nc d | e"
    old = f"<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent>{p('old')}</w:txbxContent></v:textbox></v:shape>"
    assert parse(old + "</w:pict></w:r></w:p>").text == "old"


def test_fields_show_their_result_alone() -> None:
    def mark(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    inner = f"{mark('begin')}<w:r><w:instrText>PAGE</w:instrText></w:r>{mark('separate')}{r('HID')}{mark('end')}"
    body = (
        f"<w:p>{r('see ')}{mark('begin')}<w:r><w:instrText>IF HID</w:instrText></w:r>{inner}{mark('separate')}"
        f"{r('result')}{mark('end')}{r(' end')}</w:p><w:p><w:fldSimple>{r('simple')}</w:fldSimple></w:p>"
    )
    assert parse(body).text == "see result end\n\nsimple"
    assert "KEPT" in parse(f"<w:p>{mark('begin')}{r('KEPT')}</w:p>").text


def test_formulas_symbols_and_readings() -> None:
    def m(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    body = (
        f"<w:p>{r('x=')}<m:oMath><m:f><m:num>{m('a+b')}</m:num><m:den>{m('2')}</m:den></m:f><m:sSup><m:e>{m('c')}</m:e>"
        f"<m:sup>{m('2')}</m:sup></m:sSup></m:oMath></w:p>"
        '<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:t> done</w:t></w:r></w:p>'
        f"<w:p><w:r><w:ruby><w:rt>{r('かん')}</w:rt><w:rubyBase>{r('漢')}</w:rubyBase></w:ruby></w:r></w:p>"
    )
    assert parse(body).text == "x=(a+b)/2c^2\n\n✓ done\n\n漢（かん）"


def test_a_deleted_paragraph_end_joins_two() -> None:
    parsed = parse(p("one ", "<w:rPr><w:del/></w:rPr>") + p("two") + p("three", "<w:rPr><w:del/></w:rPr>"))
    assert parsed.text == "one two\n\nthree"


def test_iso_strict_names_are_the_same() -> None:
    data = docx(p("strict"))
    strict = archive({"word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{p("strict")}</w:body></w:document>'
                      .replace(W, "http://purl.oclc.org/ooxml/wordprocessingml/main")})  # fmt: skip
    texts = [DocxParser().parse(Path("x.docx"), content).text for content in (data, strict)]
    assert texts == ["strict", "strict"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (OLE, "protected by a password"),
        (b"%PDF-1.4", "it is a PDF"),
        (docx(p("x"))[:-30], "cut short"),
        (archive({"xl/workbook.xml": "<workbook/>"}), "not a Word document"),
        (archive({"word/document.xml": "<a/>"}), "another Office document"),
        (archive({"word/document.xml": "<w:document"}), "not well-formed"),
        (archive({"word/document.xml": bytes(60_000_000)}), "200 times its size"),
        (docx(""), "no visible text"),
        (docx("<w:p/><w:tbl/>"), "no visible text"),
        (docx(p("x", run="<w:vanish/>")), "no visible text"),
        (docx(p("x"), more={"../evil": ""}), "unsafe path"),
        (docx(p("x"), styles="<w:x>" * 300 + "</w:x>" * 300), "not well-formed"),
    ],
)
def test_what_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableFile, match=message):
        DocxParser().parse(Path("name.docx"), data)


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_text(f'<w:styles xmlns:w="{W}">SECRET</w:styles>')
    rels = (
        '<Relationships xmlns="r"><Relationship Type="x/styles" Target="../../../../../../..'
        f'{secret}"/><Relationship Type="x/footnotes" Target="{secret.as_uri()}" TargetMode="External"/>'
        "</Relationships>"
    )
    parsed = DocxParser().parse(
        Path("x.docx"),
        archive({"word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{p("seen")}</w:body></w:document>',
                 "word/_rels/document.xml.rels": rels}),
    )  # fmt: skip
    assert parsed.text == "seen"


def test_embedded_files_are_told(checked: Check) -> None:
    parsed = checked(parse(p("x") + "<w:altChunk/>", more={"word/embeddings/1.zip": archive({"a": "b"})}))
    assert parsed.warnings == ("left out 1 embedded files of other formats",)


def test_time_grows_with_size_alone() -> None:
    deep = "x"
    for _ in range(40):
        deep = table(tr(tc(deep), tc("y")))
    assert parse(deep).text.count("y") == 40
    wrapped = "<w:ins>" * 240 + r("in") + "</w:ins>" * 240
    assert parse(f"<w:p>{wrapped}</w:p>").text == "in"
    shapes = f"<wps:wsp><wps:spPr/><wps:txbx><w:txbxContent>{p('s')}</w:txbxContent></wps:txbx></wps:wsp>" * 3_000
    group = f"<w:p><w:r><w:drawing><wpg:wgp xmlns:wpg='g'>{shapes}</wpg:wgp></w:drawing></w:r></w:p>"
    assert parse(group, compression=ZIP_STORED).text.count("s") == 3_000
    opened = '<w:r><w:fldChar w:fldCharType="begin"/><w:fldChar w:fldCharType="separate"/></w:r>' * 20_000
    closed = '<w:r><w:fldChar w:fldCharType="end"/></w:r>' * 20_000
    fields = f"<w:p>{opened}{'<w:r><w:t>y</w:t></w:r>' * 20_000}{closed}</w:p>"
    assert parse(fields, compression=ZIP_STORED).text == "y" * 20_000
    cycle = styled("A", on="B") + styled("B", on="A")
    assert parse(p("seen", '<w:pStyle w:val="A"/>'), styles=cycle).text == "seen"
    wide = table(*[tr(tc("x", '<w:gridSpan w:val="999999999"/><w:vMerge w:val="restart"/>'), tc("y"))] * 200)
    assert len(parse(wide).text) < 1_000_000


PARTS = st.sampled_from([p("a"), p(""), p("H", '<w:outlineLvl w:val="1"/>'), item("i", 1), item("j"), table(tr(tc("1"),
    tc("2"))), table(tr(tc(p("b") + item("k")))), table(tr(tc(table(tr(tc("n")))), tc("o"))), p("x", run="<w:vanish/>"),
    p("d", "<w:rPr><w:del/></w:rPr>"), f"<w:p>{box(item('t') + p('u'))}</w:p>", "<w:bookmarkStart/>"])  # fmt: skip


@given(st.lists(PARTS, max_size=12))
def test_any_mixture_gives_sound_blocks(checked: Check, parts: list[str]) -> None:
    checked(parse(p("start") + "".join(parts), numbering=lists(level(0, "%1.") + level(1, "-", "bullet"))))


def test_public_documents(shared_data: Path, checked: Check) -> None:
    folder = shared_data / "documents"
    entries = [json.loads(line) for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines()]
    chosen = [entry for entry in entries if entry["file"].endswith((".docx", ".docm"))]
    for entry in chosen:
        data = (folder / entry["file"]).read_bytes()
        parsed = checked(DocxParser().parse(Path(entry["file"]), data))
        assert [fact for fact in entry.get("facts", ()) if fact not in parsed.text] == []
        if "row" in entry:
            assert " | ".join(entry["row"]) in parsed.text.split("\n")
        assert parsed.warnings == ()
        anchors = [block.section_anchor for block in parsed.blocks if block.kind == "heading"]
        assert anchors and len(anchors) == len(set(anchors))
    assert len(chosen) == 3
    numbered = DocxParser().parse(Path("x"), (folder / "unit_test_headers_numbered.docx").read_bytes())
    assert [numbered.text.count(title) for title in ("\n1.1. Section 1.1\n", "\n1.2.1. Section 1.2.3\n")] == [1, 1]
