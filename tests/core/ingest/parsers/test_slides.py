from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.shapes import MSO_SHAPE
from pptx.util import Inches, Pt

from core.errors import UnreadableFile
from core.ingest.parsers.slides import SlideParser
from core.ports import ParsedDocument
from tests.support.presentations import BLANK, TITLE_AND_BODY, add_box, add_slide, pptx
from tests.support.spreadsheets import compound_file, rows_xlsx, with_parts

Check = Callable[[ParsedDocument], ParsedDocument]
SLIDE = "ppt/slides/slide1.xml"
WHITE, BLACK = RGBColor(255, 255, 255), RGBColor(0, 0, 0)


def slides(data: bytes, name: str = "a.pptx") -> ParsedDocument:
    return SlideParser().parse(Path(name), data)


def made(fill: Callable[[Any], object], title: str = "T") -> ParsedDocument:
    """A presentation of one slide."""
    return slides(pptx(lambda deck: fill(add_slide(deck, title))))


def simple() -> bytes:
    return pptx(lambda deck: add_box(add_slide(deck, "Title"), "words"))


def test_titles_places_and_order(checked: Check) -> None:
    def fill(deck: Any) -> None:
        slide = add_slide(deck, "First")
        add_box(slide, "low", 1, 5)
        add_box(slide, "right", 5, 2.05)
        add_box(slide, "left", 1, 2.1)
        add_box(add_slide(deck, layout=BLANK), "no title here")
        deck.slides[1].notes_slide.notes_text_frame.text = "say this\nand that"

    parsed = checked(slides(pptx(fill)))
    assert parsed.text.split("\n\n") == [
        *("First", "left", "right", "low", "Slide 2", "no title here", "Notes: say this\nand that")
    ]
    assert parsed.title == "First" and parsed.warnings == ()
    assert [block.kind for block in parsed.blocks].count("heading") == 2
    assert parsed.blocks[-1].provenance == {
        "slide": ("2",), "pages": ("2",), "section": ("Slide 2",), "lines": ((13, 14),)
    }  # fmt: skip


def test_bullets_levels_and_line_breaks(checked: Check) -> None:
    def fill(deck: Any) -> None:
        frame = add_slide(deck, "T", TITLE_AND_BODY).placeholders[1].text_frame
        frame.text = "one"
        for level, text in ((1, "deeper\vsecond line"), (0, "two")):
            paragraph = frame.add_paragraph()
            paragraph.text, paragraph.level = text, level

    parsed = checked(slides(pptx(fill)))
    assert parsed.text == "T\n\n- one\n  - deeper\n    second line\n- two"
    assert parsed.blocks[1].kind == "list"


def test_tables_and_merged_cells(checked: Check) -> None:
    def fill(slide: Any) -> None:
        table = slide.shapes.add_table(4, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
        for row, values in enumerate([("all", "", ""), ("item", "price", ""), ("tea", "3", "4"), ("", "5", "")]):
            for column, value in enumerate(values):
                table.cell(row, column).text = value
        table.cell(0, 0).merge(table.cell(0, 2))
        table.cell(1, 1).merge(table.cell(1, 2))
        table.cell(2, 0).merge(table.cell(3, 0))

    parsed = checked(made(fill))
    assert parsed.text == "T\n\nall\nitem | price | price\ntea | 3 | 4\ntea | 5"
    assert [block.kind for block in parsed.blocks] == ["heading", "table", *["row"] * 4]


def test_charts_are_tables_of_their_data(checked: Check) -> None:
    def fill(slide: Any) -> None:
        data = CategoryChartData(number_format="0.0%")
        data.categories = ["2025", "2026"]
        data.add_series("north", (0.256, 0.5))
        data.add_series("south", (None, 0.75))
        place = (Inches(1), Inches(2), Inches(4), Inches(2))
        chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
        chart.has_title = True
        chart.chart_title.text_frame.text = "Growth"
        points = XyChartData()
        series = points.add_series("s")
        series.add_data_point(1, 2)
        series.add_data_point(3, 4)
        slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, Inches(1), Inches(5), Inches(4), Inches(2), points)

    charts = " | north | south\n2025 | 25.6%\n2026 | 50.0% | 75.0%\n\n | s\n1 | 2\n3 | 4"
    assert checked(made(fill)).text == "T\n\nGrowth\n\n" + charts


def test_groups_are_read_as_one_and_in_the_coordinates_of_the_slide(checked: Check) -> None:
    def fill(slide: Any) -> None:
        add_box(slide, "between", 1, 4)
        group = slide.shapes.add_group_shape()
        add_box(group, "b", 1, 5)
        add_box(group, "a", 1, 3)
        add_box(slide, "top", 1, 2)
        far = slide.shapes.add_group_shape()
        add_box(far, "secret", 1, 1)
        far.left = Inches(-20)

    parsed = checked(made(fill))
    assert parsed.text.split("\n\n") == ["T", "top", "a", "b", "between"]
    assert parsed.warnings == ("left out 1 shape beside the slide",)


