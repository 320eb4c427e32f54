"""Which enhancements by a language model a search uses: who may say so, and how much at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import InputError

Wishes = Mapping[str, int | bool | None]
"""Any of `expand`, `hyde` (counts) and `rerank` (true or false); absent or None: no wish."""


@dataclass(frozen=True, slots=True)
class Enhancements:
    expand: int = 0
    """Rephrasings searched beside the query."""
    hyde: int = 0
    """Hypothetical answers searched by their vectors."""
    rerank: bool = False
    """Whether the model orders the first passages anew."""


def resolve_enhancements(
    caller: Wishes, args: Wishes, default: Wishes, maximum: Wishes, llm_available: bool
) -> Enhancements:
    """Caller over tool argument over default, then capped by the operator's maximum; all off without a model.

    0 and false are wishes like any other. No maximum: no cap; a maximum of false switches `rerank` off.
    Raises InputError for a count that is not a whole number or a switch that is neither true nor false.
    """
    layers = (caller, args, default)
    checked = Enhancements(
        expand=_count("expand", layers, maximum),
        hyde=_count("hyde", layers, maximum),
        rerank=_switch("rerank", layers) is True and _switch("rerank", (maximum,)) is not False,
    )
    return checked if llm_available else Enhancements()


def _count(name: str, layers: tuple[Wishes, ...], maximum: Wishes) -> int:
    wish, cap = _whole(name, _first(name, layers)), _whole(name, maximum.get(name))
    wish = 0 if wish is None else wish
    return max(0, wish if cap is None else min(wish, cap))


def _switch(name: str, layers: tuple[Wishes, ...]) -> bool | None:
    value = _first(name, layers)
    if value is None or isinstance(value, bool):
        return value
    raise InputError(f"{name} is {value!r}", "give true or false")


def _whole(name: str, value: int | bool | None) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise InputError(f"{name} is {value!r}", "give a whole number")


def _first(name: str, layers: tuple[Wishes, ...]) -> int | bool | None:
    return next((value for layer in layers if (value := layer.get(name)) is not None), None)
