"""Every test runs offline, with hypothesis as `make test` or `make nightly` wants it, and in a home of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import shared_data_path

pytest_plugins = ("tests.support.browser",)

NIGHTLY = os.environ.get("WORKBENCH_NIGHTLY") == "1"

# Before any import of the libraries that read them.
os.environ.update(
    NUMBA_DISABLE_JIT="1",  # compiling takes a minute, and numba's workqueue layer aborts under threads
    HF_HUB_OFFLINE="1",
    TRANSFORMERS_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    LITELLM_OFFLINE_MODE="true",
    LITELLM_TELEMETRY="False",
    LITELLM_LOCAL_MODEL_COST_MAP="True",
    STREAMLIT_BROWSER_GATHER_USAGE_STATS="false",
    TOKENIZERS_PARALLELISM="false",
)
# Settings of whoever runs the tests must not steer them.
for _name in [name for name in os.environ if name.startswith("WORKBENCH_") and "__" in name]:
    del os.environ[_name]
os.environ.pop("WORKBENCH_HOME", None)

_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "default", max_examples=50, deadline=None, derandomize=True, suppress_health_check=_SLOW_IS_FINE
)
settings.register_profile(
    "nightly", max_examples=2_000, deadline=None, print_blob=True, suppress_health_check=_SLOW_IS_FINE
)
settings.load_profile("nightly" if NIGHTLY else "default")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks what needs shared data; leaves out nightly tests by day."""
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker("shared_data")
    if NIGHTLY:
        return
    nightly = [item for item in items if item.get_closest_marker("nightly")]
    if nightly:
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if item not in nightly]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is WORKBENCH_HOME for this test."""
    path = tmp_path / "home"
    path.mkdir()
    monkeypatch.setenv("WORKBENCH_HOME", str(path))
    return path


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets, one folder each."""
    path = shared_data_path()
    if path is None:
        pytest.skip("no public data sets at hand: name their folder's parent in WORKBENCH_SHARED")
    return path


@pytest.fixture(autouse=True)
def _fresh_streamlit_caches() -> Iterator[None]:
    """Streamlit's caches outlive an AppTest: without this, one test's doubles would reach the next."""
    yield
    streamlit = sys.modules.get("streamlit")
    if streamlit is not None:
        streamlit.cache_data.clear()
        streamlit.cache_resource.clear()
