"""Builds the demo's binary documents from readable sources, byte for byte the same each time.

    python demo_files.py [NAME…]      all of them, or those whose path contains one of the names

`sources/` holds what a maintainer edits: HTML for PDF (printed by Chromium), Markdown for DOCX and EPUB, YAML for XLSX
and PPTX, plain mails for EML, UTF-8 text for notices in other encodings. The folders below `sources/KIND` are those
below `documents`. PDF depends on the version of Chromium and its fonts; the other formats on libraries alone.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime
from email import policy
from email.message import EmailMessage
from html import escape
from pathlib import Path
from typing import Any

import xlsxwriter  # type: ignore[import-untyped]
import yaml
from markdown_it import MarkdownIt
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Cm, Pt

HERE = Path(__file__).resolve().parent
SOURCES, DOCUMENTS = HERE / "sources", HERE / "documents"
MOMENT = datetime(2026, 11, 30, 12, 0, 0)
ISO = "2026-11-30T12:00:00Z"
ENCODINGS = {"安平店搬遷公告.txt": "big5", "仓库盘点通知.txt": "gb18030"}


def main(names: list[str]) -> None:
    for source, target, build in targets():
        if not names or any(name in str(target) for name in names):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(build(source))
            print(target.relative_to(HERE), target.stat().st_size)


def targets() -> Iterator[tuple[Path, Path, Callable[[Path], bytes]]]:
    """Each source with its document and what makes the one from the other."""
    kinds: tuple[tuple[str, str, str, Callable[[Path], bytes]], ...] = (
        ("docx", ".docx.md", ".docx", build_docx),
        ("epub", ".epub.md", ".epub", build_epub),
        ("xlsx", ".yaml", ".xlsx", build_xlsx),
        ("pptx", ".yaml", ".pptx", build_pptx),
        ("eml", ".mail", ".eml", build_eml),
        ("pdf", ".html", ".pdf", build_pdf),
        ("texts", ".txt", ".txt", build_text),
    )
    for kind, ending, extension, build in kinds:
        folder = SOURCES / kind
        for source in sorted(folder.rglob(f"*{ending}")):
            relative = source.relative_to(folder)
            yield source, DOCUMENTS / relative.with_name(relative.name.removesuffix(ending) + extension), build


def packed(parts: dict[str, bytes], *, first: str | None = None) -> bytes:
    """A zip file without the time of its making; `first` is stored uncompressed before the others."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ([first] if first else []) + [name for name in parts if name != first]:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_STORED if name == first else zipfile.ZIP_DEFLATED
            archive.writestr(info, parts[name])
    return buffer.getvalue()


def repacked(data: bytes) -> bytes:
    """An Office file with fixed dates, also in the workbooks embedded in it."""
    parts = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in sorted(archive.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            content = archive.read(name)
            if name.endswith(".xlsx"):
                content = repacked(content)
            elif name == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*", rb"\g<1>" + ISO.encode(), content)
            parts[name] = content
    return packed(parts)


def headed(source: Path) -> tuple[dict[str, str], str]:
    """`key: value` lines above a line of three dashes, and what follows."""
    head, _, body = source.read_text("utf-8").partition("\n---\n")
    return dict(line.split(": ", 1) for line in head.splitlines()), body


# ------------------------------------------------------------------------------------------------------------- texts


def build_text(source: Path) -> bytes:
    return source.read_text("utf-8").encode(ENCODINGS[source.name])


# --------------------------------------------------------------------------------------------------------------- PDF


def build_pdf(source: Path) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "out.pdf")
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        command += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}", source.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        data = target.read_bytes()
    stamp = MOMENT.strftime("D:%Y%m%d%H%M%S").encode()
    return re.sub(rb"D:\d{14}", stamp, data)  # the length stays, so offsets hold


