"""Examines the machine: what grading needs, what is there, and how to get the rest."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from coursecheck.check import load_table

from ..course_folder.assignments import assignment_names, find_course, load_assignment
from ..course_folder.settings import Settings, load_settings
from ..errors import CourseError, SandboxUnavailable
from ..judging.check_tables import made_from
from ..wall import WarmServer
from ..wall.bubblewrap import find_bubblewrap
from ..wall.memory import WORKER_BYTES, fitting_workers, free_memory


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
    try:
        settings = load_settings(find_course(course))
    except CourseError:  # which is told below
        settings = Settings("", "")
    return [
        _system(), _python(), _bubblewrap(), _sandbox(settings), _memory(settings), _dot(),
        _nbgrader(), *_course(course),
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
        remedy = "sudo apt-get install bubblewrap"
        return Finding("bubblewrap", "not installed", False, True, remedy)


def _sandbox(settings: Settings) -> Finding:
    server = WarmServer(settings.limits, settings.visible)
    try:
        server.start()
    except SandboxUnavailable as error:
        return Finding("sandbox", str(error), False, True, _namespace_remedy())
    server.close()
    return Finding("sandbox", "a confined process was started and ended", True)


def _memory(settings: Settings) -> Finding:
    """What is free, the control group of a container included, beside what the workers may need."""
    processors = len(os.sched_getaffinity(0))
    fitting, free = fitting_workers(processors, settings.limits), free_memory() / (1 << 30)
    each = (settings.limits.memory + WORKER_BYTES) / (1 << 30)
    found = f"{free:.1f} GiB free; a worker with its student's process may need {each:.1f}"
    if free < each:
        return Finding("memory", found, False, False, "Make room: right answers may be ungraded.")
    if fitting < processors:
        found += f", so `autograder grade` starts {fitting} workers for {processors} processors"
    return Finding("memory", found, True, False)


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
    remedy = "" if fine else "make install, in the clone"
    return Finding("nbgrader", version, fine, False, remedy)


def _course(course: Path | None) -> list[Finding]:
    try:
        folder = find_course(course)
        load_settings(folder)
    except CourseError as error:
        return [Finding("course folder", str(error), False)]
    findings = [Finding("course folder", str(folder), True)]
    for name in assignment_names(folder):
        try:
            assignment = load_assignment(folder, name)
            path = assignment.table
            current = assignment.in_notebook or (
                path.exists() and load_table(path).get("made_from") == made_from(assignment)
            )
        except CourseError as error:
            findings.append(Finding(f"assignment {name}", str(error), False, False))
            continue
        remedy = "" if current else "make generated"
        what = "released, checks current" if current else "its visible checks are out of date"
        findings.append(Finding(f"assignment {name}", what, current, False, remedy))
    return findings
