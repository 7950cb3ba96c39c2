"""Examines whether a machine and a course meet the requirements of grading, and names remedies."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook

from coursecheck.check import load_table

from ..course_folder.course import Course, find_course
from ..course_folder.release import current_release
from ..course_folder.rubrics import rubrics_of
from ..course_folder.settings import Settings, load_settings
from ..errors import CourseError, SandboxUnavailable
from ..gradebook.class_results import class_results
from ..gradebook.writing import exists, require_current
from ..isolation import in_words
from ..judging.check_tables import is_current
from ..nbgrader_plugins.configuration import extends_formgrader, unsafe_settings
from ..pipeline.classroom import course_directory
from ..records import BUBBLEWRAP, LANDLOCK
from ..sandbox import ForkServer, kinds
from ..sandbox.bubblewrap import find_bubblewrap
from ..sandbox.memory import WORKER_BYTES, fitting_workers, free_memory, free_processes
from ..sandbox.visible import packages


@dataclass
class Finding:
    """One requirement that was examined.

    Attributes:
        what: the requirement.
        found: what was found, in a few words.
        fine: whether the requirement is met.
        needed: whether grading is impossible as long as the requirement is not met.
        remedy: the command or step that helps; "" for none.
    """

    what: str
    found: str
    fine: bool
    needed: bool = True
    remedy: str = ""


def examine(folder: Path | None) -> list[Finding]:
    """Examine everything on which grading depends, and return the findings.

    Args:
        folder: a folder in the course; if None, the current folder.
    """
    settings, course = Settings("", ""), None
    try:
        course = find_course(folder)
        settings = course.settings
    except CourseError:  # `_course` reports the error.
        pass
    looks: list[tuple[str, Callable[[], Finding | list[Finding]]]] = [
        ("operating system", _system),
        ("Python", _python),
        ("locale", _locale),
        ("packages", lambda: _packages(settings)),
        (BUBBLEWRAP, _bubblewrap),
        (LANDLOCK, _landlock),
        ("sandbox", lambda: _sandbox(settings)),
        ("memory", lambda: _memory(settings)),
        ("processes", lambda: _processes(settings)),
        ("disk", lambda: _disks(course.root if course else None)),
        ("graphviz", _dot),
        ("nbgrader", _nbgrader),
        ("course folder", lambda: _course(folder)),
        ("marks", lambda: _marks(course)),
    ]
    findings: list[Finding] = []
    for what, look in looks:
        try:
            found = look()
        except Exception as error:  # An error in one requirement must not hide the rest.
            found = Finding(what, in_words(error), False)
        findings += found if isinstance(found, list) else [found]
    return findings


def _system() -> Finding:
    fine = sys.platform == "linux"
    remedy = "" if fine else "Grade on Linux, or in a Linux container or virtual machine."
    return Finding("operating system", f"{platform.system()} {platform.release()}", fine, True,
                   remedy)  # fmt: skip


def _python() -> Finding:
    return Finding("Python", platform.python_version(), True)


def _locale() -> Finding:
    """Check that the encodings of stdout and of file names are UTF: names of all languages can be
    printed and be file names."""
    printed, files = sys.stdout.encoding or "none", sys.getfilesystemencoding()
    fine = all(each.lower().startswith("utf") for each in (printed, files))
    found = f"prints {printed}, names of files are {files}"
    remedy = "" if fine else "export LC_ALL=C.UTF-8    (letters are printed as escapes now)"
    return Finding("locale", found, fine, False, remedy)


def _packages(settings: Settings) -> Finding:
    try:
        found = packages(settings.visible)
    except CourseError as error:
        remedy = f"{sys.executable} -m pip install …, or correct [student_code] in course.toml"
        return Finding("packages", str(error), False, True, remedy)
    return Finding("packages", f"student code may import {len(found)}, and all are there", True)


def _bubblewrap() -> Finding:
    """Check bubblewrap's kind of sandbox: make a sandbox inside a sandbox, as grading does."""
    if why := kinds.KINDS[BUBBLEWRAP].why_not():
        return Finding(BUBBLEWRAP, why, False, False, _namespace_remedy())
    return Finding(BUBBLEWRAP, f"{find_bubblewrap()}, a box inside a box was made", True)


def _landlock() -> Finding:
    if why := kinds.KINDS[LANDLOCK].why_not():
        return Finding(LANDLOCK, why, False, False, _landlock_remedy(why))
    return Finding(LANDLOCK, "the kernel has it", True)


