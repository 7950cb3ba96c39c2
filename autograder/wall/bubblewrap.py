"""Builds the box that student code runs in, with bubblewrap.

The box holds the operating system's libraries, the Python interpreter, the packages and files that
the course names, and the program of `inside`: a list of what may be seen, never a list of what must
be hidden.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from ..errors import CourseError, SandboxUnavailable
from ..model import Visible
from ..packages import module_folder, not_installed
from .inside.confine import HOME

INSIDE = "/sandbox"
PACKAGES = f"{INSIDE}/packages"

DATA = f"{INSIDE}/data"
"""Holds a folder for each assignment that has files beside its notebook."""

OWN_PACKAGES = ("ipython",)
OWN_MODULES = ("coursecheck",)
"""What the program in the box itself imports, and what students of every course have."""

SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libexec", "/usr/share/fonts",
          "/usr/share/graphviz", "/usr/share/zoneinfo", "/usr/share/fontconfig",
          "/etc/fonts", "/etc/ld.so.cache", "/etc/alternatives")  # fmt: skip

ENVIRONMENT = {
    "HOME": HOME,
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "MPLCONFIGDIR": f"{HOME}/.matplotlib",
    "IPYTHONDIR": f"{HOME}/.ipython",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


def find_bubblewrap() -> str:
    """The path of the `bwrap` program: the system's, or the one beside Python."""
    found = shutil.which("bwrap")
    if found:
        return found
    beside_python = Path(sys.executable).parent / "bwrap"
    if beside_python.exists():
        return str(beside_python)
    raise SandboxUnavailable(
        "bubblewrap is not installed, so student code cannot be confined and nothing was run. "
        "Install it with `sudo apt-get install bubblewrap`; without the right to do that, run "
        "`pip install ./coursecheck './autograder[bubblewrap]'` in the clone."
    )


def command(arguments: Sequence[str], visible: Visible) -> list[str]:
    """The command line that starts the warm server inside a fresh box.

    Args:
        arguments: the server's own arguments.
        visible: what student code may see.

    Raises:
        SandboxUnavailable: there is no bubblewrap.
        CourseError: a package or a file that the course names is not there.
    """
    python = Path(os.path.realpath(sys.executable))
    numbers = ["--unshare-pid", "--proc"] if may_mount_proc() else ["--bind", "/proc"]
    line = [
        find_bubblewrap(),
        "--unshare-user", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
        *numbers, "/proc", "--die-with-parent", "--new-session",
        "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--hostname", "student",
        "--clearenv",
    ]  # fmt: skip
    for name, value in ENVIRONMENT.items():
        line += ["--setenv", name, value]
    for path in SYSTEM:
        line += ["--ro-bind-try", path, path]
    for name in ("bin", "sbin", "lib", "lib64", "lib32"):
        if Path("/", name).is_symlink():
            line += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        else:
            line += ["--ro-bind-try", f"/{name}", f"/{name}"]
    needed = _interpreter_paths(python)
    for path in sorted(needed):
        line += ["--ro-bind", path, path]
    for path in sorted(_foreign_packages({*SYSTEM, *needed})):
        line += ["--tmpfs", path, "--remount-ro", path]
    line += ["--dev", "/dev", "--remount-ro", "/dev", "--tmpfs", "/tmp", "--tmpfs", HOME]
    for source, name in sorted(_distributions(visible.packages).items()):
        line += ["--ro-bind", source, f"{PACKAGES}/{name}"]
    for name in {*OWN_MODULES, *visible.modules}:
        line += ["--ro-bind", str(module_folder(name)), f"{PACKAGES}/{name}"]
    for assignment, name, path in visible.data:
        if not Path(path).is_file():
            raise CourseError(f"{path} is missing, which course.toml names as data: put it there")
        line += ["--ro-bind", path, f"{DATA}/{assignment}/{name}"]
    line += ["--ro-bind", str(Path(__file__).resolve().parent / "inside"), f"{PACKAGES}/inside"]
    line += ["--remount-ro", "/", "--chdir", HOME]
    # No user site, no current folder, no site-packages: only what is listed above. The
    # environment is ENVIRONMENT; with -I the hash seed would not be read from it.
    line += [str(python), "-s", "-P", "-S", "-B", "-c", _START, *arguments]
    return line


@cache
def may_mount_proc() -> bool:
    """Whether the warm server may have process numbers and a /proc of its own.

    Where parts of /proc are covered, as in most containers, the kernel makes no other one. The
    server then uses the container's; a student's process has numbers of its own and no /proc.
    """
    mount = ["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    done = subprocess.run([find_bubblewrap(), *mount], capture_output=True)
    return b"mount proc" not in done.stderr


_START = f"import sys; sys.path.insert(0, {PACKAGES!r}); from inside.server import main; main()"


def _interpreter_paths(python: Path) -> set[str]:
    """What the interpreter itself needs, where that is not in the system's folders already."""
    # In a virtual environment "platstdlib" is its own folder, which holds no standard library.
    own = {"platbase": sys.base_exec_prefix}
    paths = {str(python), sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib", vars=own)}
    library = sysconfig.get_config_var("LDLIBRARY") or ""
    folder = sysconfig.get_config_var("LIBDIR") or ""
    if ".so" in library:
        paths |= {str(p) for p in Path(folder).glob(library + "*")}
    return {p for p in paths if Path(p).exists() and not p.startswith(("/usr/lib/", "/usr/bin/"))}


def _foreign_packages(mounted: set[str]) -> set[str]:
    """The folders of installed packages below what is mounted: covered, since anything may be
    installed there, the autograder too."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    found = {stdlib / "site-packages", stdlib / "dist-packages"}
    found |= set(Path("/usr/lib").glob("python*/dist-packages"))
    found |= set(Path("/usr/lib").glob("python*/site-packages"))
    found |= {Path(each) for each in sys.path if each.endswith(("site-packages", "dist-packages"))}
    return {
        str(path)
        for path in found
        if path.is_dir()
        and not path.is_symlink()
        and any(path.is_relative_to(each) for each in mounted)
    }


@cache
def _distributions(names: tuple[str, ...]) -> dict[str, str]:
    """The files and folders of installed distributions: path on this machine -> name inside."""
    entries: dict[str, str] = {}
    for distribution in _closure(OWN_PACKAGES + names):
        for top in _tops(distribution) - {"..", "__pycache__"}:
            path = str(distribution.locate_file(top))
            if os.path.exists(path):
                entries[os.path.realpath(path)] = top
    return entries


def _tops(distribution: importlib.metadata.Distribution) -> set[str]:
    """What an installed distribution has put beside the others: files and folders."""
    # `distribution.files` makes an object of each of some ten thousand lines.
    record = distribution.read_text("RECORD")
    if record is None:
        return {file.parts[0] for file in distribution.files or ()}
    return {re.split("[/,]", line.lstrip('"'), maxsplit=1)[0] for line in record.splitlines()}


def _normalized(name: str) -> str:
    """The name of a distribution in the one form that all spellings of it share."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _closure(names: tuple[str, ...]) -> Iterator[importlib.metadata.Distribution]:
    """The distributions of these names and all they require here, extras left out.

    Raises `CourseError` where one of the names is not installed.
    """
    wanted = {_normalized(name) for name in names}
    waiting, seen = list(names), set()
    while waiting:
        name = _normalized(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError as error:
            if name in wanted:
                raise not_installed(name) from error
            continue  # What a distribution needs on another system or Python.
        yield distribution
        for requirement in distribution.requires or ():
            if "extra ==" not in requirement:
                waiting.append(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0])
