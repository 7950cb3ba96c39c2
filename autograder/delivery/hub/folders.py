"""Makes the folders of a hub.

course/      the instructor's course folder, a working nbgrader course
exchange/    nbgrader's exchange: releases, submissions, feedback
inbound/     each student's submissions, in a folder of their own
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

from ...authoring.release import copy_course, run_nbgrader
from ...course_folder.assignments import assignment_names
from ...course_folder.settings import load_settings
from ...errors import CourseError
from ...pipeline.classroom import course_directory

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
c.ExchangeFactory.collect = "autograder.delivery.hub.exchange.CollectFromEach"
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
"""The page in a new student's home, as Markdown."""

_INSTRUCTORS_ONLY = ("formgrader", "course_list")
_INSTRUCTORS_MENUS = ("formgrader", "create-assignment", "course-list")


@dataclass(frozen=True)
class HubFolder:
    """A hub's folder, and the paths in it."""

    root: Path

    @property
    def course(self) -> Path:
        return self.root / "course"

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
        """Return every user's password, by name."""
        lines = self.passwords.read_text("utf-8").splitlines()
        return dict(line.split(" ", 1) for line in lines)


def prepare(
    clone: Path, root: Path, students: list[str], names: list[str] | None = None
) -> HubFolder:
    """Make the folders that are missing; existing work and passwords stay.

    Args:
        clone: the course to copy for the instructor.
        root: the hub's folder.
        students: their names; they are added to those who are there.
        names: the assignments that a new course begins with; by default all there are.

    Raises `CourseError` if a name cannot be a user's.
    """
    for each in students:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,30}", each) or each == INSTRUCTOR:
            raise CourseError(
                f"{each!r} cannot be a student's name: lower-case letters, digits, - and _ can"
            )
    folder = HubFolder(root.resolve())
    folder.root.mkdir(parents=True, exist_ok=True)
    folder.root.chmod(0o700)
    _add_users(folder, [INSTRUCTOR, *students])
    course_id = load_settings(clone).id
    shared = folder.exchange / course_id
    for name in ("outbound", "inbound", "feedback"):
        (shared / name).mkdir(parents=True, exist_ok=True)
    # Feedback has names that only its student knows. They must not be listed, not even by the
    # owner: in their boxes, all students act for the same owner.
    (shared / "feedback").chmod(0o311)
    folder.home(INSTRUCTOR).mkdir(parents=True, exist_ok=True)
    folder.state.mkdir(exist_ok=True)
    _write_settings(folder, course_id)
    if not folder.course.exists():
        copy_course(clone, folder.course)
        with (folder.course / "nbgrader_config.py").open("a") as config:
            config.write(
                _FOR_INSTRUCTOR.format(exchange=folder.exchange, inbound=folder.root / "inbound")
            )
        for name in names or assignment_names(folder.course):
            run_nbgrader(folder.course, "generate_assignment", name, "--force")
    (folder.root / "inbound").mkdir(exist_ok=True)
    for each in students:
        admit(folder, each)
    return folder


def admit(folder: HubFolder, student: str, **about: str | None) -> None:
    """Make a student's folders, and add the student to the gradebook.

    Args:
        about: further columns of the student's row, as far as they are known.
    """
    home = folder.home(student)
    if not home.exists():
        home.mkdir(parents=True)
        (home / "START.md").write_text(_START, "utf-8")
    folder.inbound(student).mkdir(parents=True, exist_ok=True)
    directory = course_directory(folder.course)
    with Gradebook(directory.db_url, directory.course_id) as gradebook:
        known = {key: value for key, value in about.items() if value}
        gradebook.update_or_create_student(student, **known)


def _add_users(folder: HubFolder, names: list[str]) -> None:
    users = folder.users() if folder.passwords.exists() else {}
    for name in names:
        users.setdefault(name, secrets.token_urlsafe(9))
    descriptor = os.open(folder.passwords, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{name} {password}\n" for name, password in users.items())


def _write_settings(folder: HubFolder, course_id: str) -> None:
    """Write nbgrader's settings: students get the assignment list and Validate; the instructor
    all."""
    mine, theirs = folder.settings("instructor"), folder.settings("student")
    for place in (mine, theirs):
        (place / "labconfig").mkdir(parents=True, exist_ok=True)
        # The hub offers no news and no updates of its own.
        _write_json(
            place / "labconfig" / "default_setting_overrides.json",
            {
                "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
                "@jupyterlab/docmanager-extension:plugin": {
                    "defaultViewers": {"markdown": "Markdown Preview"}
                },
            },
        )
    # JupyterLab shows the formgrader in a frame, which JupyterHub forbids by default.
    headers = {"Content-Security-Policy": "frame-ancestors 'self'"}
    _write_json(
        mine / "jupyter_server_config.json",
        {
            "ServerApp": {
                "tornado_settings": {"headers": headers},
                "jpserver_extensions": {"autograder.delivery.hub.addresses": True},
            }
        },
    )
    config = _FOR_STUDENTS.format(course=course_id, exchange=folder.exchange)
    (theirs / "nbgrader_config.py").write_text(config)
    _write_json(
        theirs / "jupyter_server_config.json",
        {
            "ServerApp": {
                "jpserver_extensions": {
                    f"nbgrader.server_extensions.{name}": False for name in _INSTRUCTORS_ONLY
                }
            }
        },
    )
    _write_json(
        theirs / "labconfig" / "page_config.json",
        {"disabledExtensions": {f"@jupyter/nbgrader:{name}": True for name in _INSTRUCTORS_MENUS}},
    )


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n")
