"""The program as a whole: its verbs, and what becomes of an error."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from core.errors import CoreError
from core.store.faults import FREE_SPACE, FULL, is_full
from workbench.cli.collections import add as add_collections
from workbench.cli.demo import add as add_demo
from workbench.cli.documents import add as add_documents
from workbench.cli.import_ import add as add_import
from workbench.cli.ingest import add as add_ingest
from workbench.cli.jobs import add as add_jobs
from workbench.cli.output import complain
from workbench.cli.parser import Parser, UsageError, add_home
from workbench.cli.rebuild import add as add_rebuild
from workbench.cli.search import add as add_search
from workbench.cli.serve import add as add_serve
from workbench.cli.settings import add as add_settings

DEBUG = "WORKBENCH_DEBUG"

ADDERS = (
    add_serve,
    add_demo,
    add_collections,
    add_ingest,
    add_jobs,
    add_documents,
    add_import,
    add_rebuild,
    add_search,
    add_settings,
)
"""Of each verb, in the order of the help."""

FAILED, USAGE, INTERRUPTED = 1, 2, 130


def build_parser() -> Parser:
    parser = Parser(
        prog="workbench",
        description="Makes a knowledge base findable, and proves it.",
        epilog="`workbench VERB --help` says more.",
        allow_abbrev=False,
    )
    add_home(parser)
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    for add in ADDERS:
        add(verbs)
    return parser


def run(argv: Sequence[str] | None = None) -> int:
    """Parse, run, and turn whatever goes wrong into one line on stderr and an exit code."""
    name = "workbench"
    try:
        args = parse(argv)
        name = args.leaf.prog
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except UsageError as error:
        return complain(str(error), USAGE)
    except CoreError as error:
        _traceback_if_wanted()
        return complain(f"{name}: {error.line()}", error.exit_code)
    except SystemExit as stop:  # --help
        return stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt:
        return complain(f"{name}: interrupted", INTERRUPTED)
    except BrokenPipeError:
        # the reader has gone; Python would complain once more when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        _traceback_if_wanted()
        place = f"{error.filename}: " if error.filename else ""
        remedy = FREE_SPACE if is_full(error) else "check the disk and the rights there"
        return complain(f"{name}: {place}{FULL if is_full(error) else error.strerror or error}: {remedy}", FAILED)
    except Exception as error:
        _traceback_if_wanted()
        hint = "" if os.environ.get(DEBUG) else f"; {DEBUG}=1 shows the traceback"
        return complain(f"{name}: {type(error).__name__}: {error}{hint}", FAILED)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Raises UsageError, in the name of the verb that was meant; SystemExit after --help."""
    args, unknown = build_parser().parse_known_args(argv)
    if unknown:
        args.leaf.error(f"unrecognized arguments: {' '.join(unknown)}")
    return args


def _traceback_if_wanted() -> None:
    if os.environ.get(DEBUG):
        import traceback

        traceback.print_exc()
