"""Persons for local use, read from `principals.toml` in the home:

    [ann]
    groups = ["staff"]
    clearance = "internal"
    roles = {demo = ["owner", "evaluator"]}

Absent keys mean no groups, clearance `public`, no roles. `[default]` stands for whoever is not named.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from core.access import LEVELS
from core.errors import PermissionUnavailable, RoleMissing
from core.names import canonical_name
from core.types import Principal, Role

FILE = "principals.toml"
DEFAULT = "default"

_ROLES: tuple[Role, ...] = get_args(Role)
_KEYS = ("groups", "clearance", "roles")


@dataclass(frozen=True, slots=True)
class Principals:
    """Everyone the file names, each complete and checked."""

    file: Path
    everyone: tuple[Principal, ...]
    """In the file's order."""

    def named(self, name: str | None) -> Principal:
        """The principal of exactly this name; None: `[default]`. Raises PermissionUnavailable for any other."""
        wanted = DEFAULT if name is None else name
        if isinstance(wanted, str):
            # Canonically equivalent spellings are one name, however a terminal composes its accents; nothing else is.
            wanted = unicodedata.normalize("NFC", wanted)
            for principal in self.everyone:
                if principal.actor == wanted:
                    return principal
        if name is None:
            raise PermissionUnavailable("nobody is named as the one who asks", f"add [{DEFAULT}] to {self.file}")
        raise PermissionUnavailable(f"no principal {name!r}", f"add it to {self.file}")

    def names(self) -> tuple[str, ...]:
        """All names in the file's order, `default` among them where it is defined."""
        return tuple(principal.actor for principal in self.everyone)


def load_principals(home: Path) -> Principals:
    """Everyone in `home/principals.toml`, parsed anew on each call; the caller may keep the result while the file's
    size and modification time stay the same.

    Raises PermissionUnavailable, naming the entry, where the file is missing, unreadable or wrong anywhere: there is
    no partial result, for a principal without its rights could not be told from one that has none.
    """
    file = home / FILE
    try:
        content = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise PermissionUnavailable(f"{file} does not exist", f"create it with a table [{DEFAULT}]") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise PermissionUnavailable(f"{file} is not readable as TOML ({error})", "mend the file") from None
    try:
        everyone = tuple(_principal(name, body) for name, body in content.items())
        if len({principal.actor for principal in everyone}) < len(everyone):
            raise ValueError("two tables bear the same name")
    except ValueError as error:
        raise PermissionUnavailable(f"{file}: {error}", "mend the file") from None
    return Principals(file, everyone)


def require_role(principal: Principal, role: Role, collection: str) -> None:
    """Raises RoleMissing unless `principal` holds `role` on `collection`. No role implies another."""
    if not principal.has_role(role, collection):
        raise RoleMissing(principal.actor, role, collection)


def _principal(name: str, body: object) -> Principal:
    actor = canonical_name(name)
    if not isinstance(body, dict):
        raise ValueError(f"{name} is no table; write it as [{name}]")
    unknown = sorted(set(body) - set(_KEYS))
    if unknown:
        raise ValueError(f"[{name}] has the unknown key {unknown[0]!r}; keys: {', '.join(_KEYS)}")
    try:
        return Principal(
            actor=actor,
            groups=frozenset(canonical_name(group) for group in _list(body.get("groups", []), "groups")),
            clearance=_clearance(body.get("clearance", LEVELS[0])),
            roles=_roles(body.get("roles", {})),
        )
    except ValueError as error:
        raise ValueError(f"[{name}] {error}") from None


def _list(value: object, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{key} is no list")
    return value


def _clearance(value: object) -> str:
    if not isinstance(value, str) or value not in LEVELS:
        raise ValueError(f"clearance {value!r} is unknown; choose one of {', '.join(LEVELS)}")
    return value


def _roles(value: object) -> tuple[tuple[str, tuple[Role, ...]], ...]:
    if not isinstance(value, Mapping):
        raise ValueError('roles is no table; write it as {collection = ["owner"]}')
    roles = []
    for collection, entries in value.items():
        held = _list(entries, f"roles.{collection}")
        if not collection or any(entry not in _ROLES for entry in held):
            raise ValueError(f"roles.{collection} must list some of {', '.join(_ROLES)}")
        roles.append((collection, tuple(role for role in _ROLES if role in held)))
    return tuple(sorted(roles))
