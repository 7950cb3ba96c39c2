"""Late submissions lose the same marks in `nbgrader autograde` and in `autograder grade`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from copy import deepcopy
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from schools import append, grade, released, run, solutions
from tested_course import COURSE
from traitlets.config import Config

from autograder.authoring.release import run_nbgrader
from autograder.commands.demo import hand_in
from autograder.course_folder.course import Course
from autograder.gradebook.late_penalties import LatePenalties
from autograder.gradebook.writing import SubmissionMarks, record
from autograder.nbgrader_plugins.late_policy import LatePolicy
from autograder.pipeline.classroom import course_directory
from autograder.records import Marks, SubmissionOutcome

pytestmark = pytest.mark.subprocess

DUE = datetime(2030, 3, 1, 12, 0)
HOUR = timedelta(hours=1)
POLICY = """
c.LatePolicy.grace_minutes = 10
c.LatePolicy.percent_a_day = 10
c.LatePolicy.maximum_percent = 30
"""
# When each student submits, and the penalty for the 12 points that three right answers earn.
CLASS = {
    "early": (-HOUR, 0.0),
    "in_the_grace": (HOUR / 10, 0.0),
    "day_late": (24 * HOUR, 1.2),
    "two_days_late": (25 * HOUR, 2.4),
    "week_late": (7 * 24 * HOUR, 3.6),
    "with_extension": (25 * HOUR, 0.0),
}


def penalties(folder: Path, name: str = "value") -> dict[str, float]:
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        return {
            submission.student.id: submission.late_submission_penalty
            for submission in gradebook.assignment_submissions(name)
        }


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    """Return a course with a late policy, and submissions from before and after the due date."""
    folder = released(tmp_path_factory.mktemp("late"))
    append(folder / "nbgrader_config.py", POLICY)
    value, right = Course(folder).assignment("value"), solutions("value")
    answers = {name: right[name] for name in ("node", "add", "trace")}
    assert sum(value.exercises[name].max_points for name in answers) == 12
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        gradebook.update_or_create_assignment("value", duedate=DUE)
        gradebook.update_or_create_student("with_extension")
        gradebook.add_submission("value", "with_extension", extension=timedelta(days=2))
    hand_in(Course(folder), value, dict.fromkeys(CLASS, answers))
    for student, (after, _) in CLASS.items():
        path = folder / "submitted" / student / "value" / "timestamp.txt"
        path.write_text(f"{DUE + after} UTC\n")
    return folder


@pytest.fixture(scope="module")
def by_us(school, tmp_path_factory) -> Path:
    folder = shutil.copytree(school, tmp_path_factory.mktemp("ours") / "course")
    taken_off = {outcome.student: outcome.penalty for outcome in grade(folder)}
    assert taken_off == penalties(folder)
    return folder


def test_the_late_penalty_grows_with_each_day(by_us):
    assert penalties(by_us) == {student: points for student, (_, points) in CLASS.items()}


@pytest.mark.full
def test_nbgrader_autograde_gives_the_same_penalty(school, by_us, tmp_path):
    folder = shutil.copytree(school, tmp_path / "course")
    run_nbgrader(folder, "autograde", "value")
    assert penalties(folder) == penalties(by_us)


def test_a_new_extension_or_mark_by_hand_changes_the_late_penalty(by_us, tmp_path):
    """The submission has not changed, so no cell runs again."""
    folder = shutil.copytree(by_us, tmp_path / "course")
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        gradebook.find_submission("value", "week_late").extension = timedelta(days=8)
        gradebook.find_grade("test_mul", "value", "value", "day_late").manual_score = 4.0
        gradebook.db.commit()

    assert all(outcome.skipped for outcome in grade(folder))

    changed = {"week_late": 0.0, "day_late": 1.6}
    assert penalties(folder) == {**penalties(by_us), **changed}


def grade_again(folder: Path) -> dict[str, SubmissionOutcome]:
    return {outcome.student: outcome for outcome in grade(folder)}


def test_a_corrected_timestamp_changes_the_late_penalty(by_us, tmp_path):
    """Check also that no cell runs again."""
    folder = shutil.copytree(by_us, tmp_path / "course")

    def stamp(student: str) -> Path:
        return folder / "submitted" / student / "value/timestamp.txt"

    stamp("week_late").write_text(f"{DUE - HOUR} UTC\n")
    stamp("early").write_text(f"{DUE + 24 * HOUR} UTC\n")
    stamp("two_days_late").unlink()
    outcomes = grade_again(folder)

    assert all(outcome.skipped for outcome in outcomes.values())

    changed = {"week_late": 0.0, "early": 1.2, "two_days_late": 0.0}
    assert penalties(folder) == {**penalties(by_us), **changed}

    for student in changed:
        copy = folder / "autograded" / student / "value/timestamp.txt"
        assert copy.exists() == stamp(student).exists()
        assert not copy.exists() or copy.read_text() == stamp(student).read_text()

    assert {student: each.penalty for student, each in outcomes.items()} == penalties(folder)


@pytest.mark.full
@pytest.mark.parametrize("by", ["us", "nbgrader"])
def test_a_new_submission_without_a_time_is_not_late(by_us, tmp_path, by):
    folder = shutil.copytree(by_us, tmp_path / "course")
    submitted = folder / "submitted/week_late/value"
    (submitted / "timestamp.txt").unlink()
    append(submitted / "value.ipynb", "\n")
    if by == "us":
        assert not grade_again(folder)["week_late"].skipped
    else:
        run_nbgrader(folder, "autograde", "value", "--student", "week_late", "--force")

    assert penalties(folder) == {**penalties(by_us), "week_late": 0.0}
    assert not (folder / "autograded/week_late/value/timestamp.txt").exists()


def test_a_time_in_the_future_is_reported(by_us, tmp_path):
    folder = shutil.copytree(by_us, tmp_path / "course")
    for student in CLASS:
        stamp = folder / "submitted" / student / "value/timestamp.txt"
        stamp.write_text("2020-01-01 00:00:00 UTC\n")
    (folder / "submitted/early/value/timestamp.txt").write_text("9999-01-01 00:00:00 UTC\n")
    (folder / "submitted/week_late/value/timestamp.txt").write_text("last week\n")
    seen = {student: each.warning for student, each in grade_again(folder).items() if each.warning}

    assert seen.keys() == {"early", "week_late"}
    assert "came at 9999-01-01 00:00:00 UTC, which is yet to come" in seen["early"]
    assert "holds no time" in seen["week_late"]
    assert "early: timestamp.txt says" in run(folder, "autograder", "grade", "value")


def test_without_nbgrader_s_step_for_late_penalties_there_is_no_penalty(by_us, tmp_path):
    folder = shutil.copytree(by_us, tmp_path / "course")
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        config = Config({"Autograde": {"autograde_preprocessors": []}})
        assert LatePenalties(config, gradebook).settle("week_late") == {}


@pytest.mark.parametrize(
    "name", ["nowhere.Policy", "autograder.nbgrader_plugins.late_policy.Nothing", "os.path.join"]
)
def test_an_invalid_late_policy_is_reported_before_grading(by_us, tmp_path, name):
    folder = shutil.copytree(by_us, tmp_path / "course")
    append(folder / "nbgrader_config.py", f"\nc.AssignLatePenalties.plugin_class = {name!r}\n")
    seen = run(folder, "autograder", "grade", "value", status=2)

    assert "the late policy cannot be had" in seen
    assert name.split(".")[-1] in seen


def test_a_late_policy_without_settings_gives_no_penalty():
    assert LatePolicy().late_submission_penalty("anyone", 40.0, 1e6) is None


def test_nbgrader_s_penalty_method_takes_precedence_over_the_late_policy():
    policy = LatePolicy(penalty_method="zero", percent_a_day=10)
    assert policy.late_submission_penalty("anyone", 40.0, 60.0) == 40.0


@pytest.fixture(scope="module")
def folders() -> CourseDirectory:
    """Return the course's folders; its configuration has nbgrader find `alembic`."""
    return course_directory(COURSE)


