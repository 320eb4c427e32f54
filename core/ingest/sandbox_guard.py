"""What a parser process gives up before it reads a file: the network, other files and programs, and most memory.

Several layers, each where the system has it. `isolate` asks the kernel (Linux), whose refusals hold for native code
too; `refuse` is a hook in Python that also stands where the kernel's layers are not to be had (macOS, a container
that forbids namespaces); `limit` and `limit_memory` do what their names say; `watch` is for where memory has no limit.
"""

from __future__ import annotations

import os
import struct
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

_NEW_USER, _NEW_NET, _NEW_IPC = 0x10000000, 0x40000000, 0x08000000
_SET_PARENT_DEATH_SIGNAL, _SET_NO_NEW_PRIVILEGES = 1, 38
_SIGKILL = 9
# Landlock: numbers of its calls (alike on every architecture), its rights and its flags, from linux/landlock.h.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_READ_FILE, _READ_DIRECTORY = 1 << 2, 1 << 3
_FILE_RIGHTS_BY_VERSION = (0, 13, 14, 15, 15, 16)
_SYSTEM_FILES = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store", "/etc/ld.so.cache"),
    *("/usr/share/zoneinfo", "/etc/localtime", "/dev/null", "/dev/urandom"),
)
_REFUSED = ("socket.", "subprocess.", "os.", "shutil.", "tempfile.", "pty.", "urllib.", "http.", "ftplib.", "sqlite3.")
_LISTING = ("os.listdir", "os.scandir")
_HARMLESS = ("os.putenv", "os.unsetenv")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OPEN_FILES_MAX = 64
_NICENESS = 5
MEMORY_STATUS = 86
"""Exit status of a process that held too much memory."""
_WATCH_SECONDS = 0.1


def readable_paths(*more: str) -> tuple[str, ...]:
    """Files and folders that a parser may read: Python, installed packages, this package, the system's libraries."""
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    standard = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    project = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = (sys.prefix, sys.base_prefix, sys.exec_prefix, *standard, *packages, project, *_SYSTEM_FILES, *more)
    return tuple(sorted({real for path in found if os.path.exists(real := os.path.realpath(path)) and real != os.sep}))


def isolate(readable: Sequence[str]) -> tuple[str, ...]:
    """Take from this process what the kernel can take; the names of the layers that hold.

    To be called before a second thread starts: namespaces cannot change then, and Landlock binds one thread only.
    """
    if sys.platform != "linux":
        return ()
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    call: Callable[..., int] = libc.syscall

    def control(option: int, value: int) -> int:
        return int(libc.prctl(option, *(ctypes.c_ulong(number) for number in (value, 0, 0, 0))))

    layers = []
    if libc.unshare(_NEW_USER | _NEW_NET | _NEW_IPC) == 0 or libc.unshare(_NEW_NET) == 0:
        layers.append("namespaces")
    # After the change of namespace, which may forget it. A parent that died before is noticed by the end of input.
    control(_SET_PARENT_DEATH_SIGNAL, _SIGKILL)
    if control(_SET_NO_NEW_PRIVILEGES, 1) == 0 and _landlock(call, readable):
        layers.append("landlock")
    return tuple(layers)