# -------------------------------------------------------------------------------------------------------------- DOCX

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def build_docx(source: Path) -> bytes:
    head, body = headed(source)
    notes = dict(re.findall(r"^\[\^(\d+)\]: (.*)$", body, re.MULTILINE))
    blocks = re.split(r"\n\s*\n", re.sub(r"^\[\^\d+\]: .*$", "", body, flags=re.MULTILINE).strip())
    content = paragraph(head["title"], "Title") + "".join(block_xml(block) for block in blocks)
    footnotes = "".join(
        f'<w:footnote w:id="{number}"><w:p><w:pPr><w:pStyle w:val="FootnoteText"/></w:pPr>'
        f"<w:r><w:footnoteRef/></w:r>{runs(' ' + text)}</w:p></w:footnote>"
        for number, text in notes.items()
    )
    parts = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relationships(
            ("officeDocument", "word/document.xml"),
            (f"{PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
        ),
        "docProps/core.xml": _core(head["title"], head["language"]),
        "word/document.xml": f"<w:document {W}><w:body>{content}<w:sectPr/></w:body></w:document>",
        "word/styles.xml": _styles(head["language"]),
        "word/numbering.xml": _numbering(),
        "word/footnotes.xml": f"<w:footnotes {W}>{footnotes}</w:footnotes>",
        "word/_rels/document.xml.rels": _relationships(
            ("styles", "styles.xml"), ("numbering", "numbering.xml"), ("footnotes", "footnotes.xml")
        ),
    }
    return packed({name: (XML + text).encode() for name, text in parts.items()})


def block_xml(block: str) -> str:
    if heading := re.match(r"(#+) (.*)", block):
        return paragraph(heading[2], f"Heading{len(heading[1])}")
    if block.startswith("|"):
        return table_xml(block)
    if block.startswith("- "):
        return "".join(paragraph(line[2:], "ListBullet") for line in block.splitlines())
    return paragraph(block.replace("\n", " "), "")


def paragraph(text: str, style: str) -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}{runs(text)}</w:p>"


def runs(text: str) -> str:
    """Runs of a paragraph: `**bold**` and `[^1]` are understood."""
    result = ""
    for piece in re.split(r"(\*\*.+?\*\*|\[\^\d+\])", text):
        if note := re.fullmatch(r"\[\^(\d+)\]", piece):
            raised = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
            result += f'<w:r>{raised}<w:footnoteReference w:id="{note[1]}"/></w:r>'
        elif piece:
            bold = piece.startswith("**")
            shown = escape(piece.strip("*") if bold else piece, quote=False)
            result += f'<w:r>{"<w:rPr><w:b/></w:rPr>" if bold else ""}<w:t xml:space="preserve">{shown}</w:t></w:r>'
    return result


def table_xml(block: str) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
    del rows[1]
    grid = "<w:gridCol/>" * len(rows[0])
    xml = f'<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/></w:tblPr><w:tblGrid>{grid}</w:tblGrid>'
    for number, row in enumerate(rows):
        head = "<w:trPr><w:tblHeader/></w:trPr>" if number == 0 else ""
        xml += f"<w:tr>{head}" + "".join(f"<w:tc><w:tcPr/>{paragraph(cell, '')}</w:tc>" for cell in row) + "</w:tr>"
    return xml + "</w:tbl>" + "<w:p/>"


def _styles(language: str) -> str:
    fonts = '<w:rFonts w:ascii="Noto Sans" w:hAnsi="Noto Sans" w:eastAsia="Noto Sans CJK TC"/>'
    xml = f"<w:styles {W}><w:docDefaults><w:rPrDefault><w:rPr>{fonts}"
    xml += f'<w:lang w:val="{language}" w:eastAsia="{language}"/></w:rPr></w:rPrDefault></w:docDefaults>'
    for name, shown in (("Title", "Title"), ("FootnoteText", "footnote text")):
        xml += f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{shown}"/></w:style>'
    for level in (1, 2, 3):
        numbered = f'<w:numPr><w:ilvl w:val="{level - 1}"/><w:numId w:val="1"/></w:numPr>'
        numbered += f'<w:outlineLvl w:val="{level - 1}"/>'
        xml += f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        xml += f"<w:pPr>{numbered}</w:pPr><w:rPr><w:b/></w:rPr></w:style>"
    listed = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr>'
    xml += '<w:style w:type="paragraph" w:styleId="ListBullet"><w:name w:val="List Bullet"/>'
    xml += f"<w:pPr>{listed}</w:pPr></w:style>"
    return xml + '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/></w:style></w:styles>'


def _numbering() -> str:
    xml = f'<w:numbering {W}><w:abstractNum w:abstractNumId="0"><w:multiLevelType w:val="multilevel"/>'
    for level in range(3):
        text = ".".join(f"%{number + 1}" for number in range(level + 1)) + ("." if level == 0 else "")
        xml += f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
        xml += f'<w:pStyle w:val="Heading{level + 1}"/><w:lvlText w:val="{text}"/></w:lvl>'
    xml += '</w:abstractNum><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/>'
    xml += '<w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl></w:abstractNum>'
    for number in (1, 2):
        xml += f'<w:num w:numId="{number}"><w:abstractNumId w:val="{number - 1}"/></w:num>'
    return xml + "</w:numbering>"


