"""The command line: a file per verb, each parse → one call → print.

Exit codes: 0 done, 1 the thing asked for failed, 2 usage or input error, 4 permission not determinable or role missing,
130 interrupted. An error is one line on stderr that names the remedy.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; `argv` None: the arguments of this process. Gives the exit code."""
    from workbench.cli.program import run

    return run(argv)