def _sandbox(settings: Settings) -> Finding:
    server = ForkServer(settings.limits, settings.visible, settings.sandbox)
    try:
        server.start()
    except CourseError:
        return Finding("sandbox", "not tried, since a package is missing", False, True, _ABOVE)
    except SandboxUnavailable as error:
        remedy = "One of the two kinds must work here: see above."
        if settings.sandbox in kinds.KINDS:
            remedy = f"course.toml asks for {settings.sandbox}, which must work here: see above."
        return Finding("sandbox", str(error), False, True, remedy)
    server.close()
    why = ", since bubblewrap does not work" if kinds.notice(settings.sandbox) else ""
    found = f"a confined process was started and ended, in the kind {server.kind}{why}"
    return Finding("sandbox", found, True)


def _memory(settings: Settings) -> Finding:
    """Compare the free memory with what the workers need; the limit of a container's control group
    counts as well."""
    processors = len(os.sched_getaffinity(0))
    fitting, free = fitting_workers(processors, settings.limits), free_memory() / (1 << 30)
    each = (settings.limits.memory + WORKER_BYTES) / (1 << 30)
    found = f"{free:.1f} GiB free; a worker with its student's process may need {each:.1f}"
    if free < each:
        return Finding("memory", found, False, False, "Make room: right answers may be ungraded.")
    if fitting < processors:
        found += f", so `autograder grade` starts {fitting} workers for {processors} processors"
    return Finding("memory", found, True, False)


def _disks(root: Path | None) -> list[Finding]:
    """Check the folders to which grading writes: their disks have room, and files can be made."""
    findings = []
    folders = {"disk of temporary files": Path(tempfile.gettempdir())}
    if root is not None:
        folders["disk of the course"] = root
    for what, folder in folders.items():
        about = os.statvfs(folder)
        free = about.f_bavail * about.f_frsize / (1 << 20)
        # Some file systems have no limit on the number of files, and report 0.
        is_full = free < _LEAST_ROOM or (about.f_files > 0 and about.f_favail < _LEAST_FILES)
        found = f"{folder}, {free:.0f} MiB free"
        if is_full:
            found = f"{folder} is full: {free:.0f} MiB and {about.f_favail} files are free"
            remedy = "Make room there" + (", or set TMPDIR." if folder != root else ".")
            findings.append(Finding(what, found, False, True, remedy))
        elif why := _why_not_written(folder):
            remedy = f"Have {folder} writable for whoever grades."
            findings.append(Finding(what, why, False, True, remedy))
        else:
            findings.append(Finding(what, found, True))
    return findings


