"""One parser a format."""

from __future__ import annotations

from pathlib import PurePath

from core.errors import UnreadableFile
from core.ingest.parsers.docx import DocxParser
from core.ingest.parsers.epub import EpubParser
from core.ingest.parsers.html import HtmlParser
from core.ingest.parsers.mail import MailParser
from core.ingest.parsers.markdown import MarkdownParser
from core.ingest.parsers.pdf import PdfParser
from core.ingest.parsers.plain import PlainParser
from core.ingest.parsers.sheets import SheetParser
from core.ingest.parsers.slides import SlideParser
from core.ingest.parsers.table import DelimitedParser, RecordsParser
from core.ports import Parser

PARSERS: tuple[Parser, ...] = (
    *(MarkdownParser(), PlainParser(), HtmlParser(), DelimitedParser(), RecordsParser()),
    *(PdfParser(), DocxParser(), EpubParser(), SheetParser(), SlideParser(), MailParser()),
)


def known_extensions() -> tuple[str, ...]:
    return tuple(sorted(extension for parser in PARSERS for extension in parser.extensions))


def parser_for(path: PurePath) -> Parser:
    """The parser for a file's extension, in any case. Raises UnreadableFile that lists the known ones."""
    extension = path.suffix.lower()
    for parser in PARSERS:
        if extension in parser.extensions:
            return parser
    reason = f"no parser for {extension}" if extension else "no extension, so no parser"
    raise UnreadableFile(str(path), reason, f"known extensions: {' '.join(known_extensions())}")
