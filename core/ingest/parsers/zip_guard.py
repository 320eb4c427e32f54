"""Containers of Office documents and books: ZIP archives and XML from strangers, opened within fixed limits.

What an archive says about itself is not believed: sizes are counted while reading, and what would exceed a limit is
refused before it is held in memory.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib

from lxml import etree

from core.errors import UnreadableFile

ENTRIES_MAX = 2_000
ENTRY_BYTES_MAX = 100_000_000
TOTAL_BYTES_MAX = 300_000_000
RATIO_MAX = 200
"""Bytes of an entry to its compressed bytes."""
RATIO_FREE_BYTES = 1_000_000
"""Up to this size any ratio will do: a short part of one repeated element compresses without end."""
XML_TAGS_MAX = 4_000_000
"""`<` in one part; a parsed element takes some 200 bytes."""
_ENTRY_MARK = b"PK\x01\x02"
_MARKS_MAX = 10 * ENTRIES_MAX  # more than the entries: archives inside may be stored as they are
_OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
_OTHERS = ((b"%PDF-", "a PDF"), (b"{\\rtf", "an RTF document"), (b"<", "HTML or XML"), (b"PK", "a damaged ZIP archive"))
_ENCRYPTED = 0x1 | 0x40
_DOCTYPE = re.compile(rb"<!\s*DOCTYPE", re.IGNORECASE)
_UNSAFE = re.compile(r"[\x00-\x1f]|^/|^[A-Za-z]:|(?:^|/)\.\.(?:/|$)")
_SAVE_ANEW = "open it in the program that made it and save it anew"


class Container:
    """An open archive. `names` are the paths of its files, parted by `/`, in the archive's order."""

    def __init__(self, path: str, archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> None:
        self.names = tuple(entries)
        self._path = path
        self._archive = archive
        self._entries = entries
        self._sizes: dict[str, int] = {}

    def read(self, name: str) -> bytes:
        """A file's bytes. Raises UnreadableFile: absent, damaged, or beyond a limit."""
        entry = self._entries.get(name)
        if entry is None:
            raise UnreadableFile(self._path, f"incomplete: it has no {name}", _SAVE_ANEW)
        before = sum(size for other, size in self._sizes.items() if other != name)
        limit = min(ENTRY_BYTES_MAX, TOTAL_BYTES_MAX - before, _ratio_limit(entry))
        try:
            with self._archive.open(entry) as file:
                data = file.read(limit + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise UnreadableFile(self._path, f"damaged: {name} cannot be unpacked ({error})", _SAVE_ANEW) from None
        if len(data) > limit:
            raise _too_large(self._path, name)
        self._sizes[name] = len(data)
        return data

    def xml(self, name: str) -> etree._Element:
        """The root element of a file of XML. Raises UnreadableFile as `read` and `parse_xml` do."""
        return parse_xml(self.read(name), self._path, name)


def open_container(path: str, data: bytes) -> Container:
    """The archive in `data`; `path` is for messages.

    Raises UnreadableFile: no archive, cut short, protected by a password, too many or too large entries, an entry
    with a path that leads out, two of one name.
    """
    _refuse_other(path, data)
    if data.count(_ENTRY_MARK) > _MARKS_MAX:
        raise _too_many(path)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise UnreadableFile(path, f"damaged or cut short ({error})", "fetch it again") from None
    infos = archive.infolist()
    if len(infos) > ENTRIES_MAX:
        raise _too_many(path)
    entries: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        name = info.orig_filename.replace("\\", "/")
        _refuse_entry(path, name, info)
        if name.endswith("/"):
            continue
        if name in entries:
            raise UnreadableFile(path, f"two entries are named {name}", _SAVE_ANEW)
        entries[name] = info
    if not entries:
        raise UnreadableFile(path, "an empty archive", "remove it, or fetch it again")
    if sum(info.compress_size for info in entries.values()) > len(data):
        raise UnreadableFile(path, "its entries overlap", _SAVE_ANEW)
    if sum(info.file_size for info in entries.values()) > TOTAL_BYTES_MAX:
        raise UnreadableFile(path, f"unpacks to more than {TOTAL_BYTES_MAX // 1_000_000} MB", "divide it")
    return Container(path, archive, entries)


def parse_xml(data: bytes, path: str, name: str = "XML") -> etree._Element:
    """The root element of `data`, without comments and processing instructions; entities stay unread.

    Raises UnreadableFile: not well-formed, a document type declaration, more than 256 levels deep (the XML library's
    own limit), a text of more than 10 MB, or more than XML_TAGS_MAX tags.
    """
    if data.count(b"<") > XML_TAGS_MAX:
        raise UnreadableFile(path, f"{name} has more than {XML_TAGS_MAX:,} tags", "divide it")
    if _DOCTYPE.search(data.replace(b"\0", b"")):
        raise _has_doctype(path, name)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UnreadableFile(path, f"{name} is not well-formed ({reason})", _SAVE_ANEW) from None
    if root.getroottree().docinfo.internalDTD is not None:  # written in an encoding that the search cannot read
        raise _has_doctype(path, name)
    return root


def _refuse_other(path: str, data: bytes) -> None:
    if not data.strip():
        raise UnreadableFile(path, "empty", "remove it, or fill it")
    if data.startswith(_OLE_MARK):
        reason = "protected by a password or an old Office format"
        raise UnreadableFile(path, reason, "save it without a password, in a format of Office 2007 or later")
    if data.startswith(_ZIP_MARKS):
        return
    what = next((f": it is {what}" for mark, what in _OTHERS if data.lstrip().startswith(mark)), "")
    raise UnreadableFile(path, f"not what its extension says{what}", "rename or convert it")


def _refuse_entry(path: str, name: str, info: zipfile.ZipInfo) -> None:
    if _UNSAFE.search(name):
        raise UnreadableFile(path, f"an entry has the unsafe path {name[:80]!r}", "leave it out")
    if info.flag_bits & _ENCRYPTED:
        raise UnreadableFile(path, "protected by a password", "save it without one")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnreadableFile(path, f"{name} is packed in an unusual way", _SAVE_ANEW)


def _ratio_limit(info: zipfile.ZipInfo) -> int:
    return max(RATIO_FREE_BYTES, RATIO_MAX * info.compress_size)


def _too_large(path: str, name: str) -> UnreadableFile:
    reason = f"{name} unpacks to more than {ENTRY_BYTES_MAX // 1_000_000} MB or {RATIO_MAX} times its size"
    return UnreadableFile(path, reason, "divide it, or leave it out")


def _too_many(path: str) -> UnreadableFile:
    return UnreadableFile(path, f"more than {ENTRIES_MAX:,} entries", "divide it, or leave it out")


def _has_doctype(path: str, name: str) -> UnreadableFile:
    return UnreadableFile(path, f"{name} declares a document type, which may hide or fetch content", _SAVE_ANEW)
