"""Fingerprints of embedders: opaque names for "gives these vectors", free of this machine's paths."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from core.errors import EmbedderUnavailable

IGNORED_SUFFIXES = (".md", ".py", ".bin", ".h5", ".msgpack", ".ot", ".onnx", ".pt", ".pth", ".ckpt")
IGNORED_NAMES = ("data_config.json", "LICENSE", "NOTICE")
IGNORED_FOLDERS = ("onnx", "openvino", "coreml")


def fingerprint(kind: str, parts: Mapping[str, object]) -> str:
    """`kind-` and 32 hex digits of SHA-256 over the parts, whatever their order."""
    value = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return f"{kind}-{hashlib.sha256(value.encode()).hexdigest()[:32]}"


def file_digest(path: Path) -> str:
    """SHA-256 (hex) of a file, read once per process and state of the file. Raises EmbedderUnavailable."""
    try:
        state = path.stat()
        return _digest(str(path), state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise EmbedderUnavailable(f"model file {path.name} cannot be read", "install the model again") from error


def folder_digests(folder: Path) -> dict[str, str]:
    """Digest of every file of a model folder that can change a vector, by relative POSIX path.

    Left out: documents, training records, code and weights in formats that are never loaded.
    A file that is not known to be harmless counts. Raises EmbedderUnavailable.
    """
    return {
        path.relative_to(folder).as_posix(): file_digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and _counts(path.relative_to(folder))
    }


def e5_prefixes(name: str) -> tuple[str, str]:
    """What the E5 models want before a query and before a passage; empty for other models.

    Source: L. Wang et al., Text Embeddings by Weakly-Supervised Contrastive Pre-training, 2022. The instruction-tuned
    ones want a sentence about the task instead, which their own files carry.
    """
    words = re.split(r"[^a-z0-9]+", name.lower())
    if "e5" in words and not {"instruct", "mistral"} & set(words):
        return "query: ", "passage: "
    return "", ""


def _counts(relative: Path) -> bool:
    return not (
        any(part.startswith(".") for part in relative.parts)
        or relative.parts[0] in IGNORED_FOLDERS
        or relative.name in IGNORED_NAMES
        or relative.suffix.lower() in IGNORED_SUFFIXES
    )


@functools.lru_cache(maxsize=256)
def _digest(path: str, size: int, mtime_ns: int) -> str:
    """`size` and `mtime_ns` take part in the cache's key only."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
