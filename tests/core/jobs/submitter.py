"""Whoever submits a job, to be killed: `python -m tests.core.jobs.submitter HOME FOLDER`.

Says the job's id once it is submitted, and `started` once it has a worker.
"""

from __future__ import annotations

import sys
from pathlib import Path

from core.audit import MemoryAudit
from core.jobs.store import Jobs
from core.types import Principal


def main(home: str, folder: str) -> None:
    jobs = Jobs(Path(home), MemoryAudit())
    owner = Principal("bo", roles=(("*", ("owner",)),))
    print("ready", flush=True)
    print(jobs.submit("ingest", "c", owner, {"paths": [folder]}).id, flush=True)
    jobs.ensure_worker(1.0)
    print("started", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
