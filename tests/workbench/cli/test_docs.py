"""docs/cli.md against the parser: its examples parse, and it leaves no verb and no option out."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from tests.support import ROOT
from workbench.cli.parser import Parser
from workbench.cli.program import build_parser, parse

PAGE = (ROOT / "docs" / "cli.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
EXAMPLES = [line for block in BLOCKS for line in block.splitlines() if line.startswith("workbench ")]


def leaves(parser: Parser) -> Iterator[Parser]:
    parts = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not parts:
        yield parser
    for part in parts:
        for child in part.choices.values():
            yield from leaves(child)


LEAVES = list(leaves(build_parser()))


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_parses(example: str) -> None:
    args = parse(shlex.split(example)[1:])
    assert example.startswith(args.leaf.prog)


@pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.prog)
def test_every_verb_has_an_example_and_every_option_is_named(leaf: Parser) -> None:
    assert [example for example in EXAMPLES if f"{example} ".startswith(f"{leaf.prog} ")]
    options = [option for action in leaf._actions for option in action.option_strings if option not in ("-h", "--help")]
    assert not [option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", PAGE)]
    assert leaf.description


def test_no_verb_and_no_option_is_made_up() -> None:
    known = {option for leaf in LEAVES for action in leaf._actions for option in action.option_strings}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE)) <= known
    assert len(EXAMPLES) > 20
