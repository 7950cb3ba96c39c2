"""A backup can be made while the course is in use, is complete or missing, and overwrites
nothing."""

from __future__ import annotations

import copy
import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable
from contextlib import closing, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from schools import COURSE, KEY, append

from autograder import backup
from autograder.authoring.release import copy_course
from autograder.backup import back_up, restore
from autograder.course_folder.course import Course
from autograder.course_folder.key import NAME as KEY_FILE
from autograder.errors import CourseError
from autograder.files import LOCK
from autograder.gradebook.writing import SubmissionMarks, record
from autograder.pipeline.classroom import course_directory
from autograder.records import Marks
from autograder.service.attempts import Attempts

pytestmark = pytest.mark.subprocess

NOON = datetime(2030, 3, 1, 12)


def hand_in(course: Path, attempts: Attempts, gradebook: Gradebook, number: int) -> None:
    """Store an attempt in the same order as the service: files, row, submission, mark."""
    student = f"s{number}"
    files = attempts.keep({"value.ipynb": b"%d" % number})
    attempts.add(student, files, "value", student, NOON)
    [attempt] = attempts.of(student)
    attempts.page_of(attempt).write_text(student)
    folder = course / "submitted" / student / "value"
    folder.mkdir(parents=True)
    (folder / "value.ipynb").write_bytes(b"%d" % number)
    marks = Marks({"test_add": 1.0, "test_mul": 2.0}, {})
    record(gradebook, [SubmissionMarks("value", student, marks, NOON)])
    attempts.set_graded(attempt, {}, None)


