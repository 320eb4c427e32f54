"""A file's bytes to its canonical text: the parser for its extension, and no failure but UnreadableFile."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from core.errors import CoreError, UnreadableFile
from core.ingest.parsers import parser_for
from core.ingest.read import RawFile
from core.ports import ParsedDocument


def parse_file(raw: RawFile) -> ParsedDocument:
    """Raises UnreadableFile, whatever goes wrong inside a parser."""
    parser = parser_for(PurePosixPath(raw.relative_path))
    try:
        return parser.parse(Path(raw.relative_path), raw.data)
    except CoreError:
        raise
    except RecursionError:
        reason = "nested too deeply"
    except MemoryError as error:
        raise UnreadableFile(raw.relative_path, "too large for the memory at hand", "divide it") from error
    except Exception as error:  # one bad file must not stop the others
        reason = f"{parser.name} failed: {' '.join(f'{type(error).__name__}: {error}'.split())[:200]}"
    raise UnreadableFile(raw.relative_path, reason, "check the file, or leave it out")
