"""Several programs use the gradebook at the same time, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.api import Gradebook
from schools import append, release, released, run, scores, solutions
from small_school import wait_for
from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.exc import DatabaseError

from autograder.commands.demo import hand_in, hand_in_unreadable
from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.gradebook import history
from autograder.gradebook.writing import _LOCK_TIMEOUT, SubmissionMarks, record
from autograder.judging.grader import Grader
from autograder.pages.feedback import ReadMarks
from autograder.pipeline.classroom import Classroom, course_directory
from autograder.pipeline.workers import OneProcess
from autograder.records import Marks

pytestmark = pytest.mark.subprocess

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """Return the address of an empty database on a PostgreSQL server of its own."""
    if not PROGRAMS:
        pytest.fail("PostgreSQL is not installed: `make for-tests` installs it")
    # The server refuses to run as root.
    user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="gradebook-"))
    if user:
        shutil.chown(folder, "nobody", "nogroup")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    data = str(folder / "data")
    subprocess.run(
        [PROGRAMS[-1] / "initdb", "--username=course", "--auth=trust", "--no-sync", data],
        check=True, capture_output=True, cwd=folder, **user,
    )  # fmt: skip
    server = subprocess.Popen(
        [PROGRAMS[-1] / "postgres", "-D", data, "-h", "127.0.0.1", "-p", port, "-k", ""],
        stderr=subprocess.DEVNULL, cwd=folder, **user,
    )  # fmt: skip
    try:
        ready = [PROGRAMS[-1] / "pg_isready", "--quiet", "-h", "127.0.0.1", "-p", port]
        wait_for(lambda: subprocess.run(ready, check=False).returncode == 0)
        yield f"postgresql+psycopg://course@127.0.0.1:{port}/postgres"
    finally:
        server.send_signal(signal.SIGINT)  # at once: it ends the connections that are left
        server.wait()
        shutil.rmtree(folder)


def fresh(database: str, name: str) -> str:
    """Return the address of another database on the same server, which is empty."""
    server = create_engine(database, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        connection.execute(text(f"CREATE DATABASE {name}"))
    server.dispose()
    return f"{database.rpartition('/')[0]}/{name}"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.external)])
def school(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a course with ungraded submissions."""
    released(tmp_path)
    if request.param == "postgresql":
        (tmp_path / "gradebook.db").unlink()
        url = request.getfixturevalue("database")
        append(tmp_path / "nbgrader_config.py", f"\nc.CourseDirectory.db_url = {url!r}\n")
        release(tmp_path, "value")
    assignment, right = Course(tmp_path).assignment("value"), solutions("value")
    wrong = {**right, "mul": assignment.exercises["mul"].mistakes[0].source}
    hand_in(Course(tmp_path), assignment, {"ada": right, "ben": wrong, "cy": {}, "dee": right})
    hand_in_unreadable(Course(tmp_path), assignment)
    return tmp_path


def graded(school: Path) -> Counter[str]:
    """Return how often each student was graded, by the record; a database may be older."""
    folders = course_directory(Course(school))
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        history.prepare(gradebook)
        return Counter(entry.student for entry in history.entries(gradebook, "value"))


@pytest.mark.full
# Each has its turn on the other database in a campaign.
@pytest.mark.parametrize(
    ("school", "force"),
    [
        pytest.param(kind, force, marks=[] if is_daily else [pytest.mark.campaign])
        for kind in ("postgresql", "sqlite")
        for force in (False, True)
        for is_daily in [(kind == "postgresql") == force]
    ],
    indirect=["school"],
)
def test_two_graders_at_once_store_each_mark_and_entry_once(school, force):
    """With --force each of the two grades all; else they share the work."""
    before = graded(school)
    command = [sys.executable, "-m", "autograder", "grade", "value", "--workers", "1"]
    command += ["--force"] if force else []
    both = [subprocess.Popen(command, cwd=school, stderr=subprocess.PIPE) for _ in range(2)]
    for each in both:
        _, seen = each.communicate(timeout=300)
        # One file of the class is cut off.
        assert each.returncode == 1 or (each.returncode == 0 and not force), seen
    found = scores(school)

    assert found["ada"] == found["dee"] == 16
    assert 0 < found["ben"] < 16
    assert found["cy"] == found["cut_off_file"] == found["empty_file"] == 0
    assert len(found) == 6
    assert graded(school) - before == dict.fromkeys(found, 2 if force else 1)


