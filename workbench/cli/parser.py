"""argparse with errors of one line, and the options that several verbs share.

Every verb's file has `add(verbs)`, which declares its options and names the function that runs it. That function takes
the parsed arguments and gives the exit code.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeAlias

if TYPE_CHECKING:
    from core.types import Labels

Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"
Run = Callable[[argparse.Namespace], int]


class UsageError(Exception):
    """The arguments cannot be meant; the text is the whole line for the terminal."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}; see '{self.prog} --help'")


def verb(verbs: Verbs, name: str, run: Run, help_text: str, description: str = "", *, usage: str = "") -> Parser:
    """A verb, with `--home`, that `run` carries out.

    `usage`, for a verb with an option that takes several values: such an option would swallow what argparse's own
    usage puts last.
    """
    parser = verbs.add_parser(name, help=help_text, description=description or help_text, allow_abbrev=False)
    if usage:
        parser.usage = f"{parser.prog} {usage}"
    add_home(parser)
    parser.set_defaults(run=run, leaf=parser)
    return parser


def group(verbs: Verbs, name: str, help_text: str) -> Verbs:
    """A verb of several parts, as in `collections list`."""
    parser = verbs.add_parser(name, help=help_text, description=help_text, allow_abbrev=False)
    return parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)


def add_home(parser: Parser) -> None:
    # without a default of its own, so that a verb does not overwrite what stood before it
    help_text = "the folder in which everything lives (default: $WORKBENCH_HOME, else .workbench)"
    parser.add_argument("--home", metavar="FOLDER", default=argparse.SUPPRESS, help=help_text)


def add_collection(parser: Parser) -> None:
    parser.add_argument("--collection", required=True, metavar="NAME")


def add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_reader(parser: Parser) -> None:
    help_text = "who asks, by the name in principals.toml (default: its [default])"
    parser.add_argument("--as", dest="principal", metavar="PRINCIPAL", help=help_text)


def add_manager(parser: Parser) -> None:
    help_text = "who does this, whose roles then count (default: the operator, who has the home's files in hand)"
    parser.add_argument("--as", dest="principal", metavar="PRINCIPAL", help=help_text)


def add_labels(parser: Parser) -> None:
    """Default labels: what holds where a document states none of its own."""
    help_text = "default classification: public, internal, confidential or restricted"
    parser.add_argument("--classification", type=level, metavar="LEVEL", help=help_text)
    help_text = "default access list: groups, user:NAME, or * for everyone (quote it: '*')"
    parser.add_argument("--allow", nargs="+", action="extend", metavar="GROUP", help=help_text)
    help_text = "groups or user:NAME that see no document without labels above it; alone: nobody"
    parser.add_argument("--deny", nargs="*", action="extend", metavar="GROUP", help=help_text)


def level(text: str) -> str:
    """A classification. Raises ArgumentTypeError."""
    from core.access import LEVELS

    if text not in LEVELS:
        raise argparse.ArgumentTypeError(f"no classification {text!r}; choose one of {', '.join(LEVELS)}")
    return text


def labels_given(args: argparse.Namespace, present: Labels | None) -> Labels | None:
    """`present` with the labels that were given in place of its own; None where there are neither."""
    if args.classification is None and args.allow is None and args.deny is None:
        return present
    from core.types import Labels

    before = present or Labels()
    return Labels(
        classification=before.classification if args.classification is None else args.classification,
        acl_allow=before.acl_allow if args.allow is None else tuple(args.allow),
        acl_deny=before.acl_deny if args.deny is None else tuple(args.deny),
    )
