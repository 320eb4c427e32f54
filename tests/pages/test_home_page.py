"""The Home page through Streamlit's AppTest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.home import Workbench
from tests.support import ROOT, small_home
from workbench.messages import say

OWNER = """
[olga]
groups = ["staff"]
clearance = "internal"
roles = { small = ["owner"] }
"""


@pytest.fixture
def stocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = small_home.make(tmp_path / "stocked")
    (home / "principals.toml").write_text(small_home.PEOPLE + OWNER, "utf-8")
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    return home


def _run(**params: Any) -> AppTest:
    page = AppTest.from_file(str(ROOT / "workbench" / "app.py"), default_timeout=60)
    for name, value in params.items():
        page.query_params[{"who": "as"}.get(name, name)] = value
    page = page.switch_page(str(ROOT / "pages" / "home.py")).run()
    assert not page.exception, page.exception
    return page


def _said(page: AppTest) -> str:
    groups = (page.error, page.warning, page.info, page.success, page.markdown, page.caption, page.subheader)
    return "\n".join(element.value for group in groups for element in group)


def _counts(page: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in page.metric}


def test_each_sees_the_counts_of_what_is_theirs(stocked: Path) -> None:
    owner, guest = _run(who="olga"), _run(who="guest")
    assert _counts(owner)[say("home.count.documents")] == "6"
    assert _counts(guest)[say("home.count.documents")] == "5"
    assert say("home.attention.title") in _said(owner)
    assert say("home.attention.title") not in _said(guest)


def test_what_needs_attention_is_named(stocked: Path) -> None:
    workbench = Workbench.open(stocked)
    assert say("home.attention.nothing") in _said(_run(who="olga"))
    workbench.edit_document("small", "policies/leave.md", {"valid_until": "2020-01-01"}, workbench.operator())
    page = _run(who="olga")
    assert say("home.attention.expired.title", count=1) in _said(page)


def test_a_new_home_names_its_first_three_steps(home: Path) -> None:
    page = _run()
    assert say("home.steps.title") in _said(page)
    assert any("principals.toml" in code.value for code in page.code)
    assert any("workbench demo" in code.value for code in page.code)


def test_nobody_sees_nothing(stocked: Path) -> None:
    page = _run(who="nobody-here")
    assert not page.metric and "small" not in _said(page)