@pytest.fixture(scope="module")
def two_assignments(folders, tmp_path_factory) -> Path:
    """Return a gradebook with two assignments a week apart, ten points each."""
    path = tmp_path_factory.mktemp("term") / "gradebook.db"
    with Gradebook(f"sqlite:///{path}") as gradebook:
        for week, name in enumerate(("first", "second")):
            gradebook.add_assignment(name, duedate=DUE + timedelta(weeks=week))
            gradebook.add_notebook(name, name)
            gradebook.add_grade_cell("test_it", name, name, max_score=10, cell_type="code")
    return path


@pytest.fixture
def term(folders, two_assignments, tmp_path) -> Iterator[tuple[Gradebook, LatePenalties]]:
    """Return the two assignments with two free days over both."""
    config = deepcopy(folders.config)
    config.LatePolicy.update(percent_a_day=10, maximum_percent=100, tokens=2)
    path = shutil.copy(two_assignments, tmp_path)
    with Gradebook(f"sqlite:///{path}") as gradebook:
        yield gradebook, LatePenalties(config, gradebook)


@pytest.mark.parametrize(("zone", "hours", "extension", "percent"), [
    ("UTC", 24.5, 0, 20), ("Europe/Berlin", 24.5, 0, 10), ("Europe/Berlin", 25.5, 0, 20),
    ("Europe/Berlin", 0.5, 0, 10), ("Europe/Berlin", 24.5 + 72, 3, 20),
])  # fmt: skip
def test_late_days_are_counted_in_the_time_zone_of_the_policy(
    term, zone, hours, extension, percent
):
    gradebook, late = term
    late._config.LatePolicy.update(tokens=0, time_zone=zone)
    due = datetime(2030, 10, 26, 18, 0)  # On the evening before Berlin's summer time ends.
    gradebook.update_or_create_assignment("first", duedate=due)
    record(
        gradebook,
        [SubmissionMarks("first", "ada", Marks({"test_it": 10.0}, {}), due + hours * HOUR)],
    )
    gradebook.find_submission("first", "ada").extension = timedelta(days=extension)
    gradebook.db.commit()

    assert late.settle("ada") == {"first": percent / 10}


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ((0, 2), {}),
        ((2, 1), {"second": 1.0}),
        ((1, 3), {"second": 2.0}),
        ((3, 1), {"first": 1.0, "second": 1.0}),
    ],
)
@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_tokens_are_spent_in_the_order_of_the_due_dates(term, days, expected, order):
    """The assignments may be graded in any order."""
    gradebook, late = term
    for name in order:
        week = ("first", "second").index(name)
        when = DUE + timedelta(weeks=week, days=days[week])
        record(gradebook, [SubmissionMarks(name, "ada", Marks({"test_it": 10.0}, {}), when)])
        settled = late.settle("ada")

    assert settled == expected
