"""Mail: subject, who wrote to whom and when, then the text. Attached messages follow; other attachments are named.

Left out: parts that are not text (a warning names them), alternatives beside the chosen one, all other headers.
Nothing is fetched. Quoted history stays where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from email import errors as defects
from email.message import Message
from pathlib import Path

from core.errors import UnreadableFile
from core.ingest.builder import TextBuilder
from core.ingest.clean import clean
from core.ingest.parsers.html import read_html
from core.ingest.parsers.mail_message import charset_text, file_name, header, read_message
from core.ingest.sections import Found, locate
from core.ports import ParsedDocument

_SHOWN = ("From", "To", "Cc", "Date")
_OF_MAIL = frozenset("from to cc subject date received message-id mime-version return-path sender reply-to".split())
_NAMED_MAX = 20
_LEVEL_MAX = 6
_UTF8_MARK = b"\xef\xbb\xbf"
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_CUT_SHORT = (defects.CloseBoundaryNotFoundDefect, defects.StartBoundaryNotFoundDefect)


class MailParser:
    name = "mail/1"
    extensions: tuple[str, ...] = (".eml",)

    def parse(self, path: Path, data: bytes) -> ParsedDocument:
        """Raises UnreadableFile: no mail, nested too deep, or without text."""
        if not data.strip():
            raise UnreadableFile(str(path), "empty", "remove it, or fill it")
        message = read_message(str(path), data.lstrip(b"\r\n").removeprefix(_UTF8_MARK))
        if not any(name.lower() in _OF_MAIL for name in message):
            raise UnreadableFile(str(path), "not what its extension says: it has no headers of mail", "rename it")
        mail = _Mail(str(path))
        mail.add_message(message, 1)
        text, found = mail.joined()
        subject = clean(header(message, "Subject"))[0]
        if not mail.has_body and (not subject or _is_encrypted(message)):
            why = "encrypted" if _is_encrypted(message) else "no text in it"
            raise UnreadableFile(str(path), why, "save its text and its attachments on their own")
        return ParsedDocument(
            text=text,
            blocks=locate(text, found),
            title=subject or path.stem,
            parser=self.name,
            metadata={},
            warnings=mail.all_warnings(),
        )


class _Mail:
    """What is read of one file, piece by piece."""

    def __init__(self, path: str) -> None:
        self.attachments: list[str] = []
        self.has_body = False
        self._path = path
        self._pieces: list[tuple[str, tuple[Found, ...]]] = []
        self._warnings: list[str] = []
        self._cut_short = False

    def add_message(self, message: Message, level: int) -> None:
        """Its headers and text, then the messages attached to it, one level deeper."""
        builder = TextBuilder()
        builder.add("heading", header(message, "Subject"), level=min(level, _LEVEL_MAX))
        lines = [f"{name}: {value}" for name in _SHOWN if (value := header(message, name))]
        builder.add("paragraph", "\n".join(lines))
        self._add(builder.text, tuple(builder.found), builder.warnings)
        attached: list[Message] = []
        for part in self._shown(message, attached):
            self._add_text(part, level)
        for inner in attached:
            self.has_body = True
            self.add_message(inner, level + 1)

    def joined(self) -> tuple[str, tuple[Found, ...]]:
        found: list[Found] = []
        start = 0
        for piece, blocks in self._pieces:
            found += [replace(item, start=item.start + start, end=item.end + start) for item in blocks]
            start += len(piece) + 2
        return "\n\n".join(piece for piece, _ in self._pieces), tuple(found)

    def all_warnings(self) -> tuple[str, ...]:
        result = list(dict.fromkeys(self._warnings))
        if not self.has_body:
            result.append("no text in it but its headers")
        if self._cut_short:
            result.append("cut short: a part has no end")
        if self.attachments:
            more = len(self.attachments) - _NAMED_MAX
            names = ", ".join(self.attachments[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
            result.append(f"attachments were not read: {names}")
        return tuple(result)

    def _shown(self, part: Message, attached: list[Message]) -> Iterator[Message]:
        """The parts whose text is displayed, in order. Attached messages are put aside, other attachments noted."""
        self._cut_short |= any(isinstance(defect, _CUT_SHORT) for defect in part.defects)
        kind, payload = part.get_content_type(), part.get_payload()
        children = [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []
        if kind in ("message/rfc822", "message/global") and children:
            attached += children[:1]
        elif kind == "multipart/alternative" and children:
            yield from self._shown(_best(children), attached)
        elif part.get_content_maintype() == "multipart":
            for child in children:
                yield from self._shown(child, attached)
            if not children and _has_text(part):  # without the boundary it names: the text as it is
                yield part
        elif _is_text(part):
            yield part
        else:
            self.attachments.append(clean(file_name(part))[0] or f"unnamed {kind}")

    def _add_text(self, part: Message, level: int) -> None:
        try:
            text = charset_text(_content(part), part.get_content_charset())
            if part.get_content_type() == "text/html":
                self._add_html(text, level)
            else:
                self._add_plain(text)
        except UnreadableFile as error:
            if _content(part).strip():
                self._warnings.append(f"a part could not be read: {error.reason}")

    def _add_plain(self, text: str) -> None:
        builder = TextBuilder()
        for paragraph in _BLANK_LINES.split(re.sub(r"\r\n?", "\n", text)):
            if paragraph.strip():
                builder.add("paragraph", paragraph)
        self.has_body |= bool(builder.text)
        self._add(builder.text, tuple(builder.found), builder.warnings)

    def _add_html(self, text: str, level: int) -> None:
        if not text.strip():
            return
        page = read_html(self._path, _UTF8_MARK + text.encode("utf-8", "replace"))
        found = tuple(
            replace(item, level=min(item.level + level, _LEVEL_MAX)) if item.kind == "heading" else item
            for item in page.found
        )
        self.has_body |= bool(page.text)
        self._add(page.text, found, page.warnings)

    def _add(self, text: str, found: tuple[Found, ...], warnings: tuple[str, ...]) -> None:
        self._warnings += warnings
        if text:
            self._pieces.append((text, found))


def _best(alternatives: list[Message]) -> Message:
    """The plain text if it says anything, else the HTML, else the last one: the writer's best."""
    for kind in ("text/plain", "text/html"):
        for part in alternatives:
            if any(leaf.get_content_type() == kind and _is_text(leaf) and _has_text(leaf) for leaf in part.walk()):
                return part
    return alternatives[-1]


def _is_text(part: Message) -> bool:
    return part.get_content_type() in ("text/plain", "text/html") and part.get_content_disposition() != "attachment"


def _has_text(part: Message) -> bool:
    return bool(_content(part).strip())


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _is_encrypted(message: Message) -> bool:
    kinds = {part.get_content_type() for part in message.walk()}
    return bool(kinds & {"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
