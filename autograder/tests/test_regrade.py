"""Regrading uses the record of gradings, and reports changes of marks before it stores them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from nbgrader.api import Gradebook
from schools import append, grade, released, run, scores, solutions

from autograder.authoring.release import run_nbgrader
from autograder.commands.demo import hand_in
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.course_folder.key import course_key
from autograder.gradebook import history
from autograder.pipeline import classroom
from autograder.pipeline.classroom import stamp_of
from autograder.sandbox import kinds

pytestmark = pytest.mark.subprocess

CRITERION = "the class has nothing that nobody asked for"
STRICTER = f'''

import pytest

@exercise("mul")
@pytest.mark.parametrize("again", range(5))  # so many that the points of each mistake change
def test_no_more_than_that(student, again):
    """{CRITERION}"""
    assert (student.Value(2.0) * student.Value(3.0)).data == 6.0
    assert not hasattr(student.Value, "more")
'''


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course whose three submissions have been graded."""
    folder = released(tmp_path_factory.mktemp("graded"))
    value, right = Course(folder).assignment("value"), solutions("value")
    more = {**right, "mul": f"{right['mul']}\nValue.more = True\n"}
    wrong = {**right, "mul": value.exercises["mul"].mistakes[0].source + "\nValue.more = True\n"}
    hand_in(Course(folder), value, {"ada": more, "ben": wrong, "cy": {}})
    grade(folder)
    return folder


