import dataclasses
import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.access import (
    DEPTH_MAX,
    LEVELS,
    EffectiveLabels,
    PermissionSet,
    check_labels,
    class_key,
    permission_set,
    resolve_labels,
    visible,
)
from core.errors import InputError, MetadataError, PermissionUnavailable
from core.names import acl_token, canonical_name
from core.settings import Limits
from core.types import Labels, Principal

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "permissions.json").read_text("utf-8"))
LIMITS = Limits()
OPEN = Labels("public", ("*",))


def labels_of(raw: dict[str, Any]) -> Labels:
    allow = raw.get("acl_allow")
    return Labels(
        raw.get("classification"),
        None if allow is None else tuple(allow),
        tuple(raw.get("acl_deny", ())),
        raw.get("inherits_from"),
    )


def person(*groups: str, actor: str = "ann", clearance: str = "restricted") -> Principal:
    return Principal(actor, frozenset(groups), clearance)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["id"])
def test_golden(case: dict[str, Any]) -> None:
    assert tuple(GOLDEN["levels"]) == LEVELS
    documents = {name: labels_of(raw) for name, raw in GOLDEN["documents"].items()}
    parents = {
        name: (labels.inherits_from if labels.inherits_from in documents else None)
        for name, labels in documents.items()
        if labels.inherits_from is not None
    }
    raw = case["principal"]
    principal = None if raw is None else Principal(raw["actor"], frozenset(raw["groups"]), raw["clearance"])
    if case["expect"] == "refuse":
        with pytest.raises(PermissionUnavailable):
            permission_set(principal, case["min_classification"], LIMITS)
        return
    rights = permission_set(principal, case["min_classification"], LIMITS)
    effective = resolve_labels(documents, parents, None)
    assert sorted(name for name, labels in effective.items() if rights.sees(labels)) == case["expect"]


# A slow oracle that shares no code: an access list is the set of persons' tokens that it stands for.
GROUPS = ("a", "b", "c")
ACTORS = ("x", "y")
UNIVERSE = {*GROUPS, *(f"user:{actor}" for actor in ACTORS)}
TOKENS = sorted({*UNIVERSE, "*"})


def tokens_meant(entries: tuple[str, ...]) -> set[str]:
    return set(UNIVERSE) if "*" in entries else set(entries)


def oracle(
    document: str,
    documents: dict[str, Labels],
    parents: dict[str, str | None],
    default: Labels | None,
    who: Principal,
    ceiling: int | None,
) -> bool:
    if default is not None and (default.acl_allow == () or default.classification == "odd"):
        return False  # a malformed default may have meant to deny anyone
    chain = [document]
    while chain[-1] in parents:
        parent = parents[chain[-1]]
        if parent is None or parent not in documents or parent in chain or len(chain) > 16:
            return False
        chain.append(parent)
    inherited: tuple[int, set[str], set[str]] | None = None
    for name in reversed(chain):
        labels = documents[name]
        classification, allow, deny = labels.classification, labels.acl_allow, set(labels.acl_deny)
        if inherited is None and default is not None:
            classification = classification or default.classification
            allow = default.acl_allow if allow is None else allow
            deny |= set(default.acl_deny)
        level = inherited[0] if classification is None and inherited else None
        if classification is not None:
            if classification not in LEVELS:
                return False
            level = max(LEVELS.index(classification), inherited[0] if inherited else 0)
        meant = tokens_meant(allow) if allow is not None else (inherited[1] if inherited else set())
        if inherited:
            meant, deny = meant & inherited[1], deny | inherited[2]
        if level is None or not meant or "*" in deny:
            return False
        inherited = (level, meant, deny)
    assert inherited is not None
    level, meant, deny = inherited
    held = {*who.groups, f"user:{who.actor}"}
    allowed_level = min(LEVELS.index(who.clearance), 99 if ceiling is None else ceiling)
    return level <= allowed_level and bool(held & meant) and not held & deny


