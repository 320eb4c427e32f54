"""Files that are meant to harm whoever reads them, built anew each time: no binary lies in the repository.

`CANARY_WORD` stands in a file outside the folder: some of these try to read it, some to call `PORT` of this machine.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

CANARY_WORD = "zephyranthes4711"
MB = 1_000_000

_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>{parts}</Types>'
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Target="{target}" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>{more}</Relationships>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "application/vnd.openxmlformats-officedocument"


def zipped(members: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def docx(body: str = "<w:p><w:r><w:t>words</w:t></w:r></w:p>", head: str = "", more: str = "", **extra: bytes) -> bytes:
    part = f'<Override PartName="/word/document.xml" ContentType="{_OFFICE}.wordprocessingml.document.main+xml"/>'
    document = f'<?xml version="1.0"?>{head}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
    return zipped(
        {
            "[Content_Types].xml": _TYPES.format(parts=part),
            "_rels/.rels": _RELATIONS.format(target="word/document.xml", more=""),
            "word/_rels/document.xml.rels": _RELATIONS.format(target="x.xml", more=more),
            "word/document.xml": document,
            **{name.replace("__", "/"): content for name, content in extra.items()},
        }
    )


def xlsx(sheet: str, head: str = "") -> bytes:
    parts = f'<Override PartName="/xl/workbook.xml" ContentType="{_OFFICE}.spreadsheetml.sheet.main+xml"/>'
    workbook = (
        f'<workbook xmlns="{_SHEET}" xmlns:r="{_RELATION}"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets>'
    )
    relation = f'<Relationship Id="r1" Type="{_RELATION}/worksheet" Target="worksheets/a.xml"/>'
    return zipped(
        {
            "[Content_Types].xml": _TYPES.format(parts=parts),
            "_rels/.rels": _RELATIONS.format(target="xl/workbook.xml", more=""),
            "xl/workbook.xml": f'<?xml version="1.0"?>{workbook}</workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{relation}</Relationships>',
            "xl/worksheets/a.xml": f'<?xml version="1.0"?>{head}<worksheet xmlns="{_SHEET}">{sheet}</worksheet>',
        }
    )


def epub(page: str, opf_path: str = "content.opf") -> bytes:
    root = f'<rootfile full-path="{opf_path}" media-type="application/oebps-package+xml"/>'
    container = (
        '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
        f"<rootfiles>{root}</rootfiles></container>"
    )
    opf = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest>'
        '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "content.opf": opf,
            "a.xhtml": page,
        }
    )


def pdf(objects: list[bytes], trailer: bytes = b"/Root 1 0 R") -> bytes:
    out = b"%PDF-1.7\n"
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer\n<</Size %d %s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)


def page(content: bytes, catalog: bytes = b"", filters: bytes = b"") -> bytes:
    return pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R" + catalog + b">>",
            b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R"
            b"/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
            b"<<" + filters + b"/Length %d>>\nstream\n" % len(content) + content + b"\nendstream",
        ]
    )


def _entities(outside: Path, port: int) -> Iterator[tuple[str, str]]:
    laughs = '<!ENTITY a "ha">' + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    yield "laughs", f"<!DOCTYPE x [{laughs}]>"
    yield "file", f'<!DOCTYPE x [<!ENTITY j SYSTEM "file://{outside}">]>'
    yield "net", f'<!DOCTYPE x [<!ENTITY j SYSTEM "http://127.0.0.1:{port}/">]>'
    yield "parameter", f'<!DOCTYPE x [<!ENTITY % j SYSTEM "http://127.0.0.1:{port}/x.dtd"> %j;]>'
    yield "dtd", f'<!DOCTYPE x SYSTEM "http://127.0.0.1:{port}/x.dtd">'


def _xml(outside: Path, port: int) -> Iterator[tuple[str, bytes]]:
    for name, head in _entities(outside, port):
        yield f"xml-{name}.docx", docx("<w:p><w:r><w:t>&j;</w:t></w:r></w:p>", head)
        yield f"xml-{name}.xlsx", xlsx('<sheetData><row r="1"><c r="A1" t="str"><v>&j;</v></c></row></sheetData>', head)
        yield f"xml-{name}.epub", epub(f'<?xml version="1.0"?>{head}<html><body><p>&j;</p></body></html>')
        yield f"xml-{name}.html", f"<?xml version='1.0'?>{head}<html><body><p>x &j;</p></body></html>".encode()


def _archives() -> Iterator[tuple[str, bytes]]:
    zeros = b"\0" * (60 * MB)
    yield "bomb-ratio.docx", docx(word__media__a=zeros)
    yield "bomb-text.docx", docx("<w:p><w:r><w:t>" + "a" * (80 * MB) + "</w:t></w:r></w:p>")
    yield "bomb-sheet.xlsx", xlsx("<sheetData>" + '<row><c t="str"><v>aaaa</v></c></row>' * 1_500_000 + "</sheetData>")
    yield "bomb-nested.docx", docx(word__a=zipped({"b.zip": zipped({"c": zeros})}))
    yield "bomb-entries.epub", zipped({f"{n}": "" for n in range(70_000)}, zipfile.ZIP_STORED)
    yield "bomb-page.epub", epub("<html><body>" + "<p>a" * 4_000_000 + "</body></html>")
    yield "bomb-size.pptx", docx()[:-40] + b"\xff" * 40
    yield (
        "sheet-huge-reference.xlsx",
        xlsx(
            '<dimension ref="A1:XFD1048576"/>'
            '<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
        ),
    )
    yield (
        "sheet-merged.xlsx",
        xlsx(
            '<sheetData><row r="1"><c r="A1" t="str"><v>word</v></c></row></sheetData>'
            '<mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells>'
        ),
    )
    for name in ("../../escaped.txt", "/tmp/escaped.txt", "..\\..\\escaped.txt", "C:\\escaped.txt", "a\0b"):
        yield f"member-{len(name)}-{zlib.crc32(name.encode()):x}.docx", docx(**{name: b"x"})
    yield "opf-outside.epub", epub("<html><body>x</body></html>", "../../../../etc/passwd")
    yield "deep.docx", docx("<w:tbl><w:tr><w:tc>" * 3_000 + "</w:tc></w:tr></w:tbl>" * 3_000)


def _links(outside: Path, port: int) -> Iterator[tuple[str, bytes]]:
    for name, target in {"net": f"http://127.0.0.1:{port}/a.png", "file": f"file://{outside}"}.items():
        relation = (
            f'<Relationship Id="r9" TargetMode="External" Target="{target}" '
            'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"/>'
        )
        yield f"link-{name}.docx", docx(more=relation)
        yield f"link-{name}.html", f'<link rel=stylesheet href="{target}"><img src="{target}"><p>words'.encode()
        yield f"link-{name}.md", f"# Words\n\n![a]({target})\n\n<iframe src='{target}'></iframe>\n".encode()
        yield (
            f"link-{name}.epub",
            epub(f'<html><head><link href="{target}" rel="stylesheet"/></head><body>w</body></html>'),
        )


def _pdfs(outside: Path, port: int) -> Iterator[tuple[str, bytes]]:
    words = b"BT /F 12 Tf 20 100 Td (words) Tj ET"
    bomb = zlib.compress(zlib.compress(b"q " * (100 * MB)))
    yield "bomb.pdf", page(bomb, filters=b"/Filter[/FlateDecode/FlateDecode]")
    yield "filters.pdf", page(words, filters=b"/Filter[" + b"/ASCIIHexDecode" * 5_000 + b"]")
    yield "cycle.pdf", pdf([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 9/Kids[2 0 R 2 0 R]>>"])
    yield "count.pdf", pdf([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 2000000000/Kids[]>>"])
    yield "script.pdf", page(words, b"/OpenAction<</S/JavaScript/JS(app.alert(1))>>")
    yield "uri.pdf", page(words, b"/OpenAction<</S/URI/URI(http://127.0.0.1:%d/)>>" % port)
    yield "launch.pdf", page(words, b"/OpenAction<</S/Launch/F(" + str(outside).encode() + b")>>")
    yield "loop.pdf", pdf([b"<</Type/Catalog/Pages 1 0 R>>"], b"/Root 1 0 R/Prev 9")
    yield (
        "encrypted.pdf",
        pdf(
            [
                b"<</Type/Catalog/Pages 2 0 R>>",
                b"<</Type/Pages/Count 0/Kids[]>>",
                b"<</Filter/Standard/V 4/R 4/O()/U()/P 0>>",
            ],
            b"/Root 1 0 R/Encrypt 3 0 R",
        ),
    )
    yield "big-stream.pdf", page(b"(" * (3 * MB))


def _texts() -> Iterator[tuple[str, bytes]]:
    yield "line.txt", b"a" * (4 * MB)
    yield "cell.csv", b'a,b\n"' + b"x" * (4 * MB) + b'",1\n'
    yield "columns.csv", b"," * 1_000_000 + b"\n1\n"
    yield "quotes.csv", b'"' * 200_001
    yield "nested.json", b"[" * 200_000 + b"]" * 200_000
    yield "nested.html", b"<div>" * 200_000 + b"word"
    yield "nested.md", b">" * 100_000 + b" word\n" + b"[" * 100_000
    yield "number.json", b'{"a": ' + b"9" * 500_000 + b"}"
    yield (
        "aliases.yaml.md",
        b"---\na: &a [x]\nb: [*a, *a]\ntitle: &t !!python/object/apply:os.system [id]\n---\nwords\n",
    )
    yield "nul.txt", b"words\0and\0more" * 10
    yield "surrogate.json", b'{"text": "\\ud800 words"}'
    yield "not-utf8.md", b"# \xff\xfe\xfa words \x80\x81\n"
    yield (
        "parts.eml",
        b"Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 20_000 + b"--b--\n",
    )
    yield "header.eml", b"Subject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\nwords\n"
    yield "base64.eml", b"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n" + b"!@#$" * 1_000
    boundaries = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(500))
    yield "nested.eml", boundaries + b"\nwords"


def _wrong() -> Iterator[tuple[str, bytes]]:
    for extension in ("pdf", "docx", "xlsx", "pptx", "epub", "ods", "eml", "json", "csv", "html", "md", "txt"):
        yield f"empty.{extension}", b""
    for extension, good in {"pdf": page(b""), "docx": docx(), "xlsx": xlsx("<sheetData/>")}.items():
        yield f"cut.{extension}", good[: len(good) // 2]
    yield "program.pdf", b"\x7fELF" + os.urandom(500)
    yield "picture.docx", b"\x89PNG\r\n\x1a\n" + os.urandom(500)
    yield "really-a-pdf.docx", page(b"")
    yield "really-a-docx.pdf", docx()
    yield "page.csv", b"<html><body><script>alert(1)</script></body></html>\n"
    yield "CON.txt", b"words of a name that another system keeps for itself\n"
    yield "‮cod.txt", b"words of a name that runs backwards\n"


def write(folder: Path, outside: Path, port: int) -> list[str]:
    """All of them into `folder`, beside `good.md`; names, sorted. Also a link, a pipe and a folder that lead astray."""
    folder.mkdir()
    made = [*_xml(outside, port), *_archives(), *_links(outside, port), *_pdfs(outside, port), *_texts(), *_wrong()]
    for name, data in made:
        (folder / name).write_bytes(data)
    (folder / "link.txt").symlink_to(outside)
    (folder / "linked").symlink_to(outside.parent, target_is_directory=True)
    (folder / "pipe.txt").parent.mkdir(exist_ok=True)
    os.mkfifo(folder / "pipe.txt")
    (folder / "good.md").write_text("# Good\n\nThe good file goes in.\n", "utf-8")
    return sorted(name for name, _ in made)
