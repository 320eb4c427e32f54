from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableFile
from core.ingest.parsers.html import HtmlParser
from core.ingest.parsers.html_guard import BYTES_MAX, why_refused
from core.ports import ParsedDocument

Check = Callable[[ParsedDocument], ParsedDocument]


def parse(source: str | bytes) -> ParsedDocument:
    data = source if isinstance(source, bytes) else source.encode()
    return HtmlParser().parse(Path("folder/name.html"), data)


def shown(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, parsed.text[block.start : block.end]) for block in parsed.blocks]


def test_blocks(checked: Check) -> None:
    parsed = checked(
        parse(
            """<!doctype html><html lang="zh-TW"><head><title> Page
            title </title></head><body><h1>Refunds<a class="headerlink" href="#x">¶</a></h1>
            <p>Two <b>bold</b>&nbsp;words<br>next   line</p><div>loose <p>inner</p> tail</div>
            <pre>
  code
    more
</pre><blockquote><p>quoted</p></blockquote></body></html>"""
        )
    )
    assert shown(parsed) == [
        ("heading", "Refunds"),
        ("paragraph", "Two bold words\nnext line"),
        ("paragraph", "loose"),
        ("paragraph", "inner"),
        ("paragraph", "tail"),
        ("code", "  code\n    more"),
        ("paragraph", "quoted"),
    ]
    assert (parsed.title, parsed.language) == ("Page title", "zh-TW")
    assert parsed.text == "\n\n".join(text for _, text in shown(parsed))


def test_lists_are_one_block_with_their_nesting(checked: Check) -> None:
    parsed = checked(
        parse("<ul><li>one<ol start=3><li>two<p>more</p><li>three</ol><li>four</ul><dl><dt>T<dd>D</dl><ul><li>x</ul>")
    )
    assert shown(parsed) == [
        ("list", "- one\n  3. two\n     more\n  4. three\n- four"),
        ("list", "T\nD"),
        ("list", "- x"),
    ]


def test_code_inside_a_list_stands_alone(checked: Check) -> None:
    parsed = checked(parse("<ul><li>run<pre>make</pre>then<li>end</ul>"))
    assert [kind for kind, _ in shown(parsed)] == ["list", "code", "list"]


def test_tables_repeat_merged_cells(checked: Check) -> None:
    parsed = checked(
        parse(
            """<table><caption>Limits</caption>
            <thead><tr><th rowspan=2>Zone<th colspan=2>2023<tr><th>H1<th>H2</thead>
            <tr><td rowspan=0>EUR<td>1<td><p>a</p><p>b</p><tr><td>2<td></table>"""
        )
    )
    assert shown(parsed) == [
        ("paragraph", "Limits"),
        ("table", "Zone | 2023 | 2023\nZone | H1 | H2\nEUR | 1 | a b\nEUR | 2"),
        ("row", "Zone | 2023 | 2023"),
        ("row", "Zone | H1 | H2"),
        ("row", "EUR | 1 | a b"),
        ("row", "EUR | 2"),
    ]


