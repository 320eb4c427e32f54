"""Small PDF files, written by hand: text where it is wanted, and whatever else a file may hold.

Places are in points from the lower left corner, as in PDF itself. The standard fonts F1 to F3 are Helvetica, its bold
and Courier; C1 is of bars that stand for the CJK characters given to `Pdf`.
"""

from __future__ import annotations

from collections.abc import Sequence

A4 = (595, 842)


def text(x: float, y: float, string: str, size: float = 11, font: str = "F1", before: str = "") -> bytes:
    """One show operator; `before` are operators within the text object, such as `3 Tr`."""
    escaped = string.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{font} {size} Tf {before} 1 0 0 1 {x} {y} Tm ({escaped}) Tj ET\n".encode("latin-1")


def lines(x: float, y: float, strings: Sequence[str], size: float = 11, font: str = "F1") -> bytes:
    """One below the other, each a line's height of 1.2 font sizes."""
    return b"".join(text(x, y - 1.2 * size * number, string, size, font) for number, string in enumerate(strings))


def table(x: float, y: float, widths: Sequence[float], rows: Sequence[Sequence[str]], height: float = 18) -> bytes:
    """A ruled table with its upper left corner at (x, y)."""
    total, bottom = sum(widths), y - height * len(rows)
    parts = [f"{x} {y - height * row} m {x + total} {y - height * row} l S\n".encode() for row in range(len(rows) + 1)]
    edges = [x + sum(widths[:number]) for number in range(len(widths) + 1)]
    parts += [f"{edge} {bottom} m {edge} {y} l S\n".encode() for edge in edges]
    for number, row in enumerate(rows):
        for edge, cell in zip(edges, row, strict=False):
            parts.append(text(edge + 4, y - height * number - 13, cell) if cell else b"")
    return b"".join(parts)


