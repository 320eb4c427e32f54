"""Who may see which document: labels made effective, and the one predicate over them.

A document's effective labels are its own, completed by its parent's or the collection's defaults and tightened by
every ancestor. A principal sees a document if its level is high enough, it holds an allowed token, and it holds no
denied token. Whatever cannot be established hides the document or refuses the principal; nothing is guessed.

Tokens are group names, `*` (everyone) and `user:NAME` (one person).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import InitVar, dataclass
from typing import get_args

from core.errors import InputError, MetadataError, PermissionUnavailable
from core.names import EVERYONE, PERSON, acl_token, canonical_name
from core.settings import Limits
from core.types import Labels, Principal, Role

LEVELS: tuple[str, ...] = ("public", "internal", "confidential", "restricted")
"""Classifications from low to high; a level is an index into them."""

DEPTH_MAX = 16
"""Most `inherits_from` steps from a document to its topmost ancestor."""

_LEVEL_OF: Mapping[str, int] = {name: level for level, name in enumerate(LEVELS)}
_ROLES: frozenset[str] = frozenset(get_args(Role))


@dataclass(frozen=True, slots=True)
class EffectiveLabels:
    """What decides who sees a document. `None` in its place: hidden from everyone."""

    level: int
    """Index into LEVELS: the least clearance that sees it."""
    allow: frozenset[str]
    """Tokens of which one is needed; exactly `{"*"}` where everyone is allowed, never empty."""
    deny: frozenset[str]
    """Tokens of which none may be held; wins over `allow`, never holds `*`."""


AccessClass = EffectiveLabels
"""All documents with equal effective labels are one access class."""


def class_key(labels: EffectiveLabels) -> str:
    """The lasting name of an access class: 32 hex digits over level and sorted lists."""
    return _sha256(["access-class", labels.level, sorted(labels.allow), sorted(labels.deny)])[:32]


def check_labels(labels: Labels) -> Labels:
    """`labels` with every name canonical and lists sorted without repeats. Raises MetadataError naming the label."""
    try:
        return _canonical(labels)
    except ValueError as error:
        raise MetadataError(str(error), "correct the document's metadata") from None


def resolve_labels(
    documents: Mapping[str, Labels], parents: Mapping[str, str | None], default: Labels | None
) -> dict[str, EffectiveLabels | None]:
    """Effective labels of every document of one collection, by document id; None: hidden from everyone.

    `parents[id]` is the document id that `inherits_from` names, None where it names no document; a document without
    an entry has no parent. A classification or allow list that is not stated is the parent's effective one, and
    without a parent the default's; a parent's labels then tighten (higher level, intersection of allow lists, union
    of denials). The default's denials always hold for a document without a parent, so that stating a denial can
    never let more people in. Hidden: a missing, hidden or cyclic parent, more than DEPTH_MAX steps, no label
    anywhere, an unknown level, an empty allow list or intersection, a denial of `*`, anything malformed.

    Equal results are one object.
    """
    own = _OwnLabels(default)
    found: dict[str, EffectiveLabels | None] = {}
    depths: dict[str, int] = {}
    for identifier, labels in documents.items():
        if identifier not in parents and labels.inherits_from is None:
            found[identifier] = own.alone(labels)
    for identifier in documents:
        if identifier not in found:
            _resolve_chain(identifier, documents, parents, own, found, depths)
    return {identifier: found[identifier] for identifier in documents}


def visible(principal: Principal, labels: EffectiveLabels | None, ceiling: int | None) -> bool:
    """Whether `principal` may see a document with these effective labels.

    `ceiling` is the level of the caller's `min_classification`; it can only tighten. Raises PermissionUnavailable
    for a principal that is not well formed, InputError for a ceiling that is no level.
    """
    if ceiling is not None and (type(ceiling) is not int or not 0 <= ceiling < len(LEVELS)):
        raise InputError(f"{ceiling!r} is no level", f"levels: 0 to {len(LEVELS) - 1}")
    level = _clearance(principal)
    return _permits(level if ceiling is None else min(level, ceiling), _tokens(principal), labels)


_SEAL = object()


@dataclass(frozen=True, slots=True)
class PermissionSet:
    """What one person may see in one request. Made by `permission_set` alone, which checks everything first."""

    actor: str
    agent: str | None
    """Who asked on the actor's behalf; for the record only, it lends no rights."""
    tokens: frozenset[str]
    """Groups, `*` and `user:ACTOR`."""
    level: int
    """The lower of clearance and `min_classification`, as an index into LEVELS."""
    seal: InitVar[object]

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise PermissionUnavailable("a permission set was not made by permission_set()", "call permission_set()")

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over all that decides what is seen: actor, tokens and level. For audit and cache keys."""
        return _sha256(["permission-set", self.actor, sorted(self.tokens), self.level])

    def sees(self, labels: EffectiveLabels | None) -> bool:
        return _permits(self.level, self.tokens, labels)


def permission_set(principal: Principal | None, min_classification: str | None, limits: Limits) -> PermissionSet:
    """The rights of `principal`, lowered to `min_classification` where one is given.

    Raises PermissionUnavailable where it is not established who asks (no principal, no person behind an agent,
    unknown clearance, malformed or too many groups), InputError for an unknown `min_classification`.
    """
    if min_classification is not None and _level(min_classification) is None:
        raise InputError(f"no classification {min_classification!r}", f"choose one of {', '.join(LEVELS)}")
    if type(principal) is not Principal:
        raise PermissionUnavailable("nobody is named as the one who asks", "name a principal of principals.toml")
    if isinstance(principal.groups, frozenset) and len(principal.groups) > limits.groups_max:
        count = len(principal.groups)
        raise PermissionUnavailable(f"the principal has {count} groups", f"limits.groups_max is {limits.groups_max}")
    _check_roles(principal)
    level, tokens = _clearance(principal), _tokens(principal)
    actor = _principal_name(principal.actor, "actor")
    agent = None if principal.agent is None else _principal_name(principal.agent, "agent")
    if agent == actor:
        raise PermissionUnavailable(f"the agent {agent!r} asks for itself", "name the person it acts for")
    if min_classification is not None:
        level = min(level, _LEVEL_OF[min_classification])
    return PermissionSet(actor, agent, tokens, level, _SEAL)


def _permits(level: int, tokens: frozenset[str], labels: EffectiveLabels | None) -> bool:
    return (
        labels is not None
        and labels.level <= level
        and not labels.allow.isdisjoint(tokens)
        and labels.deny.isdisjoint(tokens)
    )


class _OwnLabels:
    """Effective labels as far as one document's own go; each distinct combination is worked out once."""

    def __init__(self, default: Labels | None) -> None:
        self._default = default
        self._alone: dict[tuple[object, ...], EffectiveLabels | None] = {}
        self._interned: dict[EffectiveLabels, EffectiveLabels] = {}

    def alone(self, labels: Labels) -> EffectiveLabels | None:
        """Of a document without a parent."""
        key = (labels.classification, labels.acl_allow, labels.acl_deny)
        try:
            return self._alone[key]
        except KeyError:
            self._alone[key] = self._complete(labels)
            return self._alone[key]
        except TypeError:  # a list where a tuple belongs
            return None

    def under(self, labels: Labels, parent: EffectiveLabels) -> EffectiveLabels | None:
        """Of a document whose parent's effective labels are `parent`."""
        try:
            stated = _canonical(labels)
        except ValueError:
            return None
        level = parent.level if stated.classification is None else _LEVEL_OF[stated.classification]
        allow = parent.allow if stated.acl_allow is None else _intersection(_allow(stated.acl_allow), parent.allow)
        return self._intern(max(level, parent.level), allow, parent.deny | frozenset(stated.acl_deny))

    def _complete(self, labels: Labels) -> EffectiveLabels | None:
        try:
            stated = _canonical(labels)
            default = Labels() if self._default is None else _canonical(self._default)
        except ValueError:
            return None
        classification = default.classification if stated.classification is None else stated.classification
        allow = default.acl_allow if stated.acl_allow is None else stated.acl_allow
        if classification is None or allow is None or default.inherits_from is not None:
            return None
        return self._intern(_LEVEL_OF[classification], _allow(allow), frozenset(stated.acl_deny + default.acl_deny))

    def _intern(self, level: int, allow: frozenset[str], deny: frozenset[str]) -> EffectiveLabels | None:
        if not allow or EVERYONE in deny:
            return None
        labels = EffectiveLabels(level, allow, deny)
        return self._interned.setdefault(labels, labels)


