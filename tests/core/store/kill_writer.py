"""A writer to be killed: `python -m tests.core.store.kill_writer FOLDER SEED [--pairs]`.

Says `ready`, waits for a line, then ingests, re-ingests, relabels and removes documents without end, and says what is
committed after each commit. With `--pairs` both documents of a commit carry its version, and none is ever removed.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from core.store.lance import open_store
from core.types import Labels
from tests.core.store import builders as make

PATHS = [f"document {number}" for number in range(12)]


def main(folder: str, seed: str, mode: str = "") -> None:
    draw = random.Random(int(seed))
    store = open_store(Path(folder), make.DIMENSION, make.settings(compact_after=4, retention_s=0.0))
    print("ready", flush=True)
    sys.stdin.readline()
    versions = {item.path: int(item.revision) for item in store.since(0).documents}
    version = max(versions.values(), default=0)
    while True:
        version += 1
        paths = draw.sample(PATHS, 2)
        if mode == "--pairs":
            store.commit([make.write(f"{side} {paths[0]}", version) for side in ("left", "right")])
            print(f"write {version} {paths[0]}", flush=True)
        elif draw.random() < 0.15 and paths[0] in versions:
            store.commit([], [make.identity(paths[0])])
            del versions[paths[0]]
            print(f"remove {version} {paths[0]}", flush=True)
        elif draw.random() < 0.2 and paths[0] in versions:
            store.commit([make.relabel(paths[0], versions[paths[0]], Labels(acl_allow=(str(version),)))])
            print(f"relabel {versions[paths[0]]} {paths[0]}", flush=True)
        else:
            store.commit([make.write(path, version) for path in paths])
            versions.update(dict.fromkeys(paths, version))
            print("\n".join(f"write {version} {path}" for path in paths), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