# One draw a document, from all combinations: drawing the parts one by one takes ten times as long.
LISTS: tuple[tuple[str, ...], ...] = ((), ("a",), ("a", "b"), ("b", "user:x"), ("user:y",), ("c", "*"))
any_labels = st.sampled_from(
    [
        Labels(classification, allow, deny)
        for classification in (*LEVELS, None, "odd")
        for allow in (None, ("*",), *LISTS)
        for deny in ((), (), *LISTS)
    ]
)
principals = st.sampled_from(
    [
        Principal(actor, frozenset(groups), clearance)
        for actor in ACTORS
        for size in range(len(GROUPS) + 1)
        for groups in itertools.combinations(GROUPS, size)
        for clearance in LEVELS
    ]
)


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[str, Labels], dict[str, str | None]]:
    documents = {f"d{number}": labels for number, labels in enumerate(draw(st.lists(any_labels, max_size=7)))}
    stated = draw(st.lists(st.sampled_from(["", "", *documents, *documents, None, "gone"]), max_size=len(documents)))
    return documents, {name: parent for name, parent in zip(documents, stated, strict=False) if parent != ""}


@settings(max_examples=500, deadline=None)
@given(trees(), st.none() | any_labels, principals, st.none() | st.integers(0, 3))
def test_agrees_with_the_oracle(
    tree: tuple[dict[str, Labels], dict[str, str | None]], default: Labels | None, who: Principal, ceiling: int | None
) -> None:
    documents, parents = tree
    effective = resolve_labels(documents, parents, default)
    rights = permission_set(who, None if ceiling is None else LEVELS[ceiling], LIMITS)
    assert list(effective) == list(documents)
    for name, labels in effective.items():
        expected = oracle(name, documents, parents, default, who, ceiling)
        assert visible(who, labels, ceiling) is expected
        assert rights.sees(labels) is expected


@settings(max_examples=200, deadline=None)
@given(trees(), st.none() | any_labels)
def test_a_parent_only_tightens(tree: tuple[dict[str, Labels], dict[str, str | None]], default: Labels | None) -> None:
    documents, parents = tree
    effective = resolve_labels(documents, parents, default)
    for name, parent in parents.items():
        own, above = effective[name], None if parent is None else effective.get(parent)
        if own is not None:
            assert above is not None
            assert own.level >= above.level
            assert own.deny >= above.deny
            assert above.allow == {"*"} or own.allow <= above.allow


