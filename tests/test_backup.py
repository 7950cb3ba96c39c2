"""A backup is made while people work, is whole or not there, and overwrites nothing unasked."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from schools import COURSE, KEY, append

from autograder.authoring.release import copy_course
from autograder.course_folder.key import NAME as KEY_FILE
from autograder.delivery import backup
from autograder.delivery.backup import back_up, restore
from autograder.delivery.service.attempts import Attempts
from autograder.errors import CourseError
from autograder.gradebook.writing import Result, record
from autograder.model import Marks
from autograder.pipeline.classroom import course_directory

NOON = datetime(2030, 3, 1, 12)


def hand_in(course: Path, attempts: Attempts, gradebook: Gradebook, number: int) -> None:
    """Store an attempt in the order of the service: files, its row, the submission, the mark."""
    student = f"s{number}"
    files = attempts.keep({"value.ipynb": b"%d" % number})
    attempts.add(student, files, "value", student, NOON)
    [attempt] = attempts.of(student)
    attempts.page_of(attempt).write_text(student)
    folder = course / "submitted" / student / "value"
    folder.mkdir(parents=True)
    (folder / "value.ipynb").write_bytes(b"%d" % number)
    marks = Marks({"test_add": 1.0, "test_mul": 2.0}, {})
    record(gradebook, [Result("value", student, marks, NOON)])
    attempts.set_graded(attempt, {}, None)


def work(course: Path, numbers: range, done: Callable[[], bool] = lambda: False) -> None:
    with (
        closing(Attempts(course)) as attempts,
        Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook,
    ):
        for number in numbers:
            if done():
                break
            hand_in(course, attempts, gradebook, number)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backup") / "course"
    copy_course(COURSE, folder)
    (folder / KEY_FILE).write_text(KEY.hex())
    with Gradebook(course_directory(folder).db_url) as gradebook:
        gradebook.add_assignment("value")
        gradebook.add_notebook("value", "value")
        for cell in ("test_add", "test_mul"):
            gradebook.add_grade_cell(cell, "value", "value", max_score=2, cell_type="code")
    work(folder, range(3))
    (folder / "submitted/s0/value/link").symlink_to("/etc/passwd")
    return folder


@pytest.fixture
def course(made_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_once, tmp_path / "course", symlinks=True))


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    copy_course(COURSE, tmp_path / "other")
    return tmp_path / "other"


def held(course: Path) -> tuple[dict[str, list[float]], set[str]]:
    """Return points by student, and the students with a graded attempt, whose files must exist."""
    with closing(sqlite3.connect(course / "gradebook.db")) as gradebook:
        found: dict[str, list[float]] = {}
        for student, points in gradebook.execute(
            "select student_id, auto_score from grade join submitted_notebook on"
            " submitted_notebook.id = grade.notebook_id join submitted_assignment on"
            " submitted_assignment.id = submitted_notebook.assignment_id order by 1, 2"
        ):
            found.setdefault(student, []).append(points)
    with closing(Attempts(course)) as attempts:
        graded = [each for each in attempts.all() if each.graded]
        for each in attempts.all():
            kept = attempts.files_of(each) / "value.ipynb"
            assert kept.read_text() == each.student.removeprefix("s")
        assert all(attempts.page_of(each).read_text() == each.student for each in graded)
    return found, {each.student for each in graded}


def test_a_backup_while_people_work_is_consistent(course, empty, tmp_path):
    stop = threading.Event()
    service = threading.Thread(target=work, args=(course, range(3, 10_000), stop.is_set))
    service.start()
    try:
        for number in range(3):
            back_up(course, tmp_path / f"{number}.tar.gz")
    finally:
        stop.set()
        service.join()
    restore(empty, tmp_path / "2.tar.gz", replace=False)
    marks, graded = held(empty)
    assert {"s0", "s1", "s2"} <= graded <= marks.keys()
    assert all(points == [1.0, 2.0] for points in marks.values())
    assert all((empty / f"submitted/{each}/value/value.ipynb").exists() for each in marks)
    assert (empty / KEY_FILE).read_text() == KEY.hex()
    assert {path.stat().st_mode & 0o077 for path in tmp_path.glob("*.tar.gz")} == {0}
    assert not (empty / "submitted/s0/value/link").is_symlink()


def test_restoring_refuses_to_overwrite_and_backs_up_when_asked(course, tmp_path):
    run = [sys.executable, "-m", "autograder"]
    file = tmp_path / "kept.tar.gz"
    subprocess.run([*run, "backup", str(file)], cwd=course, check=True)
    before = held(course)
    work(course, range(3, 5))
    now = held(course)
    with pytest.raises(CourseError, match="already: choose another name"):
        back_up(course, file)
    with pytest.raises(CourseError, match=r"gradebook\.db.* already; nothing was changed"):
        restore(course, file, replace=False)
    with closing(Attempts(course)), pytest.raises(CourseError, match="End `autograder serve`"):
        restore(course, file, replace=True)
    assert held(course) == now != before
    subprocess.run([*run, "restore", str(file), "--replace"], cwd=course, check=True)
    assert held(course) == before
    [aside] = course.glob("replaced-*")
    assert held(aside) == now


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_a_backup_that_is_cut_off_changes_nothing(course, tmp_path, share):
    file = tmp_path / "kept.tar.gz"
    back_up(course, file)
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    before = held(course)
    with pytest.raises(CourseError, match="is no whole backup"):
        restore(course, file, replace=True)
    assert held(course) == before
    assert not [*course.glob("replaced-*"), *course.glob(".restored*")]


@pytest.mark.parametrize("step", range(6))
def test_a_restore_that_fails_in_between_changes_nothing(course, tmp_path, monkeypatch, step):
    file, left = tmp_path / "kept.tar.gz", [step]
    back_up(course, file)
    work(course, range(3, 4))
    before = held(course)
    move = backup._move

    def fails(*arguments: object) -> None:
        if not left[0]:
            raise OSError(28, "No space left on device")
        left[0] -= 1
        move(*arguments)

    monkeypatch.setattr(backup, "_move", fails)
    with pytest.raises(OSError):
        restore(course, file, replace=True)
    assert held(course) == before and (course / KEY_FILE).read_text() == KEY.hex()
    assert not [*course.glob("replaced-*"), *course.glob(".restored*")]


def test_another_course_s_backup_is_refused(course, empty, tmp_path):
    file = tmp_path / "kept.tar.gz"
    back_up(course, file)
    settings = empty / "course.toml"
    settings.write_text(settings.read_text().replace('id = "autograd"', 'id = "other"'))
    with pytest.raises(CourseError, match="a backup of autograd, and this is other"):
        restore(empty, file, replace=False)


def test_a_backup_that_fails_leaves_no_file(course, tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "add", full)
    with pytest.raises(OSError):
        back_up(course, tmp_path / "kept.tar.gz")
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


def test_a_backup_of_a_gradebook_on_a_server_is_refused(course, tmp_path):
    append(
        course / "nbgrader_config.py",
        '\nc.CourseDirectory.db_url = "postgresql+psycopg://u:p@localhost/d"\n',
    )
    with pytest.raises(CourseError, match="on a database server"):
        back_up(course, tmp_path / "kept.tar.gz")
