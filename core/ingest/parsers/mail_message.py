"""A message as a tree of parts, and its headers as text: within limits, and in whatever charset they were written."""

from __future__ import annotations

import base64
import binascii
import codecs
import quopri
import re
from collections.abc import Sequence
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from typing import Any
from urllib.parse import unquote_to_bytes

from core.errors import UnreadableFile
from core.ingest.decode import decode

DEPTH_MAX = 40
"""Parts inside parts. A message attached to a message takes two levels, so twenty of them."""
PARTS_MAX = 2_000
HEADER_MAX = 100_000
"""Characters of one header; what is beyond is left out."""
_CONTENT_HEADER_MAX = 10_000
_SPLIT_UP = "split the attached messages into files of their own"
_WORD = re.compile(r"=\?([^?\s*]{1,60})(?:\*[^?\s]{0,40})?\?([bBqQ])\?([^?\n]*)\?=")
_BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?[^?\s]{1,100}\?[bBqQ]\?)")
# What writers of a label really use.
_WIDER = {
    **dict.fromkeys(("gb2312", "gbk", "x-gbk", "cp936", "gb_2312-80"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
}
# Any bytes can be read in these, so that the label proves nothing.
_PROVE_NOTHING = frozenset({"ascii", "utf-8", "iso8859-1", "cp1252", "iso8859-15"})


class _TooMuch(Exception):
    pass


class _Part(Message):
    depth = 0

    def attach(self, payload: Any) -> None:
        payload.depth = self.depth + 1
        if payload.depth > DEPTH_MAX:
            raise _TooMuch(f"parts are nested more than {DEPTH_MAX} deep")
        super().attach(payload)


class _Policy(Compat32):
    """Headers as they were written, cut to what can be read in bounded time."""

    def header_source_parse(self, sourcelines: Sequence[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(list(sourcelines))
        return name, value[: _CONTENT_HEADER_MAX if name.lower().startswith("content-") else HEADER_MAX]

    def header_fetch_parse(self, name: str, value: str) -> str:
        return value


def read_message(path: str, data: bytes) -> Message:
    """The tree of parts in `data`, none of them decoded yet. Raises UnreadableFile: nested too deep, too many parts."""
    count = 0

    def part(*arguments: Any, **named: Any) -> _Part:
        nonlocal count
        count += 1
        if count > PARTS_MAX:
            raise _TooMuch(f"more than {PARTS_MAX:,} parts")
        return _Part(*arguments, **named)

    try:
        return BytesParser(part, policy=_Policy()).parsebytes(data)
    except _TooMuch as error:
        raise UnreadableFile(path, f"not parsed: {error}", _SPLIT_UP) from None


def header(message: Message, name: str) -> str:
    """The first header of that name as a person reads it, in one line; empty: there is none."""
    for found, value in message.raw_items():
        if found.lower() == name.lower():
            return readable(value, message.get_content_charset())
    return ""


def readable(value: str, charset: str | None = None) -> str:
    """A header's value with encoded words decoded. `charset`: of the bytes that stand there unencoded, if any do."""
    value = _BETWEEN_WORDS.sub(r"\1", value)
    parts, position = [], 0
    pending: tuple[str, bytes] = ("", b"")
    for match in _WORD.finditer(value):
        if match.start() > position or match[1].lower() != pending[0]:
            parts += [_safe_text(pending[1], pending[0]), _unencoded(value[position : match.start()], charset)]
            pending = (match[1].lower(), b"")
        pending = (pending[0], pending[1] + _word_bytes(match[2], match[3]))
        position = match.end()
    parts += [_safe_text(pending[1], pending[0]), _unencoded(value[position:], charset)]
    return " ".join("".join(parts).split())


def file_name(part: Message) -> str:
    """Name of an attachment in any of the ways to write it, without folders; empty: it has none."""
    for name, where in (("filename", "content-disposition"), ("name", "content-type")):
        value = part.get_param(name, None, where)
        if isinstance(value, tuple):  # RFC 2231; its text stands for bytes
            charset, _, raw = value
            text = _safe_text(raw.encode("latin-1", "replace"), charset or "utf-8")
        elif value:
            text = readable(str(value))
            if re.match(r"(?i)utf-8''", text):
                text = unquote_to_bytes(text[7:]).decode("utf-8", "replace")
        else:
            continue
        text = " ".join(text.strip().strip('"').replace("\\", "/").rsplit("/", 1)[-1].split())
        if text:
            return text
    return ""


def charset_text(data: bytes, declared: str | None) -> str:
    """`data` in the declared charset, widened; in another where it proves to be wrong. White space stays.

    Raises UnreadableFile for bytes that are no text.
    """
    if not data.strip():
        return " " if data else ""
    name = (declared or "").strip().strip("\"'").lower()
    try:
        codec = codecs.lookup(_WIDER.get(name, name))
        if codec.name not in _PROVE_NOTHING and codec._is_text_encoding and b"\0" not in data:
            return data.decode(codec.name)
    except (LookupError, ValueError):
        pass
    return decode("", data, name).text


def _unencoded(text: str, charset: str | None) -> str:
    return text if text.isascii() else _safe_text(text.encode("utf-8", "surrogateescape"), charset)


def _safe_text(data: bytes, charset: str | None) -> str:
    """The same for headers, where what cannot be read must not keep the rest from being read."""
    try:
        return charset_text(data, charset)
    except UnreadableFile:
        return data.decode("ascii", "replace")


def _word_bytes(encoding: str, text: str) -> bytes:
    raw = text.encode("ascii", "replace")
    if encoding in "qQ":
        return quopri.decodestring(raw, header=True)
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4))
    except (binascii.Error, ValueError):
        return raw
