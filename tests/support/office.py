"""Archives, Word documents and books built by hand, part by part."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from html import escape

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SPACES = {
    "w": W,
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "v": "urn:schemas-microsoft-com:vml",
}
_DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in _SPACES.items())
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def archive(files: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as container:
        for name, content in files.items():
            container.writestr(name, content)
    return buffer.getvalue()


def docx(
    body: str,
    *,
    styles: str = "",
    numbering: str = "",
    footnotes: str = "",
    endnotes: str = "",
    title: str = "",
    more: Mapping[str, str | bytes] | None = None,
    compression: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    """A Word document from the XML inside `w:body` and inside the roots of its other parts."""
    parts = {"styles": styles, "numbering": numbering, "footnotes": footnotes, "endnotes": endnotes}
    relations = "".join(
        f'<Relationship Id="r{n}" Type="{_RELATIONS}/{kind}" Target="{kind}.xml"/>' for n, kind in enumerate(parts)
    )
    files: dict[str, str | bytes] = {
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r" Type="{_RELATIONS}/officeDocument" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": f"<w:document {_DECLARED}><w:body>{body}<w:sectPr/></w:body></w:document>",
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{relations}</Relationships>',
    }
    for kind, content in parts.items():
        if content:
            files[f"word/{kind}.xml"] = f"<w:{kind} {_DECLARED}>{content}</w:{kind}>"
    if title:
        files["docProps/core.xml"] = (
            f'<c:coreProperties xmlns:c="c" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}'
            "</dc:title></c:coreProperties>"
        )
    return archive({**files, **(more or {})}, compression)


def p(text: str, properties: str = "", run: str = "") -> str:
    """A paragraph of one run with these `w:pPr` and `w:rPr`."""
    return f"<w:p><w:pPr>{properties}</w:pPr>{r(text, run)}</w:p>"


def r(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def table(*rows: str, properties: str = "") -> str:
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{''.join(rows)}</w:tbl>"


def tr(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def tc(content: str, properties: str = "") -> str:
    """A cell; plain text becomes a paragraph."""
    inner = content if content.startswith("<") else p(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def styled(name: str, **kinds: str) -> str:
    """A style `name` with a title, `p`, `r` properties and what it is based on."""
    based = f'<w:basedOn w:val="{kinds["on"]}"/>' if "on" in kinds else ""
    return (
        f'<w:style w:type="{kinds.get("type", "paragraph")}" w:styleId="{name}">'
        f'<w:name w:val="{kinds.get("title", name)}"/>{based}'
        f"<w:pPr>{kinds.get('p', '')}</w:pPr><w:rPr>{kinds.get('r', '')}</w:rPr></w:style>"
    )


def level(place: int, text: str, form: str = "decimal", start: int = 1, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{place}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def lists(definition: str, *nums: str) -> str:
    """numbering.xml: one definition 0 and a list for each of `nums`, numbered from 1, with these overrides."""
    found = "".join(
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="0"/>{inner}</w:num>' for n, inner in enumerate(nums or ("",), 1)
    )
    return f'<w:abstractNum w:abstractNumId="0">{definition}</w:abstractNum>{found}'


def item(text: str, place: int = 0, number: int = 1, more: str = "") -> str:
    """A list item."""
    return p(text, f'{more}<w:numPr><w:ilvl w:val="{place}"/><w:numId w:val="{number}"/></w:numPr>')


def epub(
    chapters: Mapping[str, str | bytes],
    *,
    title: str = "",
    contents: str = "",
    ncx: str = "",
    more: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """A book; `chapters`: file in OEBPS → page, or the inside of its body; `contents`: inside of the `nav`."""
    pages = {
        name: page if isinstance(page, bytes) or page.startswith("<?xml") else xhtml(page)
        for name, page in chapters.items()
    }
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(pages)
    )
    files: dict[str, str | bytes] = {f"OEBPS/{name}": page for name, page in pages.items()}
    if contents:
        items += '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        files["OEBPS/nav.xhtml"] = xhtml(f'<nav epub:type="toc">{contents}</nav>')
    if ncx:
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
        files["OEBPS/toc.ncx"] = f'<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "a" "b"><ncx><navMap>{ncx}</navMap></ncx>'
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(pages)))
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title><dc:language>de-AT'
        f"</dc:language></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    head: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "OEBPS/package.opf": package,
    }
    return archive({**head, **files, **(more or {})})


def xhtml(body: str, head: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head>{head}</head><body>{body}</body></html>'
    )