def _why_not_written(folder: Path) -> str:
    """Return why grading cannot write to a folder, its gradebook or its `autograded/`; "" if it
    can."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
    except OSError as error:
        return f"{folder} cannot be written to ({error.strerror})"
    for name in ("gradebook.db", "autograded"):
        path = folder / name
        if path.exists() and not os.access(path, os.W_OK):
            return f"{path} cannot be written to"
    return ""


def _processes(settings: Settings) -> Finding:
    """Compare the number of processes and threads that the control groups still allow with the
    number that one worker needs."""
    left, needed = free_processes(), settings.limits.processes + _OWN_PROCESSES
    if left is None:
        return Finding("processes", "no control group limits them", True, False)
    found = f"the control group allows {left} more; a worker with its student's may need {needed}"
    remedy = "" if left >= needed else (
        "Allow more: `docker run --pids-limit 1000 …`, or `TasksMax=1000` in a systemd unit."
    )  # fmt: skip
    return Finding("processes", found, left >= needed, False, remedy)


def _namespace_remedy() -> str:
    """Return a command or step that allows user namespaces, by the setting that refuses them on
    this machine."""
    try:
        program = find_bubblewrap()
    except SandboxUnavailable:
        return "sudo apt-get install bubblewrap"
    if _setting("apparmor_restrict_unprivileged_userns", "kernel") == "1":
        return _APPARMOR.format(program=program) + (
            _SHIPPED if Path(_SHIPPED_PROFILE).exists() else ""
        )
    for folder, name, refusing, allowing in (
        ("user", "max_user_namespaces", "0", "15000"),
        ("kernel", "unprivileged_userns_clone", "0", "1"),
    ):
        if _setting(name, folder) == refusing:
            line = f"{folder}.{name}={allowing}"
            return (
                f"echo {line} | sudo tee /etc/sysctl.d/90-autograder.conf && sudo sysctl --system"
            )
    return _CONTAINER


def _setting(name: str, folder: str) -> str:
    try:
        return Path("/proc/sys", folder, name).read_text().strip()
    except OSError:
        return ""


def _landlock_remedy(why: str) -> str:
    if "switched off" in why:
        return (
            "Boot with Landlock: add `lsm=landlock,…` to the kernel's command line, with what "
            "/sys/kernel/security/lsm holds now in the place of the dots."
        )
    if "5.13" in why:
        return "Take a kernel that has Landlock, Linux 5.13 or newer, or make bubblewrap work."
    return "If this is a container, its runtime refuses Landlock: Docker allows it from 23.0 on."


_ABOVE = "See above."

_LEAST_ROOM, _LEAST_FILES = 200, 1000
"""Least free room on a disk: in mebibytes, and as a number of files."""

_OWN_PROCESSES = 8
"""Processes of a worker besides those of the student."""

_APPARMOR = (
    "AppArmor keeps ordinary programs from making namespaces. Allow it to bubblewrap alone:\n"
    "    printf '%s\\n' 'abi <abi/4.0>,' 'profile autograder-bwrap {program} flags=(unconfined) {{'"
    " '  userns,' '}}' | sudo tee /etc/apparmor.d/autograder-bwrap\n"
    "    sudo apparmor_parser -r /etc/apparmor.d/autograder-bwrap"
)

_SHIPPED_PROFILE = "/etc/apparmor.d/bwrap-userns-restrict"
_SHIPPED = f"""
    and, since the system's own profile takes all rights from what runs in bubblewrap:
    sudo ln -s {_SHIPPED_PROFILE} /etc/apparmor.d/disable/
    sudo apparmor_parser -R {_SHIPPED_PROFILE}"""

_CONTAINER = (
    "In an ordinary container use Landlock's kind, which needs nothing. Where the container is in "
    "your hands, `docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "…` lets bubblewrap work."
)


def _dot() -> Finding:
    found = shutil.which("dot")
    remedy = "" if found else "sudo apt-get install graphviz"
    return Finding("graphviz", found or "the program `dot` is missing", bool(found), False, remedy)


def _nbgrader() -> Finding:
    version = importlib.metadata.version("nbgrader")
    fine = version.startswith("0.9.")
    remedy = "" if fine else "make install, in the clone"
    return Finding("nbgrader", version, fine, False, remedy)


def _course(folder: Path | None) -> list[Finding]:
    try:
        course = find_course(folder)
        load_settings(course.root)
    except CourseError as error:
        return [Finding("course folder", str(error), False)]
    findings = [Finding("course folder", str(course), True), _configuration(course)]
    for name in course.part_names():
        try:
            assignment = course.assignment(name)
            current_release(course, name.partition("/")[0])
            rubrics_of(course, name)
            path = assignment.table
            current = assignment.in_notebook or (
                path.exists() and is_current(assignment, load_table(path))
            )
        except CourseError as error:
            findings.append(Finding(f"assignment {name}", str(error), False, False))
            continue
        remedy = "" if current else f"autograder tables {name.partition('/')[0]}"
        what = "released, checks current" if current else "its visible checks are out of date"
        findings.append(Finding(f"assignment {name}", what, current, False, remedy))
    return findings


def _marks(course: Course | None) -> list[Finding]:
    """Find marks and comments by a person that have to be reviewed, for instance since the answer
    has changed."""
    if course is None or not exists((folders := course_directory(course)).db_url):
        return []
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        again = {
            each.name: class_results(gradebook, each.name).again for each in gradebook.assignments
        }
    remedy = "Mark them with `autograder mark`: giving the same points again will do."
    return [
        Finding(f"marks of {name}", "\n    ".join(found), False, False, remedy)
        for name, found in again.items()
        if found
    ]


def _configuration(course: Course) -> Finding:
    """Check that `nbgrader autograde` would run student code in the sandbox, and that the gradebook
    has the columns of the installed nbgrader."""
    what = "nbgrader's configuration"
    try:
        folders = course_directory(course)
        require_current(folders.db_url)
    except CourseError as error:
        return Finding(what, str(error), False)
    if wrong := unsafe_settings(folders.config):
        found = "`nbgrader autograde` would run student code outside the sandbox, by "
        remedy = shlex.join(["autograder", "adopt", str(course)])
        return Finding(what, f"{found}{' and '.join(wrong)}", False, True, remedy)
    if not extends_formgrader(folders.config):
        found = "the formgrader would store marks over newer ones, and run what names hold"
        remedy = (
            "Put `from autograder.nbgrader_plugins import formgrader` and, as its last line, "
            "`formgrader.extend(c)` into nbgrader_config.py"
        )
        return Finding(what, found, False, False, remedy)
    return Finding(what, "`nbgrader autograde` runs student code in the sandbox", True)
