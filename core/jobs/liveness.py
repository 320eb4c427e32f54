"""The lock that tells whether a home's worker lives, and how a worker is started with it in hand.

The lock belongs to an open file, which the starter opens, locks and hands to the worker: from the first moment on
there is one worker or none, and the operating system frees the lock when the worker dies, however it dies. Whoever
only wants to know shares the lock for an instant.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from core.errors import StoreFailure
from core.jobs.records import jobs_failure, jobs_folder, made_folder

LOCK, LOG = "worker.lock", "worker.log"
WORKER_LOG_MAX_BYTES = 1_000_000
_PATIENCE_S = 5.0


def worker_lives(home: Path) -> bool:
    """Whether some process holds the worker's lock. Raises StoreFailure where that cannot be told."""
    import fcntl

    try:
        handle = os.open(jobs_folder(home) / LOCK, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise jobs_failure(jobs_folder(home), error) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def become_worker(home: Path) -> int | None:
    """The locked file, open until closed or the process ends; None where another worker has it. Raises StoreFailure."""
    try:
        import fcntl
    except ImportError:
        raise StoreFailure("jobs cannot run on this system", "use Linux, macOS or the WSL of Windows") from None
    folder = made_folder(home)
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise jobs_failure(folder, error) from None
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.truncate(handle, 0)  # of the number of the worker before
            return handle
        except BlockingIOError:
            if worker_lives(home):
                break
            time.sleep(0.001)  # somebody is looking whether a worker lives, for an instant
        except OSError as error:
            os.close(handle)
            raise jobs_failure(folder, error) from None
    os.close(handle)
    return None


def start_worker(home: Path, idle_s: float) -> bool:
    """Start a worker in a session of its own where none lives; whether one had to be. Raises StoreFailure."""
    handle = become_worker(home)
    if handle is None:
        return False
    try:
        process = _spawn(home, handle, idle_s)
    except OSError as error:
        raise StoreFailure(f"the worker cannot be started ({error.strerror})", "free memory or processes") from None
    finally:
        os.close(handle)  # the worker has it too
    # Reaped when it ends, so that it does not stay in the table of processes as long as the starter lives.
    threading.Thread(target=process.wait, name="worker's end", daemon=True).start()
    return True


def _spawn(home: Path, handle: int, idle_s: float) -> subprocess.Popen[bytes]:
    # A checkout is to be found; where installed packages are, Python looks by itself, and in the right order.
    root = Path(__file__).resolve().parents[2]
    checkout = "" if root.name in ("site-packages", "dist-packages") else str(root)
    path = os.pathsep.join(filter(None, [checkout, os.environ.get("PYTHONPATH", "")]))
    log = jobs_folder(home) / LOG
    with log.open("ab") as output:
        if output.tell() > WORKER_LOG_MAX_BYTES:
            output.truncate(0)
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "core.jobs.worker", str(home), "--lock", str(handle), "--idle", str(idle_s)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=home,
            env={**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"},
            close_fds=True,
            pass_fds=(handle,),
            start_new_session=True,
        )
