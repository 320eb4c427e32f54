from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from core.errors import SettingsError
from core.settings import PRESETS, SECTIONS, Retrieval, Settings, load, preset_values


def written(folder: Path, content: str, name: str = "settings.toml") -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


def test_who_comes_first(tmp_path: Path) -> None:
    home = written(tmp_path, "[retrieval]\npreset = 'classic'\ntop_k = 3\nrrf_k = 20\nwindow = 30\n", "home.toml")
    given = written(tmp_path, "[retrieval]\nrrf_k = 10\nwindow = 40\n[server]\nport = 9000\n", "given.toml")
    found = load([home, given], {"WORKBENCH_RETRIEVAL__WINDOW": "50", "OTHER__KEY": "x", "WORKBENCH_HOME": "/x"})
    assert (found.retrieval.window, found.retrieval.rrf_k, found.retrieval.top_k) == (50, 10, 3)
    assert (found.retrieval.preset, found.server.port) == ("classic", 9000)
    assert found.retrieval.mmr_keep == preset_values("classic")["mmr_keep"]
    assert found.retrieval.stop_words is Retrieval().stop_words
    assert load([], {}).retrieval.preset == "measured"


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_whole_and_gives_way(tmp_path: Path, preset: str) -> None:
    found = load([], {"WORKBENCH_RETRIEVAL__PRESET": preset})
    values = preset_values(preset)
    assert {key: getattr(found.retrieval, key) for key in values} == values
    file = written(tmp_path, f"[retrieval]\npreset = '{preset}'\nrrf_k = 7\n")
    assert load([file], {}).retrieval.rrf_k == 7


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("RETRIEVAL__CHANNELS", "bm25, dense", ("bm25", "dense")),
        ("RETRIEVAL__MMR", "No", False),
        ("RETRIEVAL__MMR", "1", True),
        ("RETRIEVAL__QUALITY_FLOOR", "", None),
        ("RETRIEVAL__QUALITY_FLOOR", "12.5", 12.5),
        ("RETRIEVAL__BM25_K1", "2", 2.0),
        ("LIMITS__TOP_K_MAX", "5", 5),
        ("EMBEDDING__DEFAULT", "hash:64", "hash:64"),
        ("RETRIEVAL__FUSION", "convex", "convex"),
    ],
)
def test_the_environment_speaks_in_words(key: str, text: str, value: Any) -> None:
    section, _, name = key.lower().partition("__")
    found = getattr(getattr(load([], {f"WORKBENCH_{key}": text}), section), name)
    assert found == value and type(found) is type(value)


BAD: list[tuple[str, Any]] = [
    ("retrieval.window", 0),
    ("retrieval.window", 10_001),
    ("retrieval.window", 2.5),
    ("retrieval.window", True),
    ("retrieval.window", "many"),
    ("retrieval.channels", "bm26"),
    ("retrieval.channels", ["bm25", 5]),
    ("retrieval.channels", 5),
    ("retrieval.channels", []),
    ("retrieval.mmr", "perhaps"),
    ("retrieval.mmr", 1),
    ("retrieval.mmr_lambda", 1.01),
    ("retrieval.mmr_lambda", float("nan")),
    ("retrieval.mmr_lambda", "nan"),
    ("retrieval.weight_dense", 10**400),
    ("retrieval.weight_dense", float("inf")),
    ("retrieval.fusion", "sum"),
    ("retrieval.fusion", ["rrf"]),
    ("retrieval.quality_floor", 101),
    ("retrieval.preset", "best"),
    ("retrieval.preset", 5),
    ("retrieval.rrf_kk", 5),
    ("limits.top_k_max", -1),
    ("limits.file_max_bytes", "big"),
    ("chunking.target_chars", 1),
    ("embedding.default", 5),
    ("store.lock_timeout_s", "soon"),
    ("server.port", 70_000),
    ("server.host", True),
]


@pytest.mark.parametrize(("name", "value"), BAD, ids=[f"{name}={str(value)[:9]}" for name, value in BAD])
def test_a_bad_value_is_named(tmp_path: Path, name: str, value: Any) -> None:
    section, _, key = name.partition(".")
    shown = str(value).lower() if isinstance(value, bool | float) else repr(value)
    with pytest.raises(SettingsError) as raised:
        load([written(tmp_path, f"[{section}]\n{key} = {shown}\n")], {})
    assert raised.value.key == name
    assert name in raised.value.line() and "\n" not in raised.value.line()
    if section == "retrieval":
        with pytest.raises(SettingsError) as raised:
            load([], {}).with_retrieval(**{key: value})
        assert raised.value.key == name


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("[retrievel]\nwindow = 5\n", "retrievel"),
        ("window = 5\n", "window"),
        ("retrieval = 5\n", "retrieval"),
        ("[retrieval\n", "settings.toml"),
        ("[retrieval]\nwindow = 5\nwindow = 6\n", "settings.toml"),
        (f"[retrieval]\nwindow = {'9' * 5_000}\n", "settings.toml"),
        (f"[retrieval]\nwindow = {'[' * 20_000}\n", "settings.toml"),
    ],
    ids=range(7),
)
def test_a_file_that_is_wrong_is_named(tmp_path: Path, content: str, named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        load([written(tmp_path, content)], {})


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[retrieval]\nembedder = '\xe9'"])
def test_a_file_that_is_no_text(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "settings.toml").write_bytes(content)
    with pytest.raises(SettingsError, match=r"settings\.toml"):
        load([tmp_path / "settings.toml"], {})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.toml", tmp_path):
        with pytest.raises(SettingsError):
            load([path], {})


def test_the_environment_is_checked_too() -> None:
    for name in ("WORKBENCH_RETRIEVEL__WINDOW", "WORKBENCH_RETRIEVAL__WINDOWS", "WORKBENCH_RETRIEVAL__"):
        with pytest.raises(SettingsError):
            load([], {name: "5"})


def test_with_retrieval_is_a_copy() -> None:
    settings = load([], {"WORKBENCH_RETRIEVAL__WINDOW": "100"})
    changed = settings.with_retrieval(window=7, channels=["dense"], quality_floor=None)
    assert (changed.retrieval.window, changed.retrieval.channels) == (7, ("dense",))
    assert settings.retrieval.window == 100
    assert changed.limits is settings.limits
    assert settings.with_retrieval() == settings
    with pytest.raises(SettingsError, match=r"retrieval\.windows"):
        settings.with_retrieval(windows=7)


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, tuple):
        return value[:1]
    return 50.0 if value is None else f"{value}x"


FIELDS = [(section, item.name) for section, cls in SECTIONS.items() for item in dataclasses.fields(cls)]


@pytest.mark.parametrize(("section", "name"), FIELDS)
def test_the_fingerprint_is_of_what_can_change_a_result(section: str, name: str) -> None:
    settings = Settings()
    part = getattr(settings, section)
    part = dataclasses.replace(part, **{name: other(getattr(part, name))})
    changed = dataclasses.replace(settings, **{section: part})
    assert (changed.fingerprint() != settings.fingerprint()) == (section in ("retrieval", "limits"))
    assert Settings().fingerprint() == settings.fingerprint()


@pytest.mark.parametrize(("section", "name"), FIELDS)
def test_every_default_is_allowed(section: str, name: str) -> None:
    value = getattr(getattr(Settings(), section), name)
    text = "" if value is None else ",".join(value) if isinstance(value, tuple) else str(value)
    found = load([], {f"WORKBENCH_{section}__{name}".upper(): text})
    assert getattr(getattr(found, section), name) == value
