"""How much memory and how many processes may be had here, and whether memory ran out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..model import Limits

WORKER_BYTES = 150 << 20
"""What a worker needs beside its student's process."""

_GROUPS = Path("/sys/fs/cgroup")
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""What a control group may use, what it uses, and what of that the kernel lets go for others: the
names of the second version and of the first."""


def free_memory() -> int:
    """How many bytes this process and those that it starts may still take.

    It is what the machine has left, or the control group of a container or a service, if less.
    """
    found = [1024 * _number("/proc/meminfo", "MemAvailable:")]
    return min(found + list(_left_in_groups()))


def fitting_workers(wanted: int, limits: Limits | None = None) -> int:
    """How many of so many workers fit into what is free, each with a student at its limit."""
    each = (limits or Limits()).memory + WORKER_BYTES
    return max(1, min(wanted, free_memory() // each))


def count_oom_kills() -> int:
    """How many processes the kernel has killed for want of memory, since the machine started."""
    return _number("/proc/vmstat", "oom_kill")


def free_processes() -> int | None:
    """How many processes and threads the control groups leave; None where they limit none."""
    found = []
    for group in _own_groups("pids"):
        with suppress(OSError, ValueError):  # "max" is no limit
            most = int((group / "pids.max").read_text())
            found.append(max(0, most - int((group / "pids.current").read_text())))
    return min(found, default=None)


def _left_in_groups(root: Path = _GROUPS, own: Path = Path("/proc/self/cgroup")) -> Iterator[int]:
    """What is left in each control group that this process is in, up to the root."""
    for group in _own_groups("memory", root, own):
        for limit, usage, cache in _FILES:
            with suppress(OSError, ValueError):
                most = int((group / limit).read_text())
                used = int((group / usage).read_text())
                yield max(0, most - used + _number(group / "memory.stat", cache))


def _own_groups(
    controller: str, root: Path = _GROUPS, own: Path = Path("/proc/self/cgroup")
) -> Iterator[Path]:
    """The folders of the control groups that this process may be in, up to the root."""
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
    """The number behind a name in one of the kernel's files; 0 where it is not there."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(path).read_text().splitlines():
            if line.split(maxsplit=1)[0] == name:
                return int(line.split()[1])
    return 0