def _resolve_chain(
    start: str,
    documents: Mapping[str, Labels],
    parents: Mapping[str, str | None],
    own: _OwnLabels,
    found: dict[str, EffectiveLabels | None],
    depths: dict[str, int],
) -> None:
    """Fill `found` and `depths` for `start` and its ancestors: up to a known one, then down again."""
    path: list[str] = []
    on_path: set[str] = set()
    above: EffectiveLabels | None = None
    depth = 0
    node: str | None = start
    while True:
        # A name that no document bears, a stated parent nobody resolved, a cycle: all below stay hidden.
        if node is None or node not in documents or node in on_path:
            break
        if node in found:
            above, depth = found[node], depths.get(node, 0)
            break
        path.append(node)
        on_path.add(node)
        node = parents.get(node)
    for node in reversed(path):
        depth += 1
        above = None if above is None or depth > DEPTH_MAX else own.under(documents[node], above)
        found[node], depths[node] = above, depth


def _canonical(labels: Labels) -> Labels:
    """`check_labels`, but raises ValueError."""
    if type(labels) is not Labels:
        raise ValueError("labels are malformed")
    if labels.classification is not None and _level(labels.classification) is None:
        raise ValueError(f"no classification {labels.classification!r}; choose one of {', '.join(LEVELS)}")
    if labels.inherits_from is not None and (not isinstance(labels.inherits_from, str) or not labels.inherits_from):
        raise ValueError("inherits_from names no document")
    allow = None if labels.acl_allow is None else _acl("acl_allow", labels.acl_allow)
    if allow == ():
        raise ValueError("acl_allow is empty; leave it out or name who may see the document")
    return Labels(labels.classification, allow, _acl("acl_deny", labels.acl_deny), labels.inherits_from)


