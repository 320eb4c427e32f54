"""`workbench demo`"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli.context import Progress, home_of, manager, opened
from workbench.cli.ingest import say_report
from workbench.cli.output import say
from workbench.cli.parser import Verbs, add_manager, verb

if TYPE_CHECKING:
    from core.home import Workbench
    from core.types import Principal


def add(verbs: Verbs) -> None:
    description = "Load the demo collection and, into a home without principals.toml, its people."
    parser = verb(verbs, "demo", run, "load the demo collection", description)
    parser.add_argument("--reset", action="store_true", help="drop the collection demo first; nothing else is touched")
    add_manager(parser)


def run(args: argparse.Namespace) -> int:
    from workbench.demo_loader import copy_people, is_loaded, people_missing

    home = home_of(args)
    if not args.reset and is_loaded(home):
        say_people(copy_people(home), people_missing(home))
        say("the demo collection is loaded already (`workbench demo --reset` loads it anew)")
        return 0
    workbench = opened(args)
    load(workbench, manager(args, workbench), args.reset)
    say('try: workbench search "How long does a refund to a credit card take?" --collection demo')
    return 0


def load(workbench: Workbench, principal: Principal, reset: bool) -> None:
    """Load the demo and say what was done. Raises as `load_demo`."""
    from workbench.demo_loader import load_demo

    progress = Progress()
    try:
        report = load_demo(workbench, principal, reset=reset, progress=progress)
    finally:
        progress.done()
    say_people(report.people_copied, report.people_missing)
    if not report.vectors_shipped:
        say("the shipped vectors are not of this embedder, so the texts were embedded here")
    say_report(report.ingest)


def say_people(copied: bool, missing: tuple[str, ...]) -> None:
    if copied:
        say("copied the demo's principals.toml into the home: ann, bo, mei, dora, guest and a default")
    if missing:
        say(f"principals.toml of the home is left as it is; it lacks the demo's {', '.join(missing)}")