def _relationships(*found: tuple[str, str]) -> str:
    lines = "".join(
        f'<Relationship Id="rId{number}" Type="{kind if "/" in kind else f"{OFFICE}/{kind}"}" Target="{target}"/>'
        for number, (kind, target) in enumerate(found, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{lines}</Relationships>'


def _content_types() -> str:
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    parts = {"document": "document.main", "styles": "styles", "numbering": "numbering", "footnotes": "footnotes"}
    overrides = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{word}.{kind}+xml"/>' for name, kind in parts.items()
    )
    core = "application/vnd.openxmlformats-package.core-properties+xml"
    return (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'{overrides}<Override PartName="/docProps/core.xml" ContentType="{core}"/></Types>'
    )


def _core(title: str, language: str) -> str:
    return (
        f'<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>Tidewheel Cycles</dc:creator>"
        f'<dc:language>{language}</dc:language><dcterms:created xsi:type="dcterms:W3CDTF">{ISO}</dcterms:created>'
        f'<dcterms:modified xsi:type="dcterms:W3CDTF">{ISO}</dcterms:modified></cp:coreProperties>'
    )


# -------------------------------------------------------------------------------------------------------------- EPUB


def build_epub(source: Path) -> bytes:
    head, body = headed(source)
    chapters = [part.strip() for part in re.split(r"^(?=# )", body, flags=re.MULTILINE) if part.strip()]
    titles = [chapter.split("\n", 1)[0].removeprefix("# ") for chapter in chapters]
    names = [f"chapter-{number}.xhtml" for number in range(1, len(chapters) + 1)]
    pages = {
        name: _xhtml(title, MarkdownIt("commonmark").enable("table").render(chapter), head["language"])
        for name, title, chapter in zip(names, titles, chapters, strict=True)
    }
    links = "".join(f'<li><a href="{name}">{escape(title)}</a></li>' for name, title in zip(names, titles, strict=True))
    contents = f'<nav epub:type="toc"><h1>Contents</h1><ol>{links}</ol></nav>'
    container = (
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
        'full-path="book/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": XML + container,
        "book/package.opf": XML + _package(head, names),
        "book/nav.xhtml": _xhtml("Contents", contents, head["language"]),
        **{f"book/{name}": page for name, page in pages.items()},
    }
    return packed({name: text.encode() for name, text in parts.items()}, first="mimetype")


def _xhtml(title: str, body: str, language: str) -> str:
    return (
        f'{XML}<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="{language}" '
        f'xml:lang="{language}"><head><title>{escape(title)}</title></head><body>{body}</body></html>'
    )


def _package(head: dict[str, str], names: list[str]) -> str:
    kind = "application/xhtml+xml"
    items = "".join(f'<item id="c{n}" href="{name}" media-type="{kind}"/>' for n, name in enumerate(names))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(names)))
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">{head["identifier"]}'
        f"</dc:identifier><dc:title>{escape(head['title'])}</dc:title><dc:creator>{escape(head['author'])}</dc:creator>"
        f'<dc:language>{head["language"]}</dc:language><meta property="dcterms:modified">{head["modified"]}</meta>'
        '</metadata><manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        f"{items}</manifest><spine>{spine}</spine></package>"
    )


# -------------------------------------------------------------------------------------------------------------- XLSX

FORMATS: dict[str, dict[str, Any]] = {
    "title": {"bold": True, "font_size": 13},
    "header": {"bold": True, "bottom": 1},
    "gbp": {"num_format": '"£"#,##0.00'},
    "gbp0": {"num_format": '"£"#,##0'},
    "twd": {"num_format": '"NT$"#,##0'},
    "cny": {"num_format": '"¥"#,##0.00'},
    "kg": {"num_format": '0.00" kg"'},
    "int": {"num_format": "#,##0"},
    "percent": {"num_format": "0%"},
    "percent1": {"num_format": "0.0%"},
    "rate": {"num_format": "0.00"},
    "date": {"num_format": "yyyy-mm-dd"},
    "month": {"num_format": "mmm yyyy"},
}