@settings(max_examples=200, deadline=None)
@given(trees(), st.none() | any_labels, st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(
    tree: tuple[dict[str, Labels], dict[str, str | None]], default: Labels | None, random: Any
) -> None:
    documents, parents = tree
    shuffled = list(documents.items())
    random.shuffle(shuffled)
    assert resolve_labels(dict(shuffled), parents, default) == resolve_labels(documents, parents, default)


@settings(max_examples=200, deadline=None)
@given(any_labels.filter(lambda labels: labels.acl_allow != ()), st.sampled_from(sorted(UNIVERSE)), principals)
def test_one_more_denial_never_lets_anyone_in(labels: Labels, denied: str, who: Principal) -> None:
    default = Labels("public", ("*",), ("b", "user:y"))
    more = dataclasses.replace(labels, acl_deny=(*labels.acl_deny, denied))
    effective = resolve_labels({"less": labels, "more": more}, {}, default)
    assert visible(who, effective["less"], None) or not visible(who, effective["more"], None)


def chain(length: int) -> tuple[dict[str, Labels], dict[str, str | None]]:
    return {str(n): OPEN for n in range(length)}, {str(n): str(n - 1) for n in range(1, length)}


@pytest.mark.parametrize("reverse", [False, True])
def test_depth_limit(reverse: bool) -> None:
    documents, parents = chain(40)
    if reverse:
        documents = dict(reversed(documents.items()))
    effective = resolve_labels(documents, parents, None)
    assert {int(name) for name, labels in effective.items() if labels is not None} == set(range(DEPTH_MAX + 1))


def test_a_very_long_chain_and_cycle_do_not_exhaust_the_stack() -> None:
    documents, parents = chain(20_000)
    parents["0"] = "19999"
    assert set(resolve_labels(dict(reversed(documents.items())), parents, None).values()) == {None}


def test_stated_but_unresolved_parent_hides() -> None:
    stated = dataclasses.replace(OPEN, inherits_from="elsewhere")
    assert resolve_labels({"d": stated}, {}, None) == {"d": None}
    assert resolve_labels({"d": OPEN}, {"d": None}, OPEN) == {"d": None}
    assert resolve_labels({"d": OPEN}, {"d": "d"}, OPEN) == {"d": None}


def test_default_fills_what_is_missing() -> None:
    default = Labels("internal", ("staff",), ("guests",))
    effective = resolve_labels({"bare": Labels(), "own": Labels("public", ("*",), ("b",))}, {}, default)
    assert effective["bare"] == EffectiveLabels(1, frozenset({"staff"}), frozenset({"guests"}))
    assert effective["own"] == EffectiveLabels(0, frozenset({"*"}), frozenset({"guests", "b"}))


MALFORMED: list[Any] = [
    dict(classification="Public"),
    dict(classification=" public"),
    dict(classification=0),
    dict(classification=True),
    dict(classification=float("nan")),
    dict(classification=["public"]),
    dict(acl_allow=()),
    dict(acl_allow="*"),
    dict(acl_allow=["*"]),
    dict(acl_allow=(None,)),
    dict(acl_allow=("*", 3)),
    dict(acl_allow=("",)),
    dict(acl_allow=("  ",)),
    dict(acl_allow=("user:",)),
    dict(acl_allow=("user:*",)),
    dict(acl_allow=("user:user:ann",)),
    dict(acl_allow=("sta\u200bff",)),
    dict(acl_allow=("sta\u202eff",)),
    dict(acl_allow=("staff\n",)),
    dict(acl_allow=("staff\x00",)),
    dict(acl_allow=("staff\U000e0041",)),
    dict(acl_allow=("staff\ufe0f",)),
    dict(acl_allow=("sta\u3164ff",)),
    dict(acl_allow=("user:\u2060ann",)),
    dict(acl_deny=None),
    dict(acl_deny="a"),
    dict(acl_deny=(None,)),
    dict(acl_deny=("\u200d",)),
    dict(inherits_from=""),
    dict(inherits_from=7),
]


@pytest.mark.parametrize("change", MALFORMED, ids=ascii)
def test_malformed_labels_are_refused_and_hide(change: dict[str, Any]) -> None:
    labels = Labels(**{"classification": "public", "acl_allow": ("*",), **change})
    with pytest.raises(MetadataError):
        check_labels(labels)
    assert resolve_labels({"d": labels}, {}, OPEN) == {"d": None}
    assert resolve_labels({"d": labels, "p": OPEN}, {"d": "p"}, OPEN)["d"] is None
    assert resolve_labels({"p": labels, "d": OPEN}, {"d": "p"}, OPEN)["d"] is None
    assert resolve_labels({"d": Labels()}, {}, labels)["d"] is None


def test_check_labels_gives_the_canonical_form() -> None:
    labels = Labels("internal", (" staff", "e\u0301quipe", "staff", "user: lin "), ("b", "a"), "hr.md")
    expected = Labels("internal", ("staff", "user:lin", "\u00e9quipe"), ("a", "b"), "hr.md")
    assert check_labels(labels) == expected
    assert check_labels(expected) == expected


def test_composed_and_decomposed_names_are_one() -> None:
    effective = resolve_labels({"d": Labels("public", ("e\u0301quipe",))}, {}, None)
    assert visible(person("\u00e9quipe "), effective["d"], None)


@pytest.mark.parametrize("other", ["Admin", "\u0430dmin", "admin2", "adm in", "\uff41dmin", "ADMIN"])
def test_names_match_exactly(other: str) -> None:
    """Threat 18: case and homoglyphs are other names."""
    effective = resolve_labels({"d": Labels("public", ("admin", "user:admin"))}, {}, None)
    assert visible(person("admin"), effective["d"], None)
    assert not visible(person(other, actor=other), effective["d"], None)


@given(st.text())
def test_canonical_names_stay_as_they_are(name: str) -> None:
    for canonical in (canonical_name, acl_token):
        try:
            once = canonical(name)
        except ValueError:
            continue
        assert canonical(once) == once


@pytest.mark.parametrize("name", ["x') OR (1=1", "o'b", "%", "--", "a\\b", '"'])
def test_a_name_is_only_a_name(name: str) -> None:
    """Threat 3."""
    effective = resolve_labels({"d": Labels("public", ("hr",)), "own": Labels("public", (name,))}, {}, None)
    rights = permission_set(person(name, actor=name), None, LIMITS)
    assert [rights.sees(labels) for labels in effective.values()] == [False, True]


def test_user_token_belongs_to_the_actor_alone() -> None:
    effective = resolve_labels({"d": Labels("public", ("user:lin",))}, {}, None)
    assert visible(person(actor="lin"), effective["d"], None)
    assert not visible(person("lin", actor="ann"), effective["d"], None)


def test_the_agent_lends_no_rights() -> None:
    effective = resolve_labels({"d": Labels("public", ("user:bot",))}, {}, None)
    assert not permission_set(Principal("ann", agent="bot"), None, LIMITS).sees(effective["d"])


class Lookalike:
    actor, groups, clearance, roles, agent = "ann", frozenset[str](), "restricted", (), None


BAD_PRINCIPALS: list[Any] = [
    None,
    [],
    "ann",
    {"actor": "ann"},
    Lookalike(),
    Principal(""),
    Principal(" "),
    Principal(None),  # type: ignore[arg-type]
    Principal("*"),
    Principal("user:ann"),
    Principal("an\u200bn"),
    Principal("ann\n"),
    Principal("", agent="bot"),
    Principal("bot", agent="bot"),
    Principal("ann", agent=""),
    Principal("ann", agent=7),  # type: ignore[arg-type]
    Principal("ann", {"a"}),  # type: ignore[arg-type]
    Principal("ann", ["a"]),  # type: ignore[arg-type]
    Principal("ann", "a"),  # type: ignore[arg-type]
    Principal("ann", None),  # type: ignore[arg-type]
    Principal("ann", frozenset({"*"})),
    Principal("ann", frozenset({" * "})),
    Principal("ann", frozenset({"user:lin"})),
    Principal("ann", frozenset({""})),
    Principal("ann", frozenset({"a\u202e"})),
    Principal("ann", frozenset({1})),  # type: ignore[arg-type]
    Principal("ann", frozenset(f"g{n}" for n in range(50_000))),
    Principal("ann", clearance="99"),
    Principal("ann", clearance="Restricted"),
    Principal("ann", clearance=3),  # type: ignore[arg-type]
    Principal("ann", clearance=float("nan")),  # type: ignore[arg-type]
    Principal("ann", clearance=True),  # type: ignore[arg-type]
    Principal("ann", clearance=None),  # type: ignore[arg-type]
    Principal("ann", clearance=["restricted"]),  # type: ignore[arg-type]
    Principal("ann", roles=(("demo", ("admin",)),)),  # type: ignore[arg-type]
    Principal("ann", roles=(("demo", "owner"),)),  # type: ignore[arg-type]
    Principal("ann", roles=None),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("principal", BAD_PRINCIPALS, ids=lambda value: ascii(value)[:60])
def test_a_principal_that_is_not_established_is_refused(principal: Any) -> None:
    """Threats 1, 2, 11, 15, 17."""
    with pytest.raises(PermissionUnavailable) as caught:
        permission_set(principal, None, LIMITS)
    assert "\n" not in caught.value.line()
    assert caught.value.remedy


def test_groups_cap_is_inclusive() -> None:
    groups = frozenset(f"g{n}" for n in range(LIMITS.groups_max))
    assert len(permission_set(Principal("ann", groups), None, LIMITS).tokens) == LIMITS.groups_max + 2
    with pytest.raises(PermissionUnavailable):
        permission_set(Principal("ann", groups | {"one more"}), None, LIMITS)


@pytest.mark.parametrize("given_level", ["99", "Public", "", True, 1, float("nan"), ["public"]], ids=repr)
def test_unknown_min_classification(given_level: Any) -> None:
    with pytest.raises(InputError):
        permission_set(person(), given_level, LIMITS)


@pytest.mark.parametrize("ceiling", [True, -1, 4, 1.0, "1", float("nan")], ids=repr)
def test_unknown_ceiling(ceiling: Any) -> None:
    with pytest.raises(InputError):
        visible(person(), EffectiveLabels(0, frozenset("*"), frozenset()), ceiling)


@given(principals, st.sampled_from(LEVELS), any_labels)
def test_min_classification_only_tightens(who: Principal, ceiling: str, labels: Labels) -> None:
    """Threat 10."""
    effective = resolve_labels({"d": labels}, {}, OPEN)["d"]
    if permission_set(who, ceiling, LIMITS).sees(effective):
        assert permission_set(who, None, LIMITS).sees(effective)


def test_a_permission_set_has_one_maker() -> None:
    rights = permission_set(person("a"), "internal", LIMITS)
    with pytest.raises(PermissionUnavailable):
        PermissionSet("ann", None, frozenset({"*"}), 3, object())
    with pytest.raises((PermissionUnavailable, TypeError, ValueError)):
        dataclasses.replace(rights, level=3)  # type: ignore[call-arg]
    with pytest.raises(dataclasses.FrozenInstanceError):
        rights.level = 3  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(rights)) == rights
    assert hash(rights) == hash(permission_set(person("a"), "internal", LIMITS))


def test_digest_depends_on_rights_alone() -> None:
    digest = permission_set(person("a", "b"), "internal", LIMITS).digest
    assert len(digest) == 64
    assert digest == permission_set(person("b", " a"), "internal", LIMITS).digest
    assert digest == permission_set(dataclasses.replace(person("a", "b"), agent="bot"), "internal", LIMITS).digest
    others = [
        permission_set(person("a", "b"), "public", LIMITS),
        permission_set(person("a"), "internal", LIMITS),
        permission_set(person("a,b"), "internal", LIMITS),
        permission_set(person("a", "b", actor="bo"), "internal", LIMITS),
    ]
    assert len({digest, *(other.digest for other in others)}) == 5


def test_class_key_is_lasting() -> None:
    labels = EffectiveLabels(2, frozenset({"b", "a"}), frozenset({"c"}))
    assert class_key(labels) == class_key(EffectiveLabels(2, frozenset({"a", "b"}), frozenset({"c"})))
    assert class_key(EffectiveLabels(0, frozenset({"*"}), frozenset())) == "844be3b32e97f05aa1ab185dd3648060"
    variants = [(1, "ab", "c"), (2, "a", "c"), (2, "ab", ""), (2, "abc", ""), (2, "c", "ab")]
    keys = {class_key(EffectiveLabels(level, frozenset(a), frozenset(d))) for level, a, d in variants}
    assert len(keys | {class_key(labels)}) == 6


def test_equal_results_are_one_object() -> None:
    """What makes 100,000 documents cheap: as many objects as access classes, whatever the spelling."""
    documents = {
        str(n): Labels(
            LEVELS[n % 2], ("a", "b") if n % 3 else ("b", "a", "a "), inherits_from="0" if n % 5 == 4 else None
        )
        for n in range(300)
    }
    parents: dict[str, str | None] = {name: "0" for name, labels in documents.items() if labels.inherits_from}
    effective = resolve_labels(documents, parents, None)
    assert len({id(labels) for labels in effective.values()}) == len(set(effective.values())) == 2


def test_what_nobody_can_see_has_no_access_class() -> None:
    documents = {
        "denied": Labels("public", ("*",), ("*",)),
        "apart": Labels("public", ("a",)),
        "p": Labels("public", ("b",)),
    }
    effective = resolve_labels(documents, {"apart": "p"}, None)
    assert effective["denied"] is None
    assert effective["apart"] is None
