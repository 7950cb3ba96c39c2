"""Builds the Python of the browser edition: the Pyodide runtime and a folder of wheels.

The runtime comes from the npm package `pyodide`; pip downloads the wheels. Pyodide installs the
packages in its lock file, which has a URL and a hash for each. This module writes a lock file that
lists only the local wheels, so that the browser contacts no other server.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyterlite_pyodide_kernel.constants import PYODIDE_LOCK, PYODIDE_MJS, PYODIDE_VERSION
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from ...errors import CourseError
from ...packages import module_folder
from ..contents import wheel_metadata

_FILES = (PYODIDE_MJS, "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", PYODIDE_LOCK)


@dataclass(frozen=True)
class Runtime:
    """The packages of Python in the browser.

    Attributes:
        packages: names of the packages that are installed at the start.
        left_out: names of requested packages that have no pure-Python wheel.
    """

    packages: list[str]
    left_out: list[str]


def build_runtime(
    target: Path, kernel: Sequence[Path], own: Sequence[Path], asked: Sequence[str]
) -> Runtime:
    """Write the runtime into `target`, with wheels and all their requirements.

    Args:
        target: the new folder for the runtime and the wheels.
        kernel: the paths of the wheels that come with the Pyodide kernel.
        own: the paths of the course's wheels.
        asked: further packages, as requirement specifiers (PEP 508).

    Raises `CourseError` if a download by npm or pip fails.
    """
    target.mkdir(parents=True)
    _fetch_pyodide(target)
    lock_path = target / PYODIDE_LOCK
    lock = json.loads(lock_path.read_text("utf-8"))
    # The kernel installs packages with micropip, in the version for this Pyodide.
    installer = f"micropip=={lock['packages']['micropip']['version']}"
    wheel_paths = [Path(shutil.copyfile(wheel, target / wheel.name)) for wheel in (*kernel, *own)]
    wheels = _Wheels(target, wheel_paths, lock["info"]["python"])
    left_out = wheels.require([installer, "jedi", *asked])
    lock["packages"] = {name: wheels.lock_entry(name) for name in sorted(wheels.found)}
    lock_path.write_text(json.dumps(lock, indent=1), "utf-8")
    return Runtime([*lock["packages"]], left_out)


def _fetch_pyodide(target: Path) -> None:
    """Download the runtime's files to the folder `target`, by `npm pack`."""
    if shutil.which("npm") is None:
        raise CourseError(
            "npm is missing, which fetches Python for the browser: install it (`apt-get install "
            "npm` on Debian and Ubuntu), then publish again"
        )
    with tempfile.TemporaryDirectory() as scratch:
        package = f"pyodide@{PYODIDE_VERSION}"
        _run("npm", "pack", package, "--silent", "--pack-destination", scratch)
        [archive] = Path(scratch).glob("*.tgz")
        with tarfile.open(archive) as packed:
            for name in _FILES:
                member = packed.extractfile(f"package/{name}")
                assert member is not None, f"{package} holds no {name}"
                (target / name).write_bytes(member.read())


class _Wheels:
    """A folder of wheels, and their transitive requirements in a browser.

    Args:
        folder: the folder of the wheels.
        given: the paths of the wheels that are in the folder already.
        python: the full version of Python in the browser, such as `3.13.2`.

    Attributes:
        found: the paths of the wheels in the folder, by canonical package name.
    """

    def __init__(self, folder: Path, given: Iterable[Path], python: str) -> None:
        self._folder = folder
        self._python = python
        # The values of PEP 508's environment markers in Pyodide.
        self._environment: dict[str, str] = {
            **{name: str(value) for name, value in default_environment().items()},
            "extra": "",
            "implementation_name": "cpython",
            "implementation_version": python,
            "os_name": "posix",
            "platform_machine": "wasm32",
            "platform_python_implementation": "CPython",
            "platform_system": "Emscripten",
            "python_full_version": python,
            "python_version": python.rpartition(".")[0],
            "sys_platform": "emscripten",
        }
        self.found: dict[str, Path] = {_name_of(path): path for path in given}

    def require(self, asked: Sequence[str]) -> list[str]:
        """Download packages and their transitive requirements.

        Args:
            asked: the packages, as requirement specifiers.

        Returns:
            The names of packages that have no pure-Python wheel, and were left out.
        """
        left_out: set[str] = set()
        needed = [Requirement(each) for each in asked]
        needed += [each for wheel in self.found.values() for each in self._requirements(wheel)]
        while needed:
            missing = {
                name: f"{each.name}{each.specifier}"
                for each in needed
                if (name := canonicalize_name(each.name)) not in {*self.found, *left_out}
            }
            # Download all at once; if that fails, one by one, to find out which have no wheel.
            if not self._fetch([*missing.values()]):
                left_out |= {name for name, one in missing.items() if not self._fetch([one])}
            downloaded = {_name_of(path): path for path in self._folder.glob("*.whl")}
            new = [name for name in missing if name in downloaded]
            self.found |= {name: downloaded[name] for name in new}
            needed = [each for name in new for each in self._requirements(downloaded[name])]
        return sorted(left_out)

    def _requirements(self, wheel: Path) -> list[Requirement]:
        """Return a wheel's direct requirements whose markers hold in a browser."""
        lines = wheel_metadata(wheel).get_all("Requires-Dist", [])
        return [
            each
            for each in map(Requirement, lines)
            if each.marker is None or each.marker.evaluate(self._environment)
        ]

    def _fetch(self, requirements: list[str]) -> bool:
        """Download the pure-Python wheels of packages; return False if one has none.

        Args:
            requirements: the packages, as requirement specifiers.
        """
        # A clone has the pinned versions, with which the tests ran.
        pins = module_folder("autograder").parent / "constraints.txt"
        try:
            _run(
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                *("--disable-pip-version-check", "--dest", str(self._folder)),
                *("--only-binary=:all:", "--implementation=py", "--abi=none", "--platform=any"),
                *("--python-version", self._python.rpartition(".")[0]),
                *(("--constraint", str(pins)) if pins.is_file() else ()),
                *requirements,
            )
        except CourseError as error:
            # pip says ResolutionImpossible if the constraints set a version that has no wheel: with
            # --no-deps, no other conflict is possible.
            if re.search("No matching distribution|ResolutionImpossible", str(error)):
                return False
            raise
        return True

    def lock_entry(self, name: str) -> dict[str, Any]:
        """Return a package's entry in Pyodide's lock file."""
        wheel = self.found[name]
        required = {canonicalize_name(each.name) for each in self._requirements(wheel)}
        return {
            "name": name,
            "version": str(parse_wheel_filename(wheel.name)[1]),
            "file_name": wheel.name,
            "install_dir": "site",
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "package_type": "package",
            "imports": _imports(wheel),
            "depends": sorted(required & {*self.found}),
            "unvendored_tests": False,
        }


def _name_of(wheel: Path) -> str:
    return parse_wheel_filename(wheel.name)[0]


def _imports(wheel: Path) -> list[str]:
    """Return the top-level modules and packages in a wheel."""
    with zipfile.ZipFile(wheel) as packed:
        tops = {name.partition("/")[0] for name in packed.namelist() if name.endswith(".py")}
    names = {top.removesuffix(".py") for top in tops}
    return sorted(name for name in names if name.isidentifier())


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise CourseError(
            f"{' '.join(command[:4])} failed; is the network there? It said:\n"
            f"{(done.stdout + done.stderr)[-2000:]}"
        )