def test_rows_of_the_record_of_gradings_cannot_be_changed_or_deleted(school):
    with (
        Grader(Course(school), bytes(32)) as grader,
        Classroom(Course(school), OneProcess(grader)) as room,
    ):
        list(room.grade([("value", "ada")]))
        before = history.entries(room.gradebook, "value")
        for change in ("UPDATE autograder_grading SET student = 'ben'",
                       "DELETE FROM autograder_grading"):  # fmt: skip
            with pytest.raises(DatabaseError, match="only ever added to"):
                room.gradebook.db.execute(text(change))
            room.gradebook.db.rollback()
        assert history.entries(room.gradebook, "value") == before


def test_marks_given_by_hand_are_final_while_the_answer_is_the_same(school):
    path = school / "submitted/ben/value/value.ipynb"
    with (
        Grader(Course(school), bytes(32)) as grader,
        Classroom(Course(school), OneProcess(grader), True) as room,
    ):
        list(room.grade([("value", "ben")]))
        folders = course_directory(Course(school))
        with Gradebook(folders.db_url, folders.course_id) as gradebook:
            gradebook.find_grade("test_mul", "value", "value", "ben").manual_score = 3.5
            gradebook.db.commit()
        before = scores(school)["ben"]
        for changed, waits in (("add", False), ("mul", True), ("add", True)):
            made = nbformat.read(path, as_version=4)
            for cell in made.cells:
                if cell.metadata.get("nbgrader", {}).get("grade_id") == changed:
                    cell.source += "\n# Looked at again."
            nbformat.write(made, path)
            list(room.grade([("value", "ben")]))
            with Gradebook(folders.db_url, folders.course_id) as gradebook:
                grade = gradebook.find_grade("test_mul", "value", "value", "ben")
                assert (grade.manual_score, grade.needs_manual_grade) == (3.5, waits)

    assert scores(school)["ben"] == before


@pytest.mark.parametrize("school", ["sqlite"], indirect=True)
def test_a_gradebook_locked_by_another_program_is_reported(school, monkeypatch):
    monkeypatch.setattr("autograder.gradebook.writing._LOCK_TIMEOUT", 1.0)
    with (
        Grader(Course(school), bytes(32)) as grader,
        Classroom(Course(school), OneProcess(grader), True) as room,
        sqlite3.connect(school / "gradebook.db", isolation_level=None) as other,
    ):
        other.execute("begin exclusive")
        with pytest.raises(CourseError, match="ada for value could not be stored"):
            list(room.grade([("value", "ada")]))
        for command in (["grade", "value"], ["export", "value"], ["report", "value"]):
            seen = run(school, "autograder", *command, status=2)
            assert "locked" in seen
            assert "finish there, close it" in seen
            assert "copy" not in seen
        other.execute("rollback")
        list(room.grade([("value", "ada")]))

    assert scores(school)["ada"] == 16


@pytest.mark.parametrize("school", ["sqlite"], indirect=True)
def test_reading_a_locked_gradebook_waits_as_long_as_storing(school):
    """Check the timeout, since SQLite's own is five seconds."""
    timeouts: set[int] = set()

    def note(connection: sqlite3.Connection, _: object) -> None:
        timeouts.update(*connection.execute("PRAGMA busy_timeout"))

    event.listen(Engine, "connect", note)
    try:
        run(school, "autograder", "export", "value")
    finally:
        event.remove(Engine, "connect", note)

    assert timeouts == {_LOCK_TIMEOUT * 1000}


@pytest.mark.parametrize("school", ["sqlite"], indirect=True)
def test_a_read_only_gradebook_is_reported_at_once(school, monkeypatch):
    where = f"sqlite:///file:{school}/gradebook.db?mode=ro&uri=true"
    append(school / "nbgrader_config.py", f"\nc.CourseDirectory.db_url = {where!r}\n")
    no_sleep = SimpleNamespace(monotonic=time.monotonic)
    monkeypatch.setattr("autograder.gradebook.writing.time", no_sleep)
    seen = run(school, "autograder", "grade", "value", status=2)

    assert "readonly" in seen
    assert "set the rights" in seen


def test_a_database_server_that_does_not_answer_is_reported_with_advice(course, tmp_path):
    folder = shutil.copytree(course, tmp_path / "course")
    append(
        folder / "nbgrader_config.py",
        "\nc.CourseDirectory.db_url = 'postgresql+psycopg://x@127.0.0.1:9/x'\n",
    )
    for command in (["grade", "value"], ["export", "value"], ["report", "value"]):
        seen = run(folder, "autograder", *command, status=2)
        assert "See that the server" in seen
        assert "open change" not in seen


GROWING = {"grade", "comment", "submitted_assignment", "submitted_notebook", "autograder_grading"}