def build_xlsx(source: Path) -> bytes:
    content = yaml.safe_load(source.read_text("utf-8"))
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True})
    book.set_properties({"title": content["title"], "author": "Tidewheel Cycles", "created": MOMENT})
    formats = {name: book.add_format({**properties, "valign": "vcenter"}) for name, properties in FORMATS.items()}
    for sheet_content in content["sheets"]:
        sheet = book.add_worksheet(sheet_content["name"])
        if sheet_content.get("hidden"):
            sheet.hide()
        for column, width in enumerate(sheet_content.get("widths", ())):
            sheet.set_column(column, column, width)
        for number, row in sheet_content["rows"].items():
            for column, cell in enumerate(row):
                write_cell(sheet, number - 1, column, cell, formats, number == sheet_content.get("header"))
        for merge in sheet_content.get("merges", ()):
            merge_cells(sheet, merge, formats)
    book.close()
    return repacked(buffer.getvalue())


def write_cell(sheet: Any, row: int, column: int, cell: Any, formats: dict[str, Any], header: bool) -> None:
    value, name = (cell["v"], cell["f"]) if isinstance(cell, dict) else (cell, "header" if header else None)
    if value is None:
        return
    style = formats[name] if name else None
    if name in ("date", "month"):
        sheet.write_datetime(row, column, date.fromisoformat(str(value)), style)
    else:
        sheet.write(row, column, value, style)


def merge_cells(sheet: Any, merge: dict[str, Any], formats: dict[str, Any]) -> None:
    first, last = merge["range"].split(":")
    style = formats[merge.get("format", "header")]
    if first == last:
        sheet.write(first, merge["text"], style)
    else:
        sheet.merge_range(merge["range"], merge["text"], style)


# -------------------------------------------------------------------------------------------------------------- PPTX

CHARTS = {"column": "COLUMN_CLUSTERED", "bar": "BAR_CLUSTERED", "line": "LINE"}


def build_pptx(source: Path) -> bytes:
    content = yaml.safe_load(source.read_text("utf-8"))
    show = Presentation()
    show.core_properties.title, show.core_properties.author = content["title"], "Tidewheel Cycles"
    for number, slide_content in enumerate(content["slides"]):
        slide = show.slides.add_slide(show.slide_layouts[0 if number == 0 else 5])
        slide.shapes.title.text = slide_content["title"]
        if number == 0:
            slide.placeholders[1].text = slide_content["subtitle"]
        top = 4.2
        for part, add in (("table", add_table), ("chart", add_chart), ("bullets", add_bullets)):
            if part in slide_content:
                top += add(slide, slide_content[part], top)
        if "notes" in slide_content:
            slide.notes_slide.notes_text_frame.text = slide_content["notes"]
    buffer = io.BytesIO()
    show.save(buffer)
    return repacked(buffer.getvalue())


def add_table(slide: Any, rows: list[list[str]], top: float) -> float:
    height = 1.1 * len(rows)
    table = slide.shapes.add_table(len(rows), len(rows[0]), Cm(1.5), Cm(top), Cm(22), Cm(height)).table
    for y, row in enumerate(rows):
        for x, text in enumerate(row):
            table.cell(y, x).text = text
    return height + 0.5


def add_chart(slide: Any, content: dict[str, Any], top: float) -> float:
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = content["categories"]
    for series in content["series"]:
        data.add_series(series["name"], series["values"])  # type: ignore[no-untyped-call]
    kind = getattr(XL_CHART_TYPE, CHARTS[content["kind"]])
    slide.shapes.add_chart(kind, Cm(1.5), Cm(top), Cm(22), Cm(8.5), data)
    return 9.0


def add_bullets(slide: Any, lines: list[str], top: float) -> float:
    frame = slide.shapes.add_textbox(Cm(1.5), Cm(top), Cm(22), Cm(1.2 * len(lines))).text_frame
    frame.word_wrap = True
    for number, line in enumerate(lines):
        added = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        added.text = line
        added.font.size = Pt(18)
    return 1.2 * len(lines)


# --------------------------------------------------------------------------------------------------------------- EML


def build_eml(source: Path) -> bytes:
    first, *attached = source.read_text("utf-8").split("\n--- attached message\n")
    message = mail(first)
    for text in attached:
        message.add_attachment(mail(text))
        message.set_boundary("=_tidewheel_1")
    return message.as_bytes(policy=policy.SMTP)


def mail(text: str) -> EmailMessage:
    head, _, body = text.partition("\n\n")
    message = EmailMessage(policy=policy.SMTP)
    for line in head.splitlines():
        name, value = line.split(": ", 1)
        message[name] = value
    encoding = "quoted-printable" if body.isascii() else "base64"
    message.set_content(body.rstrip("\n") + "\n", charset="utf-8", cte=encoding)
    return message


if __name__ == "__main__":
    main(sys.argv[1:])
