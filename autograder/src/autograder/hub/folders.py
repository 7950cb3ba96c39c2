"""Creates the folder structure of a hub.

course/      the instructor's course folder, a working nbgrader course
exchange/    nbgrader's exchange: releases, submissions, feedback
inbound/     submissions, in one folder for each student
homes/       each student's home
settings/    Jupyter's and nbgrader's settings, for students and for the instructor
hub/         JupyterHub's own data: users, cookies, log
passwords    a line for each user
"""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook

from ..authoring.release import copy_course, run_nbgrader
from ..course_folder.course import Course, refuse_inner_course
from ..errors import CourseError
from ..gradebook.people import plain
from ..pipeline.classroom import course_directory

INSTRUCTOR = "instructor"

_FOR_STUDENTS = """
c = get_config()
c.CourseDirectory.course_id = "{course}"
c.Exchange.root = "{exchange}"
c.KernelManager.transport = "ipc"
"""

_FOR_INSTRUCTOR = """

# The hub: what students hand in lies in a folder for each.
c.Exchange.root = "{exchange}"
c.ExchangeFactory.collect = "autograder.hub.exchange.CollectFromEach"
c.CollectFromEach.folder = "{inbound}"
c.ExchangeCollect.check_owner = False
c.KernelManager.transport = "ipc"
"""

_START = """# Start here

1. **Get a notebook.** Open the menu *Nbgrader → Assignment List* and press *Fetch*. The folder
   appears in the list of files at the left; open the notebook in it.
2. **Work.** Run each cell with Shift and Enter. Save with Ctrl S.
3. **Hand in.** In the *Assignment List*, press *Submit*. You may do so again until the due date.
4. **Read the feedback.** Press *Fetch Feedback* in the *Assignment List*, or open *grading* under
   *File → Hub Control Panel → Services*.
"""
"""Content, in Markdown, of the file `START.md` in a new student's home."""

_INSTRUCTORS_ONLY = ("formgrader", "course_list")
_INSTRUCTORS_MENUS = ("formgrader", "create-assignment", "course-list")


@dataclass(frozen=True)
class HubFolder:
    """The paths in a hub's folder `root`."""

    root: Path

    @property
    def course(self) -> Course:
        return Course(self.root / "course")

    @property
    def exchange(self) -> Path:
        return self.root / "exchange"

    @property
    def passwords(self) -> Path:
        return self.root / "passwords"

    @property
    def state(self) -> Path:
        return self.root / "hub"

    def inbound(self, student: str) -> Path:
        return self.root / "inbound" / student

    def home(self, student: str) -> Path:
        return self.root / "homes" / student

    def settings(self, who: str) -> Path:
        return self.root / "settings" / who

    def users(self) -> dict[str, str]:
        """Return every user's password, by user name."""
        lines = self.passwords.read_text("utf-8").splitlines()
        return dict(line.split(" ", 1) for line in lines)


def prepare(
    clone: Course, root: Path, students: list[str], names: list[str] | None = None
) -> HubFolder:
    """Create missing folders and users of a hub; existing files and passwords stay as they are.

    Args:
        clone: the course to copy for the instructor.
        root: the hub's folder.
        students: user names of students to add to those of earlier calls.
        names: the assignments to release if the course is new; all by default.

    Raises `CourseError` if a name is not a valid user name, or `root` lies in a course.
    """
    for student in students:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,30}", student) or student == INSTRUCTOR:
            raise CourseError(
                f"{student!r} cannot be a student's name: lower-case letters, digits, - and _ can"
            )
    folder = HubFolder(root.resolve())
    refuse_inner_course(folder.course.root)
    folder.root.mkdir(parents=True, exist_ok=True)
    folder.root.chmod(0o700)
    _add_users(folder, [INSTRUCTOR, *students])
    course_id = clone.settings.id
    shared = folder.exchange / course_id
    for name in ("outbound", "inbound", "feedback"):
        (shared / name).mkdir(parents=True, exist_ok=True)
    # Only the student who handed in knows the name of a feedback file, so nobody may list the
    # folder. All students' servers run as the folder's owner, so the owner has no read permission
    # either.
    (shared / "feedback").chmod(0o311)
    folder.home(INSTRUCTOR).mkdir(parents=True, exist_ok=True)
    folder.state.mkdir(exist_ok=True)
    _write_settings(folder, course_id)
    if not folder.course.root.exists():
        copy_course(clone, folder.course.root)
        with (folder.course.root / "nbgrader_config.py").open("a") as config:
            config.write(
                _FOR_INSTRUCTOR.format(exchange=folder.exchange, inbound=folder.root / "inbound")
            )
        for name in names or folder.course.assignment_names():
            run_nbgrader(folder.course.root, "generate_assignment", name, "--force")
    (folder.root / "inbound").mkdir(exist_ok=True)
    for student in students:
        admit(folder, student)
    return folder


def admit(folder: HubFolder, student: str, **about: str | None) -> None:
    """Create a student's folders, and add the student to the gradebook; idempotent.

    Args:
        student: the student's user name and id in the gradebook.
        about: values of further columns in the gradebook's row, such as `email`; empty values are
            left out.
    """
    home = folder.home(student)
    if not home.exists():
        home.mkdir(parents=True)
        (home / "START.md").write_text(_START, "utf-8")
    folder.inbound(student).mkdir(parents=True, exist_ok=True)
    directory = course_directory(folder.course)
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        columns = {key: plain(str(value)) for key, value in about.items() if value}
        gradebook.update_or_create_student(student, **columns)


def _add_users(folder: HubFolder, names: list[str]) -> None:
    """Add users with random passwords to the password file, which only its owner can read."""
    users = folder.users() if folder.passwords.exists() else {}
    for name in names:
        users.setdefault(name, secrets.token_urlsafe(9))
    descriptor = os.open(folder.passwords, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{name} {password}\n" for name, password in users.items())


def _write_settings(folder: HubFolder, course_id: str) -> None:
    """Write the settings of Jupyter and nbgrader.

    Students get nbgrader's assignment list and *Validate*; the instructor gets all extensions.
    """
    instructors, students = folder.settings("instructor"), folder.settings("student")
    for settings in (instructors, students):
        (settings / "labconfig").mkdir(parents=True, exist_ok=True)
        # Switch off JupyterLab's news and its reminders of updates.
        _write_json(
            settings / "labconfig" / "default_setting_overrides.json",
            {
                "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
                "@jupyterlab/docmanager-extension:plugin": {
                    "defaultViewers": {"markdown": "Markdown Preview"}
                },
            },
        )
    # JupyterLab embeds the formgrader in an iframe, which JupyterHub's default policy blocks.
    headers = {"Content-Security-Policy": "frame-ancestors 'self'"}
    _write_json(
        instructors / "jupyter_server_config.json",
        {
            "ServerApp": {
                "tornado_settings": {"headers": headers},
                "jpserver_extensions": {"autograder.hub.addresses": True},
            }
        },
    )
    config = _FOR_STUDENTS.format(course=course_id, exchange=folder.exchange)
    (students / "nbgrader_config.py").write_text(config)
    _write_json(
        students / "jupyter_server_config.json",
        {
            "ServerApp": {
                "jpserver_extensions": {
                    f"nbgrader.server_extensions.{name}": False for name in _INSTRUCTORS_ONLY
                }
            }
        },
    )
    _write_json(
        students / "labconfig" / "page_config.json",
        {"disabledExtensions": {f"@jupyter/nbgrader:{name}": True for name in _INSTRUCTORS_MENUS}},
    )


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n")