@pytest.fixture
def school(graded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(graded, tmp_path / "course")


def regrade(folder: Path, *options: str, says: str = "n\n") -> Result:
    command = ["regrade", "value", "--workers", "1", "--course", str(folder), *options]
    return CliRunner().invoke(main, command, input=says, catch_exceptions=False)


def book(folder: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{folder}/gradebook.db")


def lines(folder: Path, student: str | None = None) -> list[history.Entry]:
    with book(folder) as gradebook:
        return history.entries(gradebook, "value", student)


def test_an_entry_of_the_record_holds_everything_that_a_mark_depends_on(graded):
    found = {entry.student: entry for entry in lines(graded)}
    assert list(found) == ["ada", "ben", "cy"]

    for student, entry in found.items():
        submitted = graded / "submitted" / student / "value/value.ipynb"
        assert entry.submission == stamp_of(submitted.read_bytes())
        notebook = json.loads((graded / "autograded" / student / "value/value.ipynb").read_text())
        about = notebook["metadata"]["autograder"]
        assert entry.seed == about["report"]["seed"]
        sandbox = about["report"]["sandbox"]
        assert sandbox in kinds.KINDS
        assert entry.versions == {**about["versions"], "sandbox": sandbox}
        assert sum(verdict["points"] for verdict in entry.verdicts) == scores(graded)[student]
        key = course_key(graded).hex()
        assert key not in json.dumps(vars(entry))
    mul = next(verdict for verdict in found["ben"].verdicts if verdict["id"] == "mul")
    mistake = Course(graded).assignment("value").exercises["mul"].mistakes[0]

    assert (mul["misconception"], mul["points"] < mul["max_points"]) == (mistake.id, True)
    assert mul["broken"]


def test_each_grading_adds_one_entry_and_a_skipped_one_none(school):
    assert all(outcome.skipped for outcome in grade(school))
    assert len(lines(school)) == 3

    grade(school, force=True)
    found = lines(school)

    assert [entry.student for entry in found] == ["ada", "ben", "cy"] * 2
    assert [entry.verdicts for entry in found[:3]] == [entry.verdicts for entry in found[3:]]


@pytest.mark.full
def test_grading_through_nbgrader_adds_an_entry_as_well(school):
    (school / "submitted/ben/value/value.ipynb").write_bytes(
        (school / "submitted/ada/value/value.ipynb").read_bytes()
    )
    run_nbgrader(school, "autograde", "value", "--student", "ben", "--force")
    before, now = lines(school, "ben")
    [ada] = lines(school, "ada")

    assert (now.submission, now.seed, now.verdicts) == (ada.submission, ada.seed, ada.verdicts)
    assert now.versions == before.versions
    assert history.reasons(before, now) == ["another file was submitted"]
    assert all(outcome.skipped for outcome in grade(school))
    assert len(lines(school, "ben")) == 2


@pytest.mark.parametrize("lost", ["write_atomic", "record"])
def test_a_grading_interrupted_while_it_is_stored_is_stored_by_the_next_run(
    school, monkeypatch, lost
):
    """Stop a grader before, or right after, it has written a notebook."""
    path = school / "submitted/cy/value/value.ipynb"
    path.write_bytes((school / "submitted/ada/value/value.ipynb").read_bytes())

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(classroom, lost, stop)
        with pytest.raises(KeyboardInterrupt):
            grade(school)

    assert len(lines(school, "cy")) == 1
    assert scores(school)["cy"] == 0

    grade(school)
    assert len(lines(school, "cy")) == 2
    assert scores(school)["cy"] == scores(school)["ada"]


def test_what_was_graded_by_other_tests_is_left_alone_and_named(school):
    assert not any(outcome.outdated for outcome in grade(school))

    with (school / "grading_tests/test_value.py").open("a") as file:
        file.write("\n\nMORE = 1\n")

    outcomes = grade(school)
    assert all(outcome.skipped and outcome.outdated for outcome in outcomes)


def test_regrading_unchanged_submissions_changes_no_mark(school):
    done = regrade(school)
    assert "3 graded before, 0 with other points now" in done.output
    assert len(lines(school)) == 3


@pytest.fixture
def with_stricter_test(school: Path) -> Path:
    """Return the course after a mark and a comment by hand, with another hidden test."""
    with book(school) as gradebook:
        gradebook.find_grade("test_mul", "value", "value", "ben").manual_score = 3.5
        comment = gradebook.find_comment("mul", "value", "value", "ada")
        comment.manual_comment = "Nicely put."
        gradebook.db.commit()
    append(school / "grading_tests/test_value.py", STRICTER)
    return school


def test_changes_of_marks_are_reported_with_reasons_and_not_stored(with_stricter_test):
    before = scores(with_stricter_test)

    done = regrade(with_stricter_test)

    assert done.exit_code == 0
    assert "ada, value: 16 → " in done.output
    assert "since the assignment's notebook or its hidden tests have changed" in done.output
    assert f"does not hold now: {CRITERION}" in done.output
    assert "passed became partial" in done.output
    assert "cy" not in done.output
    assert scores(with_stricter_test) == before
    assert len(lines(with_stricter_test)) == 3


def test_confirmed_changes_of_marks_are_stored_and_those_by_hand_stay(with_stricter_test):
    before = scores(with_stricter_test)

    done = regrade(with_stricter_test, "--yes")

    assert "the 3.5 given by hand stay" in done.output
    now = scores(with_stricter_test)
    assert now["ada"] < before["ada"]
    assert (now["ben"], now["cy"]) == (before["ben"], before["cy"])
    with book(with_stricter_test) as gradebook:
        mark = gradebook.find_grade("test_mul", "value", "value", "ben")
        assert (mark.manual_score, mark.needs_manual_grade) == (3.5, False)
        comment = gradebook.find_comment("mul", "value", "value", "ada")
        assert comment.manual_comment == "Nicely put."
    assert len(lines(with_stricter_test)) == 6
    assert all(outcome.skipped for outcome in grade(with_stricter_test))


def test_regrading_skips_resubmitted_and_deleted_submissions(school):
    path = school / "submitted/ada/value/value.ipynb"
    path.write_bytes(path.read_bytes() + b"\n")
    shutil.rmtree(school / "submitted/ben/value")
    done = regrade(school, "--json", "--yes")
    seen = {line["student"]: line for line in map(json.loads, done.stdout.splitlines())}

    assert seen["ada"]["left_alone"].startswith("another file was submitted since")
    assert seen["ben"]["left_alone"] == "the submission is not there any more"
    assert seen["cy"]["left_alone"] is None
    assert [len(lines(school, student)) for student in ("ada", "ben", "cy")] == [1, 1, 2]


def test_another_key_is_reported_as_the_reason_of_a_changed_mark(school):
    [before] = lines(school, "ben")
    (school / ".autograder_key").unlink()
    grade(school, force=True)
    now = lines(school, "ben")[-1]

    assert now.seed != before.seed
    assert history.reasons(before, now) == [
        "the course's key has changed, and with it the numbers that were drawn"
    ]
    assert history.changes(before, now) == []


def test_regrading_reports_a_course_without_gradings(school):
    seen = run(school, "autograder", "regrade", "checkpoint", "--workers", "1", status=2)
    assert "the record holds no such grading" in seen
