"""Reads from the kernel how much memory and how many processes are free, and counts OOM kills."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..records import Limits

WORKER_BYTES = 150 << 20
"""Memory in bytes that a worker of the grader needs, in addition to its student process."""

_GROUPS = Path("/sys/fs/cgroup")
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Files of a control group, in cgroup v2 and v1: limit, usage, and the field of `memory.stat` with
the page cache that the kernel can free."""


def free_memory() -> int:
    """Return how many bytes this process and its children can still allocate.

    This is the machine's available memory, or less if a control group (of a container or a service)
    leaves less.
    """
    free = [1024 * _number("/proc/meminfo", "MemAvailable:")]
    return min(free + list(_left_in_groups()))


def fitting_workers(wanted: int, limits: Limits | None = None) -> int:
    """Return how many workers fit into free memory: at least 1, and at most `wanted`.

    Each worker is counted with a student process that uses all the memory that `limits` allow.
    """
    size = (limits or Limits()).memory + WORKER_BYTES
    return max(1, min(wanted, free_memory() // size))


def count_oom_kills() -> int:
    """Return how many processes the kernel's OOM killer has killed since boot."""
    return _number("/proc/vmstat", "oom_kill")


def free_processes() -> int | None:
    """Return how many processes and threads the control groups still allow; None if they set no
    limit."""
    free = []
    for group in _own_groups("pids"):
        with suppress(OSError, ValueError):  # Without a limit, the file holds the word "max".
            most = int((group / "pids.max").read_text())
            free.append(max(0, most - int((group / "pids.current").read_text())))
    return min(free, default=None)


def _left_in_groups(root: Path = _GROUPS, own: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """Yield the bytes that are left in each control group of this process, from its own one up to
    the root."""
    for group in _own_groups("memory", root, own):
        for limit, usage, cache in _FILES:
            with suppress(OSError, ValueError):
                most = int((group / limit).read_text())
                used = int((group / usage).read_text())
                yield max(0, most - used + _number(group / "memory.stat", cache))


def _own_groups(
    controller: str, root: Path = _GROUPS, own: Path = Path("/proc/self/cgroup")
) -> Iterator[Path]:
    """Yield the folders that may be those of this process's control groups and their parents.

    Where control groups are mounted depends on their version (v1, v2, hybrid), so some of these
    folders do not exist.
    """
    paths = [Path()]
    with suppress(OSError):
        for line in own.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", controller):
                paths.append(Path(path.lstrip("/")))
    for mount in (root, root / controller, root / "unified"):
        for group in {each for path in paths for each in (path, *path.parents)}:
            yield mount / group


def _number(path: str | Path, name: str) -> int:
    """Return the number in the line that begins with the word NAME in one of the kernel's files; 0
    if there is no such line or file."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(path).read_text().splitlines():
            if line.split(maxsplit=1)[0] == name:
                return int(line.split()[1])
    return 0