def test_what_is_hidden_is_left_out_and_counted(checked: Check) -> None:
    def fill(deck: Any) -> None:
        slide = add_slide(deck, "T")
        add_box(slide, "secret switched off")._element.nvSpPr.cNvPr.set("hidden", "1")
        add_box(slide, "secret beside", 30, 1)
        add_box(slide, "secret above", 1, -3)
        for colour in (WHITE, RGBColor(0xFA, 0xFA, 0xFA)):
            add_box(slide, "secret white").text_frame.paragraphs[0].runs[0].font.color.rgb = colour
        theme = add_box(slide, "secret theme").text_frame.paragraphs[0].runs[0].font
        theme.color.theme_color = MSO_THEME_COLOR.BACKGROUND_1
        add_box(slide, "secret size").text_frame.paragraphs[0].runs[0].font.size = Pt(1)
        add_box(slide, "seen")
        other = add_slide(deck, "secret slide")
        other._element.set("show", "0")
        other.notes_slide.notes_text_frame.text = "secret notes"
        add_slide(deck, "Third")

    parsed = checked(slides(pptx(fill)))
    assert parsed.text == "T\n\nseen\n\nThird"
    assert parsed.blocks[-1].provenance["pages"] == ("3",)
    assert parsed.warnings == (
        "left out 1 hidden slide, 1 hidden shape, 2 shapes beside the slide, 4 invisible pieces of text",
    )


def test_white_text_on_something_is_kept(checked: Check) -> None:
    def whiten(shape: Any) -> None:
        shape.text_frame.paragraphs[0].runs[0].font.color.rgb = WHITE

    def fill(deck: Any) -> None:
        slide = add_slide(deck, layout=BLANK)
        filled = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(1), Inches(1), Inches(3), Inches(1))
        filled.text_frame.text = "in a shape filled by its style"
        whiten(filled)
        whiten(add_box(slide, "over it", 1.2, 1.5, 1))
        own = add_box(slide, "own fill", 1, 3)
        own.fill.solid()
        own.fill.fore_color.rgb = BLACK
        whiten(own)
        dark = add_slide(deck, layout=BLANK)
        dark.background.fill.solid()
        dark.background.fill.fore_color.rgb = BLACK
        whiten(add_box(dark, "on a dark slide"))
        add_box(dark, "secret").text_frame.paragraphs[0].runs[0].font.color.rgb = BLACK

    parsed = checked(slides(pptx(fill)))
    assert parsed.text.split("\n\n")[1:] == [
        *("in a shape filled by its style", "over it", "own fill", "Slide 2", "on a dark slide")
    ]


def test_footers_stand_once_and_slide_numbers_never() -> None:
    footer = (
        '<p:sp><p:nvSpPr><p:cNvPr id="90" name="f"/><p:cNvSpPr/><p:nvPr><p:ph type="{}" idx="1{}"/></p:nvPr></p:nvSpPr>'
    )
    footer += "<p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree>"

    def more(old: bytes) -> bytes:
        for kind, number, text in (("ftr", 1, "Acme 2026"), ("sldNum", 2, "7")):
            old = old.replace(b"</p:spTree>", footer.format(kind, number, text).encode())
        return old

    data = pptx(lambda deck: [add_slide(deck, title) for title in ("A", "B")])
    data = with_parts(data, {SLIDE: more, "ppt/slides/slide2.xml": more})
    assert slides(data).text == "A\n\nAcme 2026\n\nB"


def shape_xml(kind: str, content: str) -> str:
    """A shape or frame of the element `kind` around its properties and content."""
    named = "GraphicFrame" if kind == "graphicFrame" else "Sp"
    about = f'<p:cNvPr id="9" name="n"/><p:cNv{named}Pr/><p:nvPr/>'
    return f"<p:{kind}><p:nv{named}Pr>{about}</p:nv{named}Pr>{content}</p:{kind}>"


def with_shapes(content: str) -> bytes:
    """The simple presentation with more in its slide."""
    return with_parts(simple(), {SLIDE: lambda old: old.replace(b"</p:spTree>", content.encode() + b"</p:spTree>")})


