"""Files to their bytes: which files a path stands for, under which names, and no way out of the root."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import InputError, UnreadableFile
from core.ingest.sidecars import astray, is_sidecar, left_without
from core.settings import Limits

_NAME_MAX_BYTES = 255
_PATH_MAX_BYTES = 1_024
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_BAD_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_BAD_FORMAT = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")


@dataclass(frozen=True, slots=True)
class RawFile:
    relative_path: str
    """POSIX, NFC; how the document is known in its collection."""
    data: bytes
    source_hash: str
    """SHA-256 of `data`, hex."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    path: Path
    root: Path
    """The folder that the file must not lead out of."""
    relative_path: str


@dataclass(frozen=True, slots=True)
class Walk:
    """What the given paths stand for; files in order of their relative paths."""

    files: tuple[FoundFile, ...]
    refused: tuple[UnreadableFile, ...]


def walk(paths: Sequence[Path]) -> Walk:
    """The files that `paths` name: a file under its own name, a folder's files by their path inside it.

    In folders, hidden files and folders and the sidecars of documents are passed over. Links that lead out of the
    folder, names that cannot be paths of documents, sidecars of no document and the documents that these may have been
    meant for are refused; the other files go in. Raises InputError where two files would be the same document.
    """
    files: dict[str, FoundFile] = {}
    refused: list[UnreadableFile] = []
    strays: dict[Path, dict[str, str]] = {}
    for given in paths:
        for found in _under(given, refused, strays):
            other = files.setdefault(found.relative_path, found)
            if other is not found and not other.path.samefile(found.path):
                raise InputError(
                    f"{other.path} and {found.path} would both be {found.relative_path!r}",
                    "rename one, or ingest a folder above both",
                )
    return Walk(tuple(files[name] for name in sorted(files)), tuple(refused))


def read_file(path: Path, root: Path, limits: Limits) -> RawFile:
    """The bytes of one file inside `root`, its relative path from there. Raises UnreadableFile."""
    try:
        real, real_root = path.resolve(strict=True), root.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise UnreadableFile(str(path), _why(error), "check the path") from None
    if not real.is_relative_to(real_root):
        raise UnreadableFile(str(path), f"leads out of {root}", "copy the file into the folder")
    relative = safe_relative(os.path.relpath(os.path.abspath(path), os.path.abspath(root)).replace(os.sep, "/"))
    return raw_file(relative, _bytes(real, str(path), limits.file_max_bytes), limits)


def raw_file(relative_path: str, data: bytes, limits: Limits) -> RawFile:
    """Bytes that did not come from a file here, e.g. an upload. Raises UnreadableFile for a bad name or size."""
    name = safe_relative(relative_path)
    if len(data) > limits.file_max_bytes:
        raise _too_large(name, limits.file_max_bytes)
    return RawFile(name, data, hashlib.sha256(data).hexdigest())


def safe_relative(path: str) -> str:
    """`path` as NFC, if it can be a document's on every system. Raises UnreadableFile.

    Refused: absolute paths, `.` and `..`, backslashes, drives, names of devices, control and other invisible
    characters, names that are no Unicode, over-long ones.
    """
    name = unicodedata.normalize("NFC", path)
    why = _why_unsafe(name)
    if why:
        raise UnreadableFile(ascii(path)[1:-1], f"not a path for a document: {why}", "rename it")
    return name


def _why_unsafe(name: str) -> str | None:
    if any(unicodedata.category(c) in _BAD_CATEGORIES for c in name) or _BAD_FORMAT.search(name):
        return "it holds characters that cannot be seen or stored"
    if name.startswith("/") or "\\" in name or re.match(r"[A-Za-z]:", name):
        return "it is not relative, or not written with /"
    if len(name.encode()) > _PATH_MAX_BYTES:
        return f"longer than {_PATH_MAX_BYTES} bytes"
    for part in name.split("/"):
        if part.strip() in ("", ".", ".."):
            return "it leads elsewhere"
        if len(part.encode()) > _NAME_MAX_BYTES:
            return f"a name is longer than {_NAME_MAX_BYTES} bytes"
        if _DEVICE.fullmatch(part.strip()):
            return f"{part!r} names a device"
    return None


def _under(given: Path, refused: list[UnreadableFile], strays: dict[Path, dict[str, str]]) -> Iterator[FoundFile]:
    if given.is_dir():
        yield from _folder(given, given, refused)
    elif not os.path.lexists(given):
        refused.append(UnreadableFile(str(given), "no such file or folder", "check the path"))
    elif is_sidecar(given.name):
        refused.append(UnreadableFile(str(given), "holds metadata", "ingest the document it belongs to"))
    else:
        if given.parent not in strays:
            strays[given.parent] = astray(_names(given.parent))
        if stray := left_without(given.name, strays[given.parent]):
            refused.append(_without_sidecar(given, stray))
        else:
            yield from _checked(given, Path(os.path.abspath(given)).parent, refused)


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # a folder may let its files be read and not be listed; exact sidecars are still found
        return []


def _folder(folder: Path, root: Path, refused: list[UnreadableFile]) -> Iterator[FoundFile]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        refused.append(UnreadableFile(str(folder), _why(error), "check its permissions"))
        return
    entries = [entry for entry in entries if not entry.name.startswith(".")]
    strays = astray(entry.name for entry in entries)
    for entry in entries:
        path = folder / entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _folder(path, root, refused)
        elif entry.is_symlink() and path.is_dir():
            refused.append(UnreadableFile(str(path), "a link to a folder", "ingest that folder itself"))
        elif entry.name in strays:
            refused.append(
                UnreadableFile(
                    str(path), "a sidecar of no document here", f"name it {strays[entry.name]}, or remove it"
                )
            )
        elif is_sidecar(entry.name):
            continue
        elif stray := left_without(entry.name, strays):
            refused.append(_without_sidecar(path, stray))
        else:
            yield from _checked(path, root, refused)


def _without_sidecar(path: Path, stray: str) -> UnreadableFile:
    return UnreadableFile(
        str(path), f"{stray} beside it may be meant for it and is not named so", "rename or remove it"
    )


def _checked(path: Path, root: Path, refused: list[UnreadableFile]) -> Iterator[FoundFile]:
    try:
        if not path.resolve(strict=True).is_relative_to(root.resolve()):
            raise UnreadableFile(str(path), "a link that leads out of its folder", "copy the file into the folder")
        relative = os.path.relpath(os.path.abspath(path), os.path.abspath(root)).replace(os.sep, "/")
        yield FoundFile(path, root, safe_relative(relative))
    except UnreadableFile as error:
        refused.append(error)
    except (OSError, RuntimeError) as error:
        refused.append(UnreadableFile(str(path), _why(error), "check the link"))


def _bytes(real: Path, shown: str, most: int) -> bytes:
    """Read without following a link put there since, and without waiting for a pipe."""
    try:
        handle = os.open(real, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise UnreadableFile(shown, "not a regular file", "leave it out")
            if found.st_size > most:
                raise _too_large(shown, most)
            data = file.read(most + 1)  # its size may have grown
    except OSError as error:
        raise UnreadableFile(shown, _why(error), "check the path and its permissions") from None
    if len(data) > most:
        raise _too_large(shown, most)
    return data


def _too_large(path: str, most: int) -> UnreadableFile:
    return UnreadableFile(path, f"larger than {most:,} bytes", "divide it, or raise limits.file_max_bytes")


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