def _acl(key: str, entries: object) -> tuple[str, ...]:
    if not isinstance(entries, tuple):
        raise ValueError(f"{key} is no list of names")
    try:
        return tuple(sorted({acl_token(entry) for entry in entries}))
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def _allow(entries: Iterable[str]) -> frozenset[str]:
    allow = frozenset(entries)
    return frozenset({EVERYONE}) if EVERYONE in allow else allow


def _intersection(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    if EVERYONE in one:
        return other
    return one if EVERYONE in other else one & other


def _level(classification: object) -> int | None:
    return _LEVEL_OF.get(classification) if isinstance(classification, str) else None


def _clearance(principal: Principal) -> int:
    level = _level(principal.clearance)
    if level is None:
        raise PermissionUnavailable(f"no clearance {principal.clearance!r}", f"choose one of {', '.join(LEVELS)}")
    return level


def _tokens(principal: Principal) -> frozenset[str]:
    if not isinstance(principal.groups, frozenset):
        raise PermissionUnavailable("the principal's groups are no set of names", "correct the principal")
    groups = {_principal_name(group, "group") for group in principal.groups}
    return frozenset({*groups, EVERYONE, PERSON + _principal_name(principal.actor, "actor")})


def _principal_name(name: object, what: str) -> str:
    try:
        return canonical_name(name)
    except ValueError as error:
        raise PermissionUnavailable(f"the principal's {what} is not usable: {error}", f"correct the {what}") from None


def _check_roles(principal: Principal) -> None:
    try:
        for collection, held in principal.roles:
            if not isinstance(collection, str) or not isinstance(held, tuple) or not _ROLES.issuperset(held):
                raise ValueError
    except (TypeError, ValueError):
        raise PermissionUnavailable("the principal's roles are malformed", "correct the principal") from None


def _sha256(value: list[object]) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()
