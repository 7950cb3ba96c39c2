"""Allow-list of the files that student code can see, in either kind of sandbox.

Student code can see the operating system's programs and libraries, the Python interpreter, the
packages and files that course.toml names, and the program `guest`; nothing else.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..errors import CourseError
from ..packages import module_folder, not_installed
from ..records import VisibleFiles

OWN_PACKAGES = ("ipython",)
OWN_MODULES = ("coursecheck",)
"""Distributions and modules that student code of every course can import, since the guest imports
them."""

SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libexec", "/usr/share/fonts",
          "/usr/share/graphviz", "/usr/share/zoneinfo", "/usr/share/fontconfig",
          "/etc/fonts", "/etc/ld.so.cache", "/etc/alternatives", "/etc/mime.types")  # fmt: skip


def environment(home: str) -> dict[str, str]:
    """Return the environment variables of student code.

    Args:
        home: the path of the home folder in the sandbox.
    """
    return {
        "HOME": home,
        "USER": "student",
        "LOGNAME": "student",
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": f"{home}/.matplotlib",
        "IPYTHONDIR": f"{home}/.ipython",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NBGRADER_EXECUTION": "autograde",  # As nbgrader sets it while it grades.
    }


def interpreter() -> str:
    """Return the path of the Python executable, with symbolic links resolved, such as that of a
    virtual environment."""
    return os.path.realpath(sys.executable)


def packages(visible: VisibleFiles) -> dict[str, str]:
    """Return what student code can import: by the name in the sandbox, the path on this machine.

    Raises `CourseError` if a package that the course names is missing.
    """
    paths = {name: path for path, name in _distributions(visible.packages).items()}
    for name in {*OWN_MODULES, *visible.modules}:
        paths[name] = str(module_folder(name))
    paths["guest"] = str(Path(__file__).resolve().parent / "guest")
    return paths


def data(visible: VisibleFiles) -> dict[str, str]:
    """Return the data files of all assignments: by the assignment's name and the file's path in the
    course folder, the path on this machine. Files that are named by their whole path are left out.

    Raises `CourseError` if a data file is missing.
    """
    for *_, path in visible.data:
        if not Path(path).is_file():
            raise CourseError(f"{path} is missing, which course.toml names as data: put it there")
    return {
        f"{assignment}/{os.path.normpath(f'source/{assignment}/{name}')}": path
        for assignment, name, path in visible.data
        if not os.path.isabs(name)
    }


def elsewhere(visible: VisibleFiles) -> set[str]:
    """Return the data files that course.toml names by their whole path. Student code sees each at
    this path."""
    return {path for _, name, path in visible.data if os.path.isabs(name)}


def library() -> str:
    """Return the folder of the standard library."""
    return os.path.realpath(sysconfig.get_path("stdlib"))


def interpreter_paths() -> set[str]:
    """Return the existing paths that the interpreter needs and that are not in `SYSTEM`."""
    # In a virtual environment, "platstdlib" is a folder without a standard library: use the base's.
    base = {"platbase": sys.base_exec_prefix}
    paths = {
        interpreter(),
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib", vars=base),
    }
    library = sysconfig.get_config_var("LDLIBRARY") or ""
    folder = sysconfig.get_config_var("LIBDIR") or ""
    if ".so" in library:
        paths |= {str(p) for p in Path(folder).glob(library + "*")}
    return {p for p in paths if Path(p).exists() and not p.startswith(("/usr/lib/", "/usr/bin/"))}


def foreign_packages(mounted: set[str]) -> set[str]:
    """Return the site-packages folders below the paths that student code can see. They have to be
    hidden: anything may be installed there, such as this grader.

    Args:
        mounted: the paths that student code can see.
    """
    stdlib = Path(sysconfig.get_path("stdlib"))
    folders = {stdlib / "site-packages", stdlib / "dist-packages"}
    folders |= set(Path("/usr/lib").glob("python*/dist-packages"))
    folders |= set(Path("/usr/lib").glob("python*/site-packages"))
    folders |= {
        Path(each) for each in sys.path if each.endswith(("site-packages", "dist-packages"))
    }
    return {
        str(path)
        for path in folders
        if path.is_dir()
        and not path.is_symlink()
        and any(path.is_relative_to(each) for each in mounted)
    }


def requirements(names: tuple[str, ...]) -> list[str]:
    """Return pinned requirements (`NAME==VERSION`) of distributions and all that they require.

    Distributions that were installed from a folder are left out, since no package index has them.

    Raises `CourseError` if one of the names is not installed.
    """
    distributions = [each for each in _closure(names) if each.read_text("direct_url.json") is None]
    return sorted(f"{each.metadata['Name']}=={each.version}" for each in distributions)


@cache
def _distributions(names: tuple[str, ...]) -> dict[str, str]:
    """Return the top-level files and folders of these distributions and of all that they require:
    by the path on this machine, the name in the sandbox."""
    entries: dict[str, str] = {}
    for distribution in _closure(OWN_PACKAGES + names):
        for top in _tops(distribution) - {"..", "__pycache__"}:
            path = str(distribution.locate_file(top))
            if os.path.exists(path):
                entries[os.path.realpath(path)] = top
    return entries


def _tops(distribution: importlib.metadata.Distribution) -> set[str]:
    """Return the names of the top-level files and folders that a distribution has installed."""
    # RECORD is parsed here, since `distribution.files` makes an object for each of its lines, which
    # may be ten thousand.
    record = distribution.read_text("RECORD")
    if record is None:
        return {file.parts[0] for file in distribution.files or ()}
    return {re.split("[/,]", line.lstrip('"'), maxsplit=1)[0] for line in record.splitlines()}


def _normalized(name: str) -> str:
    """Return a distribution's normalised name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _closure(names: tuple[str, ...]) -> Iterator[importlib.metadata.Distribution]:
    """Yield these distributions and their transitive requirements, without those of extras.

    `psutil` is left out unless it is named: without /proc it fails, and libraries such as joblib do
    without it only where it is not installed.

    Raises `CourseError` if one of the names is not installed.
    """
    named = {_normalized(name) for name in names}
    queue, seen = list(names), {"psutil"} - named
    while queue:
        name = _normalized(queue.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError as error:
            if name in named:
                raise not_installed(name) from error
            continue  # The requirement is for another system or Python version (its marker).
        yield distribution
        for requirement in distribution.requires or ():
            if "extra ==" not in requirement:
                queue.append(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0])