class Pdf:
    """Pages first, then `build`."""

    def __init__(self, cjk: str = "", title: str = "") -> None:
        self._objects: list[bytes] = []
        self._pages: list[int] = []
        self._catalog: list[str] = []
        self._title = title
        self._codes = {character: chr(33 + number) for number, character in enumerate(dict.fromkeys(cjk))}
        self.tree = self.add(b"")
        fonts = [self._standard(name) for name in ("Helvetica", "Helvetica-Bold", "Courier")]
        names = " ".join(f"/F{number} {reference} 0 R" for number, reference in enumerate(fonts, 1))
        self._fonts = f"{names} /C1 {self._cjk_font()} 0 R" if cjk else names

    def add(self, content: bytes) -> int:
        """An object; gives its number."""
        self._objects.append(content)
        return len(self._objects)

    def stream(self, data: bytes, entries: str = "") -> int:
        return self.add(f"<< /Length {len(data)} {entries} >>\nstream\n".encode() + data + b"\nendstream")

    def replace(self, number: int, content: bytes) -> None:
        self._objects[number - 1] = content

    def page(self, content: bytes, size: tuple[float, float] = A4, resources: str = "", entries: str = "") -> int:
        """A page; gives its number among the objects."""
        stream = self.stream(content)
        self._pages.append(
            self.add(
                f"<< /Type /Page /Parent {self.tree} 0 R /MediaBox [0 0 {size[0]} {size[1]}] /Contents {stream} 0 R "
                f"/Resources << /Font << {self._fonts} >> {resources} >> {entries} >>".encode()
            )
        )
        return self._pages[-1]

    def cjk(self, string: str) -> str:
        """The codes of CJK characters in C1."""
        return "".join(self._codes[character] for character in string)

    def form(self, content: bytes, entries: str = "") -> int:
        """A form of the size of a page, with the same fonts."""
        box = f"/Type /XObject /Subtype /Form /BBox [0 0 {A4[0]} {A4[1]}]"
        return self.stream(content, f"{box} /Resources << /Font << {self._fonts} >> >> {entries}")

    def picture(self, width: int = 40, height: int = 56) -> int:
        """An image of stripes, as a scan may be."""
        data = bytes(255 if (number // width) % 2 else 40 for number in range(width * height))
        shape = f"/Width {width} /Height {height} /BitsPerComponent 8 /ColorSpace /DeviceGray"
        return self.stream(data, f"/Type /XObject /Subtype /Image {shape}")

    def labels(self, entries: str) -> None:
        """Page labels as a number tree's `Nums`, such as `0 << /S /r >> 2 << /S /D >>`."""
        self._catalog.append(f"/PageLabels << /Nums [{entries}] >>")

    def outline(self, entries: Sequence[tuple[str, int]]) -> list[int]:
        """Titles and page indices, all on one level; gives the objects' numbers, the first that of the root."""
        root = self.add(b"")
        items = [self.add(b"") for _ in entries]
        for number, (title, page) in enumerate(entries):
            before = f"/Prev {items[number - 1]} 0 R" if number else ""
            after = f"/Next {items[number + 1]} 0 R" if number + 1 < len(items) else ""
            name = (b"\xfe\xff" + title.encode("utf-16-be")).hex()
            target = f"/Dest [{self._pages[page]} 0 R /Fit]"
            self.replace(items[number], f"<< /Title <{name}> /Parent {root} 0 R {target} {before} {after} >>".encode())
        ends = f"/First {items[0]} 0 R /Last {items[-1]} 0 R /Count {len(items)}"
        self.replace(root, f"<< /Type /Outlines {ends} >>".encode())
        self._catalog.append(f"/Outlines {root} 0 R")
        return [root, *items]

    def catalog(self, entry: str) -> None:
        self._catalog.append(entry)

    def build(self, trailer: str = "", kids: str | None = None) -> bytes:
        """The file; `kids` instead of the pages, for a tree that is none."""
        kids = " ".join(f"{page} 0 R" for page in self._pages) if kids is None else kids
        tree = f"<< /Type /Pages /Kids [{kids}] /Count {len(kids.split()) // 3} >>"
        self.replace(self.tree, tree.encode())
        catalog = self.add(f"<< /Type /Catalog /Pages {self.tree} 0 R {' '.join(self._catalog)} >>".encode())
        info = self.add(b"<< /Title <" + (b"\xfe\xff" + self._title.encode("utf-16-be")).hex().encode() + b"> >>")
        parts, offsets, length = [b"%PDF-1.7\n"], [], 9
        for number, content in enumerate(self._objects, 1):
            offsets.append(length)
            parts.append(f"{number} 0 obj\n".encode() + content + b"\nendobj\n")
            length += len(parts[-1])
        table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
        size = len(self._objects) + 1
        parts.append(f"xref\n0 {size}\n0000000000 65535 f \n{table}".encode())
        root = f"/Root {catalog} 0 R /Info {info} 0 R"
        parts.append(f"trailer\n<< /Size {size} {root} {trailer} >>\nstartxref\n{length}\n%%EOF\n".encode())
        return b"".join(parts)

    def _standard(self, name: str) -> int:
        return self.add(f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode())

    def _cjk_font(self) -> int:
        """A font that draws its own glyphs: one em wide, hollow, so that something is seen."""
        glyph = self.stream(b"1000 0 d0 100 0 800 150 re f 100 600 800 150 re f 400 0 200 700 re f")
        pairs = "".join(
            f"<{ord(code):02x}> <{character.encode('utf-16-be').hex()}>\n" for character, code in self._codes.items()
        )
        mapping = self.stream(
            b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
            b"1 begincodespacerange <00> <ff> endcodespacerange\n"
            + f"{len(self._codes)} beginbfchar\n{pairs}endbfchar endcmap end end".encode()
        )
        first, last = 33, 32 + len(self._codes)
        return self.add(
            f"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [0.001 0 0 0.001 0 0] "
            f"/CharProcs << /bar {glyph} 0 R >> /Encoding << /Type /Encoding /Differences "
            f"[{first} {'/bar ' * len(self._codes)}] >> /FirstChar {first} /LastChar {last} "
            f"/Widths [{'1000 ' * len(self._codes)}] /Resources << >> /ToUnicode {mapping} 0 R >>".encode()
        )