@pytest.mark.parametrize("school", ["sqlite"], indirect=True)
def test_no_query_that_stores_a_mark_reads_all_rows_of_a_class(school):
    """No query of storing a submission, or of its feedback, reads all of a class's rows."""
    asked: dict[str, object] = {}

    def note(connection, cursor, statement, parameters, context, many) -> None:
        asked[statement] = parameters[0] if many else parameters

    event.listen(Engine, "after_cursor_execute", note)
    try:
        with Grader(Course(school), bytes(32)) as grader:
            for _ in range(2):  # new marks, and existing ones
                with Classroom(Course(school), OneProcess(grader), force=True) as room:
                    assert len(list(room.grade([("value", "ben")]))) == 1
        about = {"student": "ben", "assignment": "value", "notebook": "value"}
        resources = {"nbgrader": {**about, "db_url": course_directory(Course(school)).db_url}}
        ReadMarks().preprocess(nbformat.v4.new_notebook(), resources)
    finally:
        event.remove(Engine, "after_cursor_execute", note)

    assert sum("FROM grade" in statement for statement in asked) >= 2

    with sqlite3.connect(school / "gradebook.db") as database:
        for statement, parameters in asked.items():
            if not statement.startswith(("SELECT", "UPDATE")):
                continue
            plan = [
                row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            ]
            through = {step.split()[1] for step in plan if step.startswith("SCAN")}
            assert not through & GROWING, statement


@pytest.mark.parametrize("school", ["sqlite"], indirect=True)
def test_marks_of_one_transaction_are_stored_all_or_none(school):
    ada = SubmissionMarks("value", "ada", Marks({"test_mul": 3.0}, {}), None)
    ben = SubmissionMarks("value", "ben", Marks({"test_mul": 2.0}, {}), None)
    odd = SubmissionMarks("value", "cy", Marks({"test_odd": 1.0}, {}), None)
    with Gradebook(course_directory(Course(school)).db_url) as gradebook:
        with pytest.raises(CourseError, match="does not know the cells test_odd"):
            record(gradebook, [ada, odd, ben])
        assert scores(school) == {}
        record(gradebook, [ada, ben])

    assert scores(school) == {"ada": 3.0, "ben": 2.0}


@pytest.mark.parametrize("school", ["sqlite"], indirect=True)
@pytest.mark.parametrize("cell", ["mul", "test_mul"])
@pytest.mark.parametrize("before", [False, True], ids=["first", "again"])
def test_cells_that_the_gradebook_lacks_are_reported(school, cell, before):
    def grade() -> str | None:
        with (
            Grader(Course(school), bytes(32)) as grader,
            Classroom(Course(school), OneProcess(grader), force=True) as room,
        ):
            [outcome] = room.grade([("value", "ada")])
        return outcome.error

    if before:
        assert grade() is None
    with sqlite3.connect(school / "gradebook.db") as database:
        database.execute("UPDATE base_cell SET name = 'other' WHERE name = ?", [cell])
    database.close()

    assert f"does not know the cells {cell}." in (grade() or "")
    assert graded(school)["ada"] == before


@pytest.mark.parametrize("school", ["sqlite"], indirect=True)
def test_points_that_differ_in_the_gradebook_are_reported(school):
    with sqlite3.connect(school / "gradebook.db") as database:
        database.execute(
            "UPDATE grade_cells SET max_score = 1 "
            "WHERE id = (SELECT id FROM base_cell WHERE name = 'test_mul')"
        )
    database.close()
    with (
        Classroom(Course(school), None) as room,
        pytest.raises(CourseError, match="the gradebook has other points for mul of value: run"),
    ):
        room.submissions("value")


@pytest.mark.full
def test_a_gradebook_of_an_older_nbgrader_is_named_and_can_be_upgraded(tmp_path):
    folder = released(tmp_path / "course")
    with closing(sqlite3.connect(folder / "gradebook.db")) as database:
        database.executescript(
            """ALTER TABLE student DROP COLUMN lms_user_id;
            CREATE TABLE old (id VARCHAR(32) PRIMARY KEY, name VARCHAR(128), duedate DATETIME);
            INSERT INTO old SELECT id, name, duedate FROM assignment;
            DROP TABLE assignment;
            ALTER TABLE old RENAME TO assignment;
            DROP TABLE course;
            UPDATE alembic_version SET version_num = '167914646830';"""
        )
    hand_in(Course(folder), Course(folder).assignment("value"), {"ada": {}})
    lines = (["grade", "value"], ["export", "value"], ["report", "value"], ["doctor"])
    for line in lines:
        seen = run(folder, "autograder", *line, status=1 if line == ["doctor"] else 2)
        assert "run `nbgrader db upgrade` in the course folder" in " ".join(seen.split())
    run(folder, "nbgrader", "db", "upgrade")
    run(folder, "autograder", "grade", "value", "--workers", "1")
