from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.ingest.parsers.docx import DocxParser
from core.ports import ParsedDocument
from tests.support.office import docx, item, level, lists, p, r, styled, table, tc, tr

VANISH = "<w:vanish/>"


def colour(value: str, more: str = "") -> str:
    return f'<w:color w:val="{value}" {more}/>'


def shade(fill: str, more: str = 'w:val="clear"') -> str:
    return f'<w:shd {more} w:fill="{fill}"/>'


def box(content: str, shape: str) -> str:
    inner = f"<wps:wsp>{shape}<wps:txbx><w:txbxContent>{content}</w:txbxContent></wps:txbx></wps:wsp>"
    return f"<w:p><w:r><w:drawing><wp:anchor>{inner}</wp:anchor></w:drawing></w:r></w:p>"


def picture(content: str, shape: str) -> str:
    inner = f"<v:shape {shape}><v:textbox><w:txbxContent>{content}</w:txbxContent></v:textbox></v:shape>"
    return f"<w:p><w:r><w:pict>{inner}</w:pict></w:r></w:p>"


STYLES = (
    styled("Gone", r=VANISH)
    + styled("Heir", on="Gone")
    + styled("Back", on="Gone", r='<w:vanish w:val="0"/>')
    + styled("GoneRun", type="character", r=VANISH)
    + styled("HeirRun", type="character", on="GoneRun")
    + styled("Special", r="<w:specVanish/>")
    + styled("White", r=colour("FFFFFF"))
    + styled("Tiny", r='<w:sz w:val="3"/>')
    + styled("Dark", p=shade("1F3864"), r=colour("FFFFFF"))
    + styled("Banded", type="table", p="").replace("</w:style>", f"<w:tcPr>{shade('1F3864')}</w:tcPr></w:style>")
)


def parse(body: str, **parts: Any) -> ParsedDocument:
    return DocxParser().parse(Path("name.docx"), docx(body, **{"styles": STYLES, **parts}))


def of(style: str) -> str:
    return f'<w:pStyle w:val="{style}"/>'


HIDDEN = [
    p("HID", run=VANISH),
    p("HID", run="<w:specVanish/>"),
    p("HID", run='<w:vanish w:val="true"/>'),
    p("HID", of("Gone")),
    p("HID", of("Heir")),
    p("HID", of("Special")),
    p("HID", run='<w:rStyle w:val="GoneRun"/>'),
    p("HID", run='<w:rStyle w:val="HeirRun"/>'),
    p("HID", of("White")),
    p("HID", of("Tiny")),
    p("HID", run=colour("FFFFFF")),
    p("HID", run=colour("FEFEFC")),
    p("HID", run=colour("auto", 'w:themeColor="background1"')),
    p("HID", run=colour("FFFFFF") + shade("auto")),
    p("HID", run=colour("FFFFFF") + '<w:highlight w:val="white"/>'),
    p("HID", run=colour("1F3864") + shade("1F3864")),
    p("HID", shade("1F3864"), colour("1F3864")),
    p("HID", run=colour("FFFF00") + '<w:highlight w:val="yellow"/>'),
    p("HID", run='<w:sz w:val="4"/>'),
    p("HID", run='<w:sz w:val="0"/>'),
    p("HID", run="<w14:textFill><w14:noFill/></w14:textFill>"),
    f"<w:p><w:del><w:r><w:delText>HID</w:delText></w:r></w:del>{r('x')}</w:p>",
    f"<w:p><w:del>{r('HID')}</w:del></w:p>",
    f"<w:p><w:moveFrom>{r('HID')}</w:moveFrom></w:p>",
    f"<w:del>{p('HID')}</w:del>",
    p("HID", run="<w:del/>"),
    f"<w:p><w:ins><w:del>{r('HID')}</w:del></w:ins></w:p>",
    f"<w:p><w:hyperlink>{r('HID', VANISH)}</w:hyperlink></w:p>",
    f"<w:sdt><w:sdtContent>{p('HID', run=VANISH)}</w:sdtContent></w:sdt>",
    table(tr(tc("a"), tc(p("HID", run=VANISH)))),
    table(tr(tc("HID"), tc("b"), properties="<w:hidden/>"), tr(tc("c"), tc("d"))),
    table(tr(tc("HID"), tc("b"), properties="<w:del/>"), tr(tc("c"), tc("d"))),
    table(tr(tc(p("HID", run=colour("1F3864")), shade("1F3864")), tc("x"))),
    box(p("HID", run=VANISH), ""),
    box(p("HID", run=colour("FFFFFF")), "<wps:spPr><a:noFill/></wps:spPr>"),
    box(p("HID", run=colour("FFFFFF")), '<wps:spPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></wps:spPr>'),
    box(p("HID"), "").replace("<wp:anchor>", '<wp:anchor><wp:docPr hidden="1"/>'),
    picture(p("HID"), 'style="position:absolute;visibility: hidden"'),
    picture(p("HID", run=colour("FFFFFF")), 'fillcolor="#1f3864" filled="f"'),
]