def test_diagrams_and_alternatives() -> None:
    ids = '<d:relIds xmlns:d="urn:d" xmlns:q="urn:q" q:dm="rId77"/>'
    place = '<p:xfrm><a:off x="0" y="5000000"/><a:ext cx="9" cy="9"/></p:xfrm>'
    graphic = f'<a:graphic><a:graphicData uri="d">{ids}</a:graphicData></a:graphic>'
    frame = shape_xml("graphicFrame", place + graphic)
    text = "<p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>chosen</a:t></a:r></a:p></p:txBody>"
    choice = f'<m:Choice Requires="x">{shape_xml("sp", text)}</m:Choice><m:Fallback/>'
    name = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    box = f'<m:AlternateContent xmlns:m="{name}">{choice}</m:AlternateContent>'
    link = b'<Relationship Id="rId77" Type="http://x/diagramData" Target="../diagrams/data1.xml"/></Relationships>'
    points = [f"<d:pt><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>" for text in ("plan", "build")]
    model = f'<d:dataModel xmlns:d="urn:d" xmlns:a="urn:a"><d:ptLst>{"".join(points)}</d:ptLst></d:dataModel>'
    data = with_parts(
        with_shapes(box + frame),
        {
            "ppt/slides/_rels/slide1.xml.rels": lambda old: old.replace(b"</Relationships>", link),
            "ppt/diagrams/data1.xml": model.encode(),
        },
    )
    assert slides(data).text == "Title\n\nchosen\n\nwords\n\n- plan\n- build"


def test_a_deck_without_text_is_refused() -> None:
    with pytest.raises(UnreadableFile, match="no text"):
        slides(pptx(lambda deck: add_slide(deck, layout=BLANK)))
    with pytest.raises(UnreadableFile, match="1 hidden slide"):
        slides(pptx(lambda deck: add_slide(deck, "secret")._element.set("show", "0")))


BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: b"", "empty"),
        (lambda: simple()[:9000], "damaged"),
        (lambda: b"%PDF-1.7", "it is a PDF"),
        (lambda: b"plain words", "not what its extension says"),
        (lambda: compound_file("EncryptedPackage", b"x" * 5000), "password"),
        (lambda: rows_xlsx([["x"]]), "no presentation"),
        (lambda: with_parts(simple(), {SLIDE: lambda old: BOMB + old[old.index(b"?>") + 2 :]}), "document type"),
        (lambda: with_parts(simple(), {SLIDE: b"<p>" + b" " * 90_000_000}), "200 times"),
        (lambda: with_parts(simple(), {SLIDE: lambda old: old[:-40]}), "not well-formed"),
        (lambda: with_parts(simple(), {SLIDE: b"<g>" * 10_000}), "not well-formed"),
        (lambda: with_parts(simple(), {"ppt/_rels/presentation.xml.rels": b"<Relationships/>"}), "slide 1 is missing"),
        (lambda: with_parts(simple(), {"ppt/presentation.xml": doubled}), "slide 2 is missing"),
    ],
)
def test_hostile_files_are_refused(make: Callable[[], bytes], why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        slides(make())


def doubled(presentation: bytes) -> bytes:
    start = presentation.index(b"<p:sldId ")
    end = presentation.index(b"</p:sldIdLst>")
    return presentation[:end] + presentation[start:end] + presentation[end:]


@pytest.mark.timeout(60)
def test_many_white_texts_over_many_shapes_take_bounded_time() -> None:
    place = '<p:spPr><a:xfrm><a:off x="{0}" y="9"/><a:ext cx="0" cy="0"/></a:xfrm></p:spPr>'
    run = '<a:r><a:rPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></a:rPr><a:t>x</a:t></a:r>'
    shape = shape_xml("sp", place + f"<p:txBody><a:bodyPr/><a:p>{run}</a:p></p:txBody>")
    data = with_shapes("".join(shape.format(number) for number in range(8_000)))
    with pytest.raises(UnreadableFile, match="more shapes than can be compared"):
        slides(data)


@given(st.binary(max_size=60), st.integers(0, 100_000))
def test_no_damage_raises_anything_else(noise: bytes, place: int) -> None:
    for part in (SLIDE, "ppt/slideLayouts/slideLayout6.xml", "ppt/presentation.xml"):

        def damage(old: bytes) -> bytes:
            at = place % len(old)
            return old[:at] + noise + old[at + len(noise) :]

        try:
            slides(with_parts(SIMPLE, {part: damage}))
        except UnreadableFile:
            continue


SIMPLE = simple()


def test_public_presentations(shared_data: Path, checked: Check) -> None:
    folder = shared_data / "documents"
    entries = [json.loads(line) for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines()]
    seen = 0
    for entry in entries:
        if not entry["file"].endswith(SlideParser.extensions):
            continue
        parsed = checked(slides((folder / entry["file"]).read_bytes(), entry["file"]))
        assert [fact for fact in entry.get("facts", ()) if fact not in parsed.text] == []
        assert [text for text in entry.get("hidden", ()) if text in parsed.text] == []
        if "row" in entry:
            assert any(line.startswith(" | ".join(entry["row"])) for line in parsed.text.split("\n"))
        assert parsed.warnings == ()
        seen += 1
    assert seen
