"""Plain text: the text itself, a paragraph wherever blank lines part it."""

from __future__ import annotations

from pathlib import Path

from core.ingest.decode import decode
from core.ingest.sections import Found, locate
from core.ports import ParsedDocument


class PlainParser:
    name = "plain/1"
    extensions: tuple[str, ...] = (".txt", ".text", ".log", ".rst")

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile."""
        decoded = decode(str(path), data)
        text = without_blank_ends(decoded.text)
        blocks = locate(text, paragraphs(text))
        return ParsedDocument(text, blocks, path.stem, self.name, {}, warnings=decoded.warnings)


def without_blank_ends(text: str) -> str:
    """`text` without blank lines before it and white space after it; the first line keeps its indent."""
    text = text.rstrip()
    first = len(text) - len(text.lstrip())
    return text[text.rfind("\n", 0, first) + 1 :]


def paragraphs(text: str) -> list[Found]:
    """Runs of lines that are not blank."""
    found: list[Found] = []
    start = offset = 0
    inside = False
    for line in text.split("\n"):
        blank = not line.strip()
        if inside and blank:
            found.append(Found(start, offset - 1, "paragraph"))
        elif not inside and not blank:
            start = offset
        inside = not blank
        offset += len(line) + 1
    if inside:
        found.append(Found(start, len(text), "paragraph"))
    return found