SEEN = [
    p("SEEN", run='<w:vanish w:val="0"/>'),
    p("SEEN", run="<w:webHidden/>"),
    p("SEEN", of("Back")),
    p("SEEN", of("Gone"), '<w:vanish w:val="false"/>'),
    p("SEEN", of("Gone"), '<w:rStyle w:val="GoneRun"/>'),  # two switches take each other back
    p("SEEN", of("White"), colour("000000")),
    p("SEEN", of("White"), colour("auto")),
    p("SEEN", of("Tiny"), '<w:sz w:val="20"/>'),
    p("SEEN", run='<w:sz w:val="5"/>'),
    p("SEEN", of("Dark")),
    p("SEEN", shade("1F3864"), colour("FFFFFF")),
    p("SEEN", shade("FFFFFF", 'w:val="solid" w:color="000000"'), colour("FFFFFF")),
    p("SEEN", shade("FFFFFF", 'w:val="pct50"'), colour("FFFFFF")),
    p("SEEN", run=colour("FFFFFF") + shade("000000")),
    p("SEEN", run=colour("FFFFFF") + '<w:highlight w:val="darkBlue"/>'),
    p("SEEN", run=colour("FFFF00")),
    p("SEEN", run=colour("FF0000")),
    p("SEEN", run=colour("FF0000") + shade("008200")),
    p("SEEN", "<w:rPr><w:vanish/><w:specVanish/></w:rPr>"),
    p("SEEN", "<w:rPr><w:vanish/></w:rPr>"),
    p("SEEN", run="<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>"),
    p("SEEN", run="<w14:textFill><w14:solidFill/></w14:textFill>"),
    p("SEEN", run="<w:ins/>"),
    table(tr(tc(p("SEEN", run=colour("FFFFFF")), shade("1F3864")), tc("x"))),
    table(tr(tc(p("SEEN", run=colour("FFFFFF"))), tc("x")), properties='<w:tblStyle w:val="Banded"/>'),
    box(p("SEEN", run=colour("FFFFFF")), "<wps:spPr><a:solidFill><a:srgbClr val='1F3864'/></a:solidFill></wps:spPr>"),
    box(p("SEEN", run=colour("FFFFFF")), "<wps:spPr><a:gradFill/></wps:spPr>"),
    box(p("SEEN", run=colour("FFFFFF")), "<wps:spPr/><wps:style><a:fillRef idx='1'/></wps:style>"),
    box(p("SEEN"), "<wps:spPr><a:noFill/></wps:spPr>"),
    picture(p("SEEN", run=colour("FFFFFF")), 'fillcolor="#4472c4 [3204]"'),
]


@pytest.mark.parametrize("body", HIDDEN)
def test_what_no_reader_sees_is_left_out_and_counted(body: str) -> None:
    parsed = parse(p("before") + body + p("after"))
    assert "HID" not in parsed.text and parsed.text.startswith("before\n\n") and parsed.text.endswith("\n\nafter")
    if "visibility" not in body and "docPr" not in body:
        assert parsed.warnings == ("left out 1 hidden or deleted passages",)


@pytest.mark.parametrize("body", SEEN)
def test_what_a_reader_sees_stays(body: str) -> None:
    parsed = parse(body)
    assert "SEEN" in parsed.text and parsed.warnings == ()


def test_the_document_defaults_and_standard_style_count() -> None:
    defaults = f"<w:docDefaults><w:rPrDefault><w:rPr>{VANISH}</w:rPr></w:rPrDefault></w:docDefaults>"
    seen = p("seen", run='<w:vanish w:val="0"/>')
    assert parse(p("HID") + seen, styles=defaults).text == "seen"
    standard = styled("Normal", r=colour("FFFFFF")).replace("<w:style ", '<w:style w:default="1" ')
    assert parse(p("HID") + p("seen", run=colour("000000")), styles=standard).text == "seen"


def test_comments_headers_and_properties_are_no_text() -> None:
    body = f'<w:p><w:commentRangeStart w:id="0"/>{r("seen")}<w:r><w:commentReference w:id="0"/></w:r></w:p>'
    comments = '<w:comments xmlns:w="w"><w:comment w:id="0">HID</w:comment></w:comments>'
    parsed = parse(body, more={"word/comments.xml": comments, "docProps/app.xml": "<a>HID</a>"})
    assert (parsed.text, parsed.warnings) == ("seen", ())


def test_neighbours_count_once_and_runs_join() -> None:
    parsed = parse(f"<w:p>{r('a')}{r('H', VANISH)}{r('I', VANISH)}{r('b')}{r('D', VANISH)}</w:p>")
    assert (parsed.text, parsed.warnings) == ("ab", ("left out 2 hidden or deleted passages",))


def test_hidden_items_are_not_numbered_and_hidden_notes_stay_away() -> None:
    gone = item("HID", more="<w:rPr><w:vanish/></w:rPr>").replace("<w:rPr></w:rPr>", f"<w:rPr>{VANISH}</w:rPr>")
    body = item("one") + gone + item("two")
    assert parse(body, numbering=lists(level(0, "%1."))).text == "1. one\n2. two"
    note = f'<w:p>{r("x")}<w:r><w:rPr>{VANISH}</w:rPr><w:footnoteReference w:id="1"/></w:r></w:p>'
    assert parse(note, footnotes=f'<w:footnote w:id="1">{p("HID")}</w:footnote>').text == "x"


def test_a_hidden_field_begin_still_opens_its_field() -> None:
    def mark(kind: str, look: str = "") -> str:
        return f'<w:r><w:rPr>{look}</w:rPr><w:fldChar w:fldCharType="{kind}"/></w:r>'

    body = f"<w:p>{mark('begin', VANISH)}{r('HID')}{mark('separate', VANISH)}{r('seen')}{mark('end')}{r('!')}</w:p>"
    assert parse(body).text == "seen!"


def test_hidden_characters_go_as_everywhere() -> None:
    parsed = parse(p("pay\u202ement\U000e0041"))
    assert parsed.text == "payment"
    assert len(parsed.warnings) == 2
