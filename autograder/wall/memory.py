"""Reads how much memory and how many processes are free, and whether memory ran out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..model import Limits

WORKER_BYTES = 150 << 20
"""Memory of a worker, beside its student's process."""

_GROUPS = Path("/sys/fs/cgroup")
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Files of a control group: its limit, its use, and the cache that the kernel can free, with the
names of the second version and of the first."""


def free_memory() -> int:
    """Return how many bytes this process and those that it starts may still take.

    That is the free memory of the machine, or of the control group of a container or a service, if
    less.
    """
    found = [1024 * _number("/proc/meminfo", "MemAvailable:")]
    return min(found + list(_left_in_groups()))


def fitting_workers(wanted: int, limits: Limits | None = None) -> int:
    """Return how many of the wanted workers fit into free memory, each with a student at its
    limit."""
    each = (limits or Limits()).memory + WORKER_BYTES
    return max(1, min(wanted, free_memory() // each))


def count_oom_kills() -> int:
    """Return how many processes the kernel has killed for want of memory since the machine
    started."""
    return _number("/proc/vmstat", "oom_kill")


def free_processes() -> int | None:
    """Return how many processes and threads the control groups leave; None if they have no
    limit."""
    found = []
    for group in _own_groups("pids"):
        with suppress(OSError, ValueError):  # "max" is no limit
            most = int((group / "pids.max").read_text())
            found.append(max(0, most - int((group / "pids.current").read_text())))
    return min(found, default=None)


def _left_in_groups(root: Path = _GROUPS, own: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """Yield the bytes left in each control group of this process, up to the root."""
    for group in _own_groups("memory", root, own):
        for limit, usage, cache in _FILES:
            with suppress(OSError, ValueError):
                most = int((group / limit).read_text())
                used = int((group / usage).read_text())
                yield max(0, most - used + _number(group / "memory.stat", cache))


def _own_groups(
    controller: str, root: Path = _GROUPS, own: Path = Path("/proc/self/cgroup")
) -> Iterator[Path]:
    """Yield the folders of the control groups that this process may be in, up to the root."""
    paths = [Path()]
    with suppress(OSError):
        for line in own.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", controller):
                paths.append(Path(path.lstrip("/")))
    for place in (root, root / controller, root / "unified"):
        for group in {each for path in paths for each in (path, *path.parents)}:
            yield place / group


def _number(path: str | Path, name: str) -> int:
    """Return the number behind a name in one of the kernel's files; 0 if it is missing."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(path).read_text().splitlines():
            if line.split(maxsplit=1)[0] == name:
                return int(line.split()[1])
    return 0