def _landlock(call: Callable[..., int], readable: Sequence[str]) -> bool:
    """Whether this process is bound to read beneath `readable` and to do nothing else with files."""
    from ctypes import c_size_t, c_uint

    version = call(_CREATE_RULESET, None, c_size_t(0), c_uint(1))
    if version < 1:
        return False
    rights = (1 << _FILE_RIGHTS_BY_VERSION[min(version, 5)]) - 1
    # All file rights; TCP bind and connect (from version 4); abstract sockets and signals (from version 6).
    attributes = struct.pack("=QQQ", rights, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = call(_CREATE_RULESET, attributes, c_size_t(len(attributes)), c_uint(0))
    if ruleset < 0:
        return False
    try:
        for path in readable:
            _allow(call, ruleset, path)
        return call(_RESTRICT_SELF, ruleset, c_uint(0)) == 0
    finally:
        os.close(ruleset)


def _allow(call: Callable[..., int], ruleset: int, path: str) -> None:
    from ctypes import c_uint

    handle = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
    try:
        rights = _READ_FILE | _READ_DIRECTORY if os.path.isdir(path) else _READ_FILE
        if call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", rights, handle), c_uint(0)) < 0:
            raise OSError(f"Landlock does not take {path}")
    finally:
        os.close(handle)


class MemoryGauge:
    """What this process uses, in bytes. To be made while files can still be opened."""

    def __init__(self) -> None:
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._handle: int | None
        try:
            self._handle = os.open("/proc/self/statm", os.O_RDONLY)
        except OSError:
            self._handle = None

    def mapped(self) -> int:
        """Address space; 0 where it is not known."""
        return 0 if self._handle is None else self._pages()[0] * self._page

    def resident(self) -> int:
        """Memory held; the most there was where no more is known."""
        import resource

        if self._handle is None:
            unit = 1 if sys.platform == "darwin" else 1024
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        return self._pages()[1] * self._page

    def _pages(self) -> tuple[int, int]:
        assert self._handle is not None
        mapped, resident = os.pread(self._handle, 200, 0).split()[:2]
        return int(mapped), int(resident)


def limit() -> None:
    """No core dump, nothing written to files, few of them open, low priority."""
    import resource

    os.nice(_NICENESS)
    for kind, most in (("RLIMIT_CORE", 0), ("RLIMIT_FSIZE", 0), ("RLIMIT_NOFILE", _OPEN_FILES_MAX)):
        _cap(resource, kind, most)


def limit_memory(memory: MemoryGauge, more_bytes: int) -> bool:
    """Cap address space at so many bytes more than now. False where the system does not tell how much that is."""
    import resource

    return memory.mapped() > 0 and _cap(resource, "RLIMIT_AS", memory.mapped() + more_bytes)


def watch(memory: MemoryGauge, more_bytes: int) -> None:
    """End this process when it holds so many bytes more than now, or its parent is gone.

    A thread of Python, so it comes late to a native function that does not let go: for where the system has no limit.
    """
    parent, most = os.getppid(), memory.resident() + more_bytes

    def look() -> None:
        while True:
            time.sleep(_WATCH_SECONDS)
            if memory.resident() > most:
                os._exit(MEMORY_STATUS)
            if os.getppid() != parent:
                os._exit(0)

    threading.Thread(target=look, daemon=True).start()


def limit_processor(seconds: float) -> None:
    """Let this process use so many more seconds of processor time; then SIGXCPU ends it."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _cap(resource: Any, kind: str, most: int) -> bool:
    number = getattr(resource, kind, None)
    if number is None:
        return False
    hard = resource.getrlimit(number)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(number, (most, most))
    except (ValueError, OSError):
        return False
    return True


def refuse(readable: Sequence[str]) -> None:
    """From now on Python code here gets PermissionError where it opens a socket, starts a program, writes a file, or
    reads one outside `readable`. A hook cannot be taken back."""
    inside = tuple(path + os.sep for path in readable)

    def check_path(path: Any) -> None:
        if isinstance(path, int):  # a file that is open already
            return
        real = os.path.realpath(os.fsdecode(path if path is not None else "."))
        if real not in readable and not real.startswith(inside):
            raise PermissionError(f"a parser may not read {real}")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if (isinstance(flags, int) and flags & _WRITING) or (mode and set(mode) & set("wax+")):
                raise PermissionError("a parser may not write")
            check_path(path)
        elif event in _LISTING:
            check_path(arguments[0])
        elif event.startswith(_REFUSED) and event not in _HARMLESS:
            raise PermissionError(f"a parser may not use {event}")

    sys.addaudithook(hook)