def work(course: Path, numbers: range, done: Callable[[], bool] = lambda: False) -> None:
    with (
        closing(Attempts(Course(course))) as attempts,
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
    with Gradebook(course_directory(Course(folder)).db_url) as gradebook:
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
    """Return the points by student, and the students with a graded attempt; assert that its files
    exist."""
    with closing(sqlite3.connect(course / "gradebook.db")) as gradebook:
        found: dict[str, list[float]] = {}
        for student, points in gradebook.execute(
            "select student_id, auto_score from grade join submitted_notebook on"
            " submitted_notebook.id = grade.notebook_id join submitted_assignment on"
            " submitted_assignment.id = submitted_notebook.assignment_id order by 1, 2"
        ):
            found.setdefault(student, []).append(points)
    with closing(Attempts(Course(course))) as attempts:
        graded = [attempt for attempt in attempts.all() if attempt.graded]
        for attempt in attempts.all():
            kept = attempts.files_of(attempt) / "value.ipynb"
            assert kept.read_text() == attempt.student.removeprefix("s")
        assert all(attempts.page_of(attempt).read_text() == attempt.student for attempt in graded)
    return found, {attempt.student for attempt in graded}


def test_a_backup_made_while_submissions_are_graded_is_consistent(course, empty, tmp_path):
    stop = threading.Event()
    service = threading.Thread(target=work, args=(course, range(3, 10_000), stop.is_set))
    service.start()
    try:
        for number in range(3):
            back_up(Course(course), tmp_path / f"{number}.tar.gz")
    finally:
        stop.set()
        service.join()
    restore(Course(empty), tmp_path / "2.tar.gz", replace=False)
    marks, graded = held(empty)

    assert {"s0", "s1", "s2"} <= graded <= marks.keys()
    assert all(points == [1.0, 2.0] for points in marks.values())
    assert all((empty / f"submitted/{student}/value/value.ipynb").exists() for student in marks)
    assert (empty / KEY_FILE).read_text() == KEY.hex()
    assert {path.stat().st_mode & 0o077 for path in tmp_path.glob("*.tar.gz")} == {0}
    assert not (empty / "submitted/s0/value/link").is_symlink()


def test_a_backup_over_an_existing_file_is_refused(course, tmp_path):
    (tmp_path / "kept.tar.gz").touch()
    with pytest.raises(CourseError, match="already: choose another name"):
        back_up(Course(course), tmp_path / "kept.tar.gz")


@pytest.mark.parametrize("replace", [False, True])
def test_restoring_over_existing_data_or_while_the_service_runs_is_refused(
    course, tmp_path, replace
):
    file = tmp_path / "kept.tar.gz"
    back_up(Course(course), file)
    work(course, range(3, 5))
    before = held(course)
    says = "End `autograder serve`" if replace else r"gradebook\.db.* already; nothing was changed"

    with (
        closing(Attempts(Course(course))) if replace else nullcontext(),
        pytest.raises(CourseError, match=says),
    ):
        restore(Course(course), file, replace)

    assert held(course) == before


def test_the_command_restore_keeps_the_replaced_data_in_a_folder(course, tmp_path):
    command = [sys.executable, "-m", "autograder"]
    file = tmp_path / "kept.tar.gz"
    subprocess.run([*command, "backup", str(file)], cwd=course, check=True)
    before = held(course)
    work(course, range(3, 5))
    now = held(course)

    subprocess.run([*command, "restore", str(file), "--replace"], cwd=course, check=True)

    assert now != before
    assert held(course) == before
    [aside] = course.glob("replaced-*")
    assert held(aside) == now


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_restoring_a_truncated_backup_changes_nothing(course, tmp_path, share):
    file = tmp_path / "kept.tar.gz"
    back_up(Course(course), file)
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    before = held(course)
    with pytest.raises(CourseError, match="is no whole backup"):
        restore(Course(course), file, replace=True)

    assert held(course) == before
    assert not [*course.glob("replaced-*"), *course.glob(".restored*")]


@pytest.mark.parametrize("step", range(6))
def test_a_restore_that_fails_halfway_changes_nothing(course, tmp_path, monkeypatch, step):
    file, left = tmp_path / "kept.tar.gz", [step]
    back_up(Course(course), file)
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
        restore(Course(course), file, replace=True)

    assert held(course) == before
    assert (course / KEY_FILE).read_text() == KEY.hex()
    assert not [*course.glob("replaced-*"), *course.glob(".restored*")]


def entry(name: str, kind: bytes = tarfile.REGTYPE, **about: Any) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type = kind
    for key, value in about.items():
        setattr(made, key, value)
    return made


LONG = "submitted/s0/" + "d" * 247
"""Name of a folder: several such folders, one in another, make a path that is too long for the
system."""
HOSTILE = {
    "a link": [entry("submitted/s0/out", tarfile.SYMTYPE, linkname="../../..")],
    "a link with a long path": [
        *(entry("/".join([LONG] + ["d" * 247] * depth), tarfile.DIRTYPE) for depth in range(16)),
        entry(
            "submitted/s0/up", tarfile.SYMTYPE, linkname="/".join(["d" * 247] * 16 + [".."] * 40)
        ),
        entry("submitted/s0/up/out"),
    ],
    "a hard link to a file outside": [
        entry("submitted/s0/out", tarfile.LNKTYPE, linkname="../victim")
    ],
    "a hard link by its path": [entry("submitted/s0/out", tarfile.LNKTYPE, linkname="VICTIM")],
    "a hard link to itself": [entry("submitted/o", tarfile.LNKTYPE, linkname="submitted/o")],
    "an absolute path": [entry("VICTIM")],
    "a path that leads out": [entry("submitted/../../victim")],
    "an empty part": [entry("submitted//out")],
    "a dot": [entry("submitted/./out")],
    "a file of the course": [entry("nbgrader_config.py")],
    "a file that begins like one of the data": [entry("gradebook.db-journal")],
    "a file in a file": [entry("submitted/f"), entry("submitted/f/out")],
    "a file twice": [entry("submitted/f"), entry("submitted/f")],
    "a file without its folder": [entry("submitted/s9/value/out")],
    "a device": [entry("submitted/s0/out", tarfile.CHRTYPE, devmajor=1, devminor=3)],
    "a pipe": [entry("submitted/s0/out", tarfile.FIFOTYPE)],
    "a sparse file": [
        entry("submitted/out", pax_headers={"GNU.sparse.map": "0,1", "GNU.sparse.size": "1" * 15})
    ],
    "a file that is larger than the disk": [entry("submitted/out", size=1 << 60)],
    "a long header": [entry("x", tarfile.XHDTYPE, size=1 << 30)],
}
NOT_DATA = "is not in a course's data"
WHY = {
    **dict.fromkeys(["a link", "a link with a long path", "a device", "a pipe", "a sparse file"],
                    "is no plain file"),
    **{what: "is a link to something else" for what in HOSTILE if what.startswith("a hard link")},
    "a file in a file": "without its folder",
    "a file twice": "is there twice",
    "a file without its folder": "without its folder",
    "a file that is larger than the disk": "are free here",
    "a long header": "is too long",
}  # fmt: skip


def test_restoring_a_hostile_archive_writes_no_file(course, tmp_path):
    victim, file, changed = (
        tmp_path / name for name in ("victim", "kept.tar.gz", "hostile.tar.gz")
    )
    victim.write_text("untouched")
    back_up(Course(course), file)
    with tarfile.open(file) as honest:
        *_, last = honest
    end = last.offset_data + -(-last.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
    whole = gzip.decompress(file.read_bytes())[:end]
    for what, entries in HOSTILE.items():
        more = b""
        for each in copy.deepcopy(entries):
            each.name = each.name.replace("VICTIM", str(victim))
            each.linkname = each.linkname.replace("VICTIM", str(victim))
            kind = tarfile.PAX_FORMAT if each.pax_headers else tarfile.GNU_FORMAT
            more += each.tobuf(kind)
        changed.write_bytes(gzip.compress(whole + more + bytes(2 * tarfile.BLOCKSIZE), 1))
        before = {path for path in tmp_path.rglob("*") if path.name != LOCK}
        with pytest.raises(
            CourseError, match=f"is no whole backup.*{WHY.get(what, NOT_DATA)}.*nothing was"
        ):
            restore(Course(course), changed, replace=True)
        assert {path for path in tmp_path.rglob("*") if path.name != LOCK} == before, what
        assert victim.read_text() == "untouched" and victim.stat().st_nlink == 1, what
    changed.write_bytes(gzip.compress(whole + bytes(2 * tarfile.BLOCKSIZE), 1))
    restore(Course(course), changed, replace=True)


def test_path_traversal_by_names_in_a_database_is_refused(course, tmp_path):
    changes = [
        ("attempts/attempts.db", "attempt", "folder", "'../../..'"),
        ("attempts/attempts.db", "attempt", "folder", "x'00'"),
        ("attempts/attempts.db", "attempt", "student", "'../s'"),
        ("gradebook.db", "assignment", "name", "'..'"),
        ("gradebook.db", "student", "id", "'../s'"),
    ]
    for number, (database, table, column, value) in enumerate(changes):
        path, file = course / database, tmp_path / f"{number}.tar.gz"
        honest = path.read_bytes()
        with closing(sqlite3.connect(path)) as found:
            found.execute(f"UPDATE {table} SET {column} = {value} WHERE rowid = 1")
            found.commit()
        back_up(Course(course), file)
        with pytest.raises(CourseError, match=f"cannot be a {table}'s {column}"):
            restore(Course(course), file, replace=True)
        path.write_bytes(honest)


def test_a_restored_file_keeps_its_time_its_rights_and_its_links(course, tmp_path):
    folder, file = course / "submitted/s1/value", tmp_path / "kept.tar.gz"
    (folder / "same.ipynb").hardlink_to(folder / "value.ipynb")
    (course / KEY_FILE).chmod(0o600)
    os.utime(folder / "value.ipynb", (1_000_000, 1_000_000))
    back_up(Course(course), file)
    restore(Course(course), file, replace=True)

    assert (folder / "same.ipynb").read_bytes() == (folder / "value.ipynb").read_bytes() == b"1"
    assert (folder / "value.ipynb").stat().st_mtime == 1_000_000
    assert (course / KEY_FILE).stat().st_mode & 0o077 == 0


def test_restoring_the_backup_of_another_course_is_refused(course, empty, tmp_path):
    file = tmp_path / "kept.tar.gz"
    back_up(Course(course), file)
    settings = empty / "course.toml"
    settings.write_text(settings.read_text().replace('id = "numbers"', 'id = "other"'))
    with pytest.raises(CourseError, match="a backup of numbers, and this is other"):
        restore(Course(empty), file, replace=False)


def test_a_backup_that_fails_leaves_no_file(course, tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "add", full)
    with pytest.raises(OSError):
        back_up(Course(course), tmp_path / "kept.tar.gz")

    assert not [path for path in tmp_path.iterdir() if path.is_file()]


def test_a_backup_of_a_gradebook_on_a_server_is_refused(course, tmp_path):
    append(
        course / "nbgrader_config.py",
        '\nc.CourseDirectory.db_url = "postgresql+psycopg://u:p@localhost/d"\n',
    )
    with pytest.raises(CourseError, match="on a database server"):
        back_up(Course(course), tmp_path / "kept.tar.gz")
