"""Lists what student code may see of this machine, in either kind of sandbox.

These are the operating system's libraries, the Python interpreter, the packages and files that the
course names, and the program of `inside`. All else is hidden.
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
from ..model import Visible
from ..packages import module_folder, not_installed

OWN_PACKAGES = ("ipython",)
OWN_MODULES = ("coursecheck",)
"""Packages that the program in the box itself imports, and that students of every course have."""

SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libexec", "/usr/share/fonts",
          "/usr/share/graphviz", "/usr/share/zoneinfo", "/usr/share/fontconfig",
          "/etc/fonts", "/etc/ld.so.cache", "/etc/alternatives")  # fmt: skip


def environment(home: str) -> dict[str, str]:
    """Return the environment of student code.

    Args:
        home: the value of HOME.
    """
    return {
        "HOME": home,
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
    }


def interpreter() -> str:
    """Return the path of the Python program itself, which a virtual environment only links to."""
    return os.path.realpath(sys.executable)


def packages(visible: Visible) -> dict[str, str]:
    """Return the packages for student code to import: the name in its folder, and the path.

    Raises `CourseError` if a package that the course names is missing.
    """
    found = {name: path for path, name in _distributions(visible.packages).items()}
    for name in {*OWN_MODULES, *visible.modules}:
        found[name] = str(module_folder(name))
    found["inside"] = str(Path(__file__).resolve().parent / "inside")
    return found


def data(visible: Visible) -> dict[str, str]:
    """Return the files that lie beside notebooks: `ASSIGNMENT/NAME`, and the path.

    Raises `CourseError` if one is missing.
    """
    for *_, path in visible.data:
        if not Path(path).is_file():
            raise CourseError(f"{path} is missing, which course.toml names as data: put it there")
    return {f"{assignment}/{name}": path for assignment, name, path in visible.data}


def library() -> str:
    """Return the folder of Python's own library."""
    return os.path.realpath(sysconfig.get_path("stdlib"))


def interpreter_paths() -> set[str]:
    """Return the paths that the interpreter needs outside of the system's folders."""
    # In a virtual environment "platstdlib" is its own folder, which holds no standard library.
    own = {"platbase": sys.base_exec_prefix}
    paths = {
        interpreter(),
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib", vars=own),
    }
    library = sysconfig.get_config_var("LDLIBRARY") or ""
    folder = sysconfig.get_config_var("LIBDIR") or ""
    if ".so" in library:
        paths |= {str(p) for p in Path(folder).glob(library + "*")}
    return {p for p in paths if Path(p).exists() and not p.startswith(("/usr/lib/", "/usr/bin/"))}


def foreign_packages(mounted: set[str]) -> set[str]:
    """Return the folders of installed packages below the mounted ones: they are covered, since
    anything may be installed there, the autograder too."""
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


def requirements(names: tuple[str, ...]) -> list[str]:
    """Return these distributions and all they require, with versions, but for those installed from
    a folder.

    Raises `CourseError` if one of the names is not installed.
    """
    found = [each for each in _closure(names) if each.read_text("direct_url.json") is None]
    return sorted(f"{each.metadata['Name']}=={each.version}" for each in found)


@cache
def _distributions(names: tuple[str, ...]) -> dict[str, str]:
    """Return the files and folders of installed distributions: path on this machine -> name
    inside."""
    entries: dict[str, str] = {}
    for distribution in _closure(OWN_PACKAGES + names):
        for top in _tops(distribution) - {"..", "__pycache__"}:
            path = str(distribution.locate_file(top))
            if os.path.exists(path):
                entries[os.path.realpath(path)] = top
    return entries


def _tops(distribution: importlib.metadata.Distribution) -> set[str]:
    """Return the files and folders that a distribution has installed at the top level."""
    # `distribution.files` makes an object of each of some ten thousand lines.
    record = distribution.read_text("RECORD")
    if record is None:
        return {file.parts[0] for file in distribution.files or ()}
    return {re.split("[/,]", line.lstrip('"'), maxsplit=1)[0] for line in record.splitlines()}


def _normalized(name: str) -> str:
    """Return the name of a distribution in the one form that all spellings of it share."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _closure(names: tuple[str, ...]) -> Iterator[importlib.metadata.Distribution]:
    """Yield the distributions of these names and all they require here, extras left out.

    Raises `CourseError` if one of the names is not installed.
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
            continue  # A requirement for another system or Python is not installed here.
        yield distribution
        for requirement in distribution.requires or ():
            if "extra ==" not in requirement:
                waiting.append(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0])
