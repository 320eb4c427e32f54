"""Bytes to text, whatever their encoding, and a refusal for bytes that are no text."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from core.errors import UnreadableFile
from core.ingest.clean import clean, warnings_of

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or Office document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or encrypted Office document"),
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"\x1f\x8b\x08", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"{\\rtf", "an RTF document"),
)
_WIDER = {
    "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "cp936": "gb18030",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "big5": "cp950", "iso-8859-1": "cp1252", "latin1": "cp1252",
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-9": "cp1254",
}  # fmt: skip
_DETECTABLE = ["gb18030", "big5", "cp932", "euc_jp", "euc_kr", "cp949", "cp1252", "cp1250", "cp1251", "koi8_r",
               "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"]  # fmt: skip
_DETECTOR_BYTES = 1_000_000
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]")
_HIGH_BYTES = bytes(range(128, 256))
_NEVER_TEXT = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str
    """Newlines are `\\n`, hidden characters are gone."""
    encoding: str
    warnings: tuple[str, ...]


def decode(path: str, data: bytes, declared: str | None = None) -> Decoded:
    """The text in `data`. `declared`: the charset that the file itself names.

    In this order: byte order mark, zero bytes of UTF-16, escapes of ISO-2022-JP, strict UTF-8, the declared charset,
    a detector over the first megabyte. An encoding that was guessed gives a warning. Bytes that the chosen encoding
    lacks become U+FFFD, with another.
    Raises UnreadableFile for an empty file and for bytes that are no text.
    """
    _refuse_binary(path, data)
    encoding, start, guessed = _encoding(path, data, declared)
    warnings: tuple[str, ...] = (f"read as {encoding}; save it as UTF-8 if that is wrong",) if guessed else ()
    try:
        raw = data[start:].decode(encoding)
    except UnicodeDecodeError:
        raw = data[start:].decode(encoding, "replace")
        warnings += (f"not all of it is {encoding}: unreadable bytes became \N{REPLACEMENT CHARACTER}",)
    if "\0" in raw:
        raise _no_text(path, "holds zero bytes")
    text, removed = clean(raw)
    if not text.strip():
        raise UnreadableFile(path, "empty: no text in it", "remove it, or fill it")
    return Decoded(text, encoding, (*warnings, *warnings_of(removed)))


def _refuse_binary(path: str, data: bytes) -> None:
    if not data.strip():
        raise UnreadableFile(path, "empty", "remove it, or fill it")
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise UnreadableFile(path, f"not what its extension says: it is {what}", "rename or convert it")


def _no_text(path: str, why: str) -> UnreadableFile:
    return UnreadableFile(path, f"not a text file: {why}", "rename or convert it")


def _encoding(path: str, data: bytes, declared: str | None) -> tuple[str, int, bool]:
    """Name of the encoding, the number of bytes of its mark, and whether it was guessed."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name, len(mark), False
    wide = _utf16_without_mark(data)
    if wide:
        return wide, 0, True
    head = data[:_DETECTOR_BYTES]
    if len(head) < len(data):
        head = head[: head.rfind(b"\n") + 1] or head  # so that no character is cut in two
    if len(_NEVER_TEXT.findall(head)) > len(head) // 50:
        raise _no_text(path, "holds control bytes")
    named = _known(declared)
    if _ISO_2022_JP.search(head) and _decodes(data, "iso2022_jp"):
        return "iso2022_jp", 0, named != "iso2022_jp"
    if _decodes(data, "utf-8") or _is_damaged_utf8(data):
        return "utf-8", 0, False
    if named and _decodes(data, named):
        return named, 0, False
    detected = _detected(head)
    return detected or named or "utf-8", 0, detected not in (None, named, "utf-8")


def _utf16_without_mark(data: bytes) -> str | None:
    """By its zero bytes: in mostly Latin text they fill every second place and spare the others."""
    head = data[:4096]
    pairs = len(head) // 2
    if pairs < 4 or len(data) % 2:
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.4 * pairs and even < 0.05 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 * pairs and odd < 0.05 * pairs else None


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _is_damaged_utf8(data: bytes) -> bool:
    """Whether nearly every byte beyond ASCII is part of valid UTF-8: by chance that does not happen."""
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    ascii_count = len(data.translate(None, _HIGH_BYTES))
    return bad * 20 < len(text) - bad - ascii_count


def _known(declared: str | None) -> str | None:
    """The declared charset as Python names it, widened to what writers of that label really use."""
    name = (declared or "").strip().strip("\"'").lower()
    name = _WIDER.get(name, name)
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    # Text declared as UTF-16 whose declaration could be read as ASCII is not UTF-16; other codecs are no charsets.
    return None if info.name.startswith(("utf-16", "utf-32")) or not info._is_text_encoding else info.name


def _detected(head: bytes) -> str | None:
    from charset_normalizer import from_bytes

    matches = list(from_bytes(head, cp_isolation=_DETECTABLE))
    if not matches:
        return None
    best = matches[0]
    level = [m for m in matches if m.chaos <= best.chaos + 0.01 and m.coherence >= best.coherence - 0.05]
    names = {name for match in level for name in (match.encoding, *match.could_be_from_charset)}
    # Of encodings that fit alike, the western one is by far the most common.
    return (
        "cp1252"
        if best.encoding in ("cp1250", "cp1254", "cp1257", "cp1258") and "cp1252" in names
        else ("cp949" if best.encoding == "euc_kr" else best.encoding)
    )
