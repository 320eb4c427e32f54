from pathlib import Path

import pytest

from core.errors import PermissionUnavailable, RoleMissing
from core.principals import load_principals, require_role
from core.types import Principal

GOOD = """
[default]

[ann]
groups = ["staff", " re\u0301daction "]
clearance = "internal"
roles = {demo = ["evaluator", "owner"], "*" = ["reader"]}

["bo@example.com"]
groups = []
clearance = "restricted"
"""


def home(folder: Path, text: str | bytes) -> Path:
    (folder / "principals.toml").write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def test_reads_everyone(tmp_path: Path) -> None:
    people = load_principals(home(tmp_path, GOOD))
    assert people.names() == ("default", "ann", "bo@example.com")
    assert people.named(None) == people.named("default") == Principal("default")
    assert people.named("ann") == Principal(
        "ann",
        frozenset({"staff", "r\u00e9daction"}),
        "internal",
        (("*", ("reader",)), ("demo", ("owner", "evaluator"))),
    )
    assert people.named("bo@example.com").clearance == "restricted"


def test_a_byte_order_mark_does_not_matter(tmp_path: Path) -> None:
    assert load_principals(home(tmp_path, b"\xef\xbb\xbf[ann]\n")).names() == ("ann",)


def test_accents_may_be_composed_or_not(tmp_path: Path) -> None:
    people = load_principals(home(tmp_path, '["ren\u00e9"]\nclearance = "internal"\n'))
    assert people.named("rene\u0301") is people.named("ren\u00e9")


@pytest.mark.parametrize(
    "name", ["Ann", "ann ", " ann", "\u0430nn", "an", "", "*", "ann\u200b", "\uff41nn", "user:ann"]
)
def test_only_the_exact_name_matches(tmp_path: Path, name: str) -> None:
    """Threat 18."""
    with pytest.raises(PermissionUnavailable) as caught:
        load_principals(home(tmp_path, GOOD)).named(name)
    assert "principals.toml" in caught.value.remedy


def test_without_a_default_nobody_is_assumed(tmp_path: Path) -> None:
    with pytest.raises(PermissionUnavailable) as caught:
        load_principals(home(tmp_path, "[ann]\n")).named(None)
    assert "[default]" in caught.value.remedy


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(PermissionUnavailable) as caught:
        load_principals(tmp_path)
    assert caught.value.exit_code == 4
    assert "create" in caught.value.remedy


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "principals.toml").mkdir()
    with pytest.raises(PermissionUnavailable):
        load_principals(tmp_path)


@pytest.mark.parametrize(
    "entry",
    [
        "[bo",
        'bo = "x"',
        "bo = 3",
        "[[bo]]",
        "[bo]\ngroup = ['a']",
        "[bo]\nadmin = true",
        "[bo]\ngroups = 'staff'",
        "[bo]\ngroups = ['a', 3]",
        "[bo]\ngroups = ['']",
        "[bo]\ngroups = ['*']",
        "[bo]\ngroups = ['user:ann']",
        '[bo]\ngroups = ["a\\u200b"]',
        '[bo]\ngroups = ["a\\u0007"]',
        "[bo]\nclearance = 'secret'",
        "[bo]\nclearance = 'Internal'",
        "[bo]\nclearance = 3",
        "[bo]\nclearance = true",
        "[bo]\nclearance = nan",
        "[bo]\nclearance = ['internal']",
        "[bo]\nroles = ['owner']",
        "[bo]\nroles = {demo = 'owner'}",
        "[bo]\nroles = {demo = ['admin']}",
        "[bo]\nroles = {demo = [1]}",
        "[bo]\nroles = {demo = [['owner']]}",
        "[bo]\nroles = {'' = ['owner']}",
        "['']",
        "['*']",
        "['user:bo']",
        '["b\\u202eo"]',
        "['bo']\n[' bo']",
        "[bo]\n[bo]",
    ],
)
def test_one_wrong_entry_refuses_all(tmp_path: Path, entry: str) -> None:
    """Never a partial result: the good entry beside it is not given either."""
    with pytest.raises(PermissionUnavailable) as caught:
        load_principals(home(tmp_path, f"[ann]\n\n{entry}\n" if "=" not in entry[:4] else f"{entry}\n[ann]\n"))
    assert "\n" not in caught.value.line()
    assert "principals.toml" in caught.value.line()
    assert caught.value.remedy


def test_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(PermissionUnavailable):
        load_principals(home(tmp_path, b"[ann]\ngroups = ['\xff']\n"))


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PermissionUnavailable):
        load_principals(home(tmp_path, "[ann]\ngroups = " + "[" * 100_000 + "]" * 100_000))


def test_a_change_is_seen_by_the_next_load(tmp_path: Path) -> None:
    load_principals(home(tmp_path, GOOD)).named("ann")
    with pytest.raises(PermissionUnavailable):
        load_principals(home(tmp_path, "[bo]\n")).named("ann")


def test_require_role(tmp_path: Path) -> None:
    ann = load_principals(home(tmp_path, GOOD)).named("ann")
    require_role(ann, "owner", "demo")
    require_role(ann, "reader", "anything")
    for role, collection in (("owner", "Demo"), ("owner", "other"), ("auditor", "demo"), ("owner", "*")):
        with pytest.raises(RoleMissing) as caught:
            require_role(ann, role, collection)  # type: ignore[arg-type]
        assert (caught.value.actor, caught.value.role, caught.value.collection) == ("ann", role, collection)