def test_a_row_that_is_layout_is_read_as_text(checked: Check) -> None:
    parsed = checked(
        parse("<table><tr><td>A<td>B<tr><td><h2>In</h2><table><tr><td>1<td>2</table><td>side</table>after")
    )
    assert shown(parsed) == [
        ("table", "A | B"), ("row", "A | B"), ("heading", "In"), ("table", "1 | 2"), ("row", "1 | 2"),
        ("paragraph", "side"), ("paragraph", "after"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "heading",
    [
        '<h2 id="caps">Limits</h2>',
        '<h2><a name="caps"></a>Limits</h2>',
        '<section id="caps"><h2>Limits</h2></section>',
        '<h2><span id="caps">Limits</span></h2>',
    ],
)
def test_anchors_are_the_ids_that_links_use(heading: str) -> None:
    assert parse(f"<h1>Refund rules</h1>{heading}").blocks[1].section_anchor == "refund-rules/caps"


def test_xhtml_elements_that_close_themselves_stay_closed() -> None:
    body = '<div/><a id="one"/><p>x</p><h1><a id="two"/>T</h1><p>y<br/>z</p>'
    parsed = parse(f'<?xml version="1.0"?><html xmlns="x">{body}</html>')
    assert parsed.blocks[1].section_anchor == "two"
    assert parsed.text == "x\n\nT\n\ny\nz"


HIDDEN = [
    "<script>HID</script>", "<style>.HID{}</style>", "<template>HID</template>", "<noscript>HID</noscript>",
    "<iframe>HID</iframe>", "<!-- HID -->", "<p hidden>HID</p>", "<svg><text>HID</text></svg>", '<img alt="HID">',
    "<textarea>HID</textarea>", "<select><option>HID</select>", "<dialog>HID</dialog>", '<input value="HID">',
    '<p style="display:none">HID</p>', '<p style="DISPLAY : none !important">HID</p>',
    '<p style="visibility:hidden">HID</p>',
    '<p style="opacity:0.0">HID</p>', '<p style="font-size:0">HID</p>', '<p style="font-size:1px">HID</p>',
    '<p style="text-indent:-9999px">HID</p>', '<p style="position:absolute;left:-9999px">HID</p>',
    '<p style="color:transparent">HID</p>', '<p style="color:#fff;background:#ffffff">HID</p>',
    '<p style="height:0;overflow:hidden">HID</p>', '<p style="position:absolute;clip:rect(0, 0, 0, 0)">HID</p>',
    "<style>.x .y{display:none}</style><div class=x><p class=y>HID</p></div>",
    "<style>@media print{.z{color:red}} #gone, .q { visibility:hidden }</style><p id=gone>HID</p>",
    "<table><tr><td>a<td hidden>HID<td>b</table>", "<table><tr><td>a<span style='display:none'>HID</span><td>b</table>",
    "<ul hidden><li>HID</ul>", "<head><meta content=HID></head>",
]  # fmt: skip


@pytest.mark.parametrize("source", HIDDEN)
def test_what_no_reader_sees_is_left_out(source: str) -> None:
    assert "HID" not in parse(f"<p>seen</p>{source}<p>also</p>").text


def test_hidden_elements_are_reported() -> None:
    parsed = parse("<p>seen<b hidden>x</b><p style='display:none'>y</p>&#x202e;z")
    assert parsed.warnings == ("removed hidden characters: 1 bidirectional controls", "left out 2 hidden elements")


@pytest.mark.parametrize(
    "source",
    [
        "<style>@media print{.x{display:none}}</style><p class=x>SEEN</p>",
        "<style>@media print{.x{display:none}.y{a:b}}</style><p class=x>SEEN</p>",
        "<style media=print>.x{display:none}</style><p class=x>SEEN</p>",
        "<style>.x:hover{display:none}</style><p class=x>SEEN</p>",
        '<p style="color:white;background:navy">SEEN</p>',
        '<p style="font-size:12px;opacity:0.5;text-indent:-2em">SEEN</p>',
        "<details><summary>s</summary>SEEN</details>",
        "<p style='overflow:hidden;height:100px'>SEEN</p>",
        "<style>}}{{.x{</style><p class=x>SEEN</p>",
    ],
)
def test_what_a_reader_sees_stays(source: str) -> None:
    assert "SEEN" in parse(source).text


def test_inline_details() -> None:
    assert parse("<p>10 m<sup>2</sup>, 1<sup>st</sup>, note<sup><a>1</a></sup>, <q>so</q>").text == (
        "10 m^2, 1st, note1, “so”"
    )
    assert parse("<p>退款申\n   请 三天</p>").text == "退款申请 三天"


def test_charset_is_the_declared_one() -> None:
    assert "朱镕基" in parse("<meta charset=gb2312><p>朱镕基</p>".encode("gbk")).text
    assert parse('<?xml version="1.0" encoding="big5"?><p>退款</p>'.encode("big5")).text == "退款"


@pytest.mark.parametrize("source", ["<p hidden>x</p>", "<script>x</script>", "<p>\u200b</p>", "<div></div>"])
def test_a_page_without_visible_text_is_refused(source: str) -> None:
    with pytest.raises(UnreadableFile, match=r"no visible text|empty"):
        parse(source)


@pytest.mark.parametrize(
    "source",
    [
        "<div>" * 50_000,
        "<div/>" * 50_000,
        "<ul><li>" * 5_000,
        "".join(f"<b id={n}>" for n in range(1_500)) + "<p>x" * 5_000,
        "<b>" * 3_000,
        "<p>" * 1_000_001,
    ],
)
def test_pages_that_take_too_long_are_refused_unparsed(source: str) -> None:
    assert why_refused(source)
    with pytest.raises(UnreadableFile, match="not parsed"):
        parse(source)


@pytest.mark.parametrize(
    "source",
    [
        "<li>x" * 5_000,
        "<p>x" * 5_000,
        "<tr><td>x" * 5_000,
        "<a name=x>" * 3_000,
        "<br>" * 5_000,
        "<script>" + "<div>" * 5_000 + "</script>",
        "<!--" + "<div>" * 5_000 + "-->",
        "<div><p>x</div>" * 5_000,
    ],
)
def test_ordinary_pages_are_not(source: str) -> None:
    assert why_refused(source) is None


@pytest.mark.parametrize("start", ["<!--", "<script", "<title>", "<", "<style>@", "</", "<a/"])
def test_unfinished_markup_takes_linear_time(start: str) -> None:
    parse("<p>x</p>" + start * 50_000)


@pytest.mark.parametrize("css", [100_000 * part for part in ("aa", "/*", "a{", "@a{", "@a{}", "@;")])
def test_unfinished_style_sheets_take_linear_time(css: str) -> None:
    assert parse(f"<style>{css}</style><p>x</p>").text == "x"


def test_size_limit() -> None:
    with pytest.raises(UnreadableFile, match="20 MB"):
        parse(b"x" * (BYTES_MAX + 1))


def test_merged_cells_do_not_multiply_text() -> None:
    parsed = parse("<table><tr><td colspan=1000 rowspan=60000>" + "x" * 300 + "<td>y<tr><td>z" * 500 + "</table>")
    assert len(parsed.text) < 1_000_000
    wide = parse("<table>" + "<tr><td colspan=1000>a<td>b" * 150 + "</table>")
    assert "more than 100,000 table cells: merged ones were not repeated" in wide.warnings


TAGS = st.sampled_from(
    "<p> </p> <div> </div> <table> </table> <tr> <td rowspan=2> <td colspan=2> <ul> <li> </ul> <h1> <h2> </h2> <pre> "
    "</pre> <a> </a> <br> <span hidden> </span> <sup> </sup> <dl> <dt> <dd> &amp; a b 中 1".split()
)


@given(st.lists(TAGS, max_size=40))
def test_any_mixture_of_tags_gives_sound_blocks(checked: Check, parts: list[str]) -> None:
    source = "<p>start</p>" + "".join(parts)
    checked(parse(source))


def test_labels_in_the_head_of_a_page_are_pointed_out() -> None:
    parsed = parse("<meta name=Classification content=restricted><meta name=author content=x><p>Text</p>")
    assert parsed.warnings == ("<meta name=classification> is no label; state labels in a sidecar",)
