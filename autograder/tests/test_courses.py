"""Two other courses, graded from their folders: the grader depends on no single course.

Each course has right and wrong answers with their expected marks: a file in percent format has a
cell for each exercise whose answer is not the solution, with its marks, and the misconception's
name if it has one.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from answers import report_on
from bs4 import BeautifulSoup
from other_courses import COURSES, copy_other
from schools import release, run
from schools import solutions as solutions_of

from autograder.commands.demo import hand_in
from autograder.course_folder.course import Course
from autograder.course_folder.misconceptions import percent_cells
from autograder.course_folder.settings import load_settings
from autograder.errors import CourseError
from autograder.judging.check_tables import table_text
from autograder.judging.course_sessions import CourseSessions, server_of
from autograder.judging.grader import Grader
from autograder.judging.hidden_tests import Suite
from autograder.publishing.bundle.make import publish
from autograder.records import Cell, Report

pytestmark = pytest.mark.subprocess

NAMES = ["tokenizer", "tables"]
"""Each course has one assignment, which has the course's name."""
KEY = bytes(range(32))
ANSWERS = [
    pytest.param(name, path, id=f"{name}-{kind}-{path.stem}")
    for name in NAMES
    for kind in ("right", "wrong")
    for path in sorted((COURSES / name / "answers" / kind).glob("*.py"))
]
CLASS = {"right": "right/1_*.py", "wrong": "wrong/01_*.py", "two": "wrong/12_*.py"}


@pytest.fixture(scope="module")
def graders() -> Iterator[dict[str, Grader]]:
    """Return a grader for each course, which all tests use."""
    with (
        Grader(Course(COURSES / "tokenizer"), KEY) as tokenizer,
        Grader(Course(COURSES / "tables"), KEY) as tables,
    ):
        yield {"tokenizer": tokenizer, "tables": tables}


def solutions(name: str) -> dict[str, str]:
    return solutions_of(name, Course(COURSES / name))


def full_marks(name: str) -> dict[str, float]:
    exercises = Course(COURSES / name).assignment(name).exercises
    return {exercise.id: exercise.max_points for exercise in exercises.values()}


def stated(name: str, path: Path) -> tuple[dict[str, str], dict[str, float], dict[str, str]]:
    """Return the content of a file: the answers of a whole notebook, their marks, and mistakes'
    names."""
    answers, marks, named = solutions(name), full_marks(name), {}
    for cell in percent_cells(path):
        exercise, headers, source = cell.name, cell.headers, cell.source
        assert exercise in answers
        answers[exercise] = source
        marks[exercise] = float(headers["marks"].split()[0])
        if "named" in headers:
            named[exercise] = headers["named"]
    return answers, marks, named


def graded(grader: Grader, name: str, answers: dict[str, str]) -> Report:
    report = report_on(grader, name, answers)
    assert not report.defects
    return report


def test_a_conftest_above_the_course_is_not_used():
    """Files in the folders around a course are not read with its hidden tests."""
    with Suite(COURSES / "tokenizer" / "grading_tests" / "test_tokenizer.py") as suite:
        plugins = suite._config.pluginmanager.get_plugins()
    files = {Path(str(getattr(each, "__file__", ""))) for each in plugins}

    assert {path.parent.name for path in files if path.name == "conftest.py"} == {"grading_tests"}


def test_each_test_course_has_three_right_and_eight_wrong_answers():
    for name in NAMES:
        for kind, least in (("right", 3), ("wrong", 8)):
            paths = [*(COURSES / name / "answers" / kind).glob("*.py")]
            assert len(paths) >= least
            for path in paths:
                assert (stated(name, path)[1] == full_marks(name)) == (kind == "right"), path


@pytest.mark.parametrize(("name", "path"), ANSWERS)
def test_every_answer_gets_its_stated_marks(graders, name, path):
    answers, marks, named = stated(name, path)
    report = graded(graders[name], name, answers)
    assert {each.id: each.points for each in report.exercises} == marks
    found = {each.id: each.misconception for each in report.exercises if each.misconception}
    assert found == named
    assert all(each.message for each in report.exercises if each.points != each.max_points)


@pytest.mark.parametrize("name", NAMES)
def test_the_stub_gets_no_marks_and_the_solution_all(graders, name):
    assert graded(graders[name], name, {}).score == 0
    assert graded(graders[name], name, solutions(name)).score == sum(full_marks(name).values())


def test_data_files_may_be_in_a_folder_of_the_assignment(tmp_path):
    course = tmp_path / "tokenizer"
    shutil.copytree(COURSES / "tokenizer", course, ignore=shutil.ignore_patterns(".auto*"))
    (course / "source/tokenizer/texts").mkdir()
    shutil.move(course / "source/tokenizer/corpus.txt", course / "source/tokenizer/texts")
    for path in [*course.rglob("*.py"), *course.rglob("*.ipynb"), course / "course.toml"]:
        text = path.read_text("utf-8")
        path.write_text(text.replace("corpus.txt", "texts/corpus.txt"), "utf-8")
    with Grader(Course(course), KEY) as grader:
        cells = [Cell(source, id) for id, source in solutions("tokenizer").items()]
        report = grader.grade("tokenizer", cells).report

    assert (report.score, report.defects) == (10, [])


@pytest.mark.parametrize("name", NAMES)
def test_every_misconception_costs_marks_and_is_named(graders, name):
    for exercise in Course(COURSES / name).assignment(name).exercises.values():
        assert exercise.mistakes
        assert exercise.examples
        for mistake in exercise.mistakes:
            report = graded(graders[name], name, solutions(name) | {exercise.id: mistake.source})
            [wrong] = [each for each in report.exercises if each.points != each.max_points]
            assert (wrong.misconception, wrong.failed_example is None) == (mistake.id, False)


@pytest.fixture(scope="module")
def schools(tmp_path_factory) -> dict[str, Path]:
    """Return a copy of each course, with a new release."""
    folders = {name: tmp_path_factory.mktemp(name) for name in NAMES}
    for name, folder in folders.items():
        shutil.rmtree(copy_other(name, folder) / "release")
        release(folder, name)
    return folders


@pytest.mark.parametrize("name", NAMES)
def test_release_and_check_table_are_those_that_the_source_gives(schools, name):
    course, place = COURSES / name, Path("release") / name / f"{name}.ipynb"
    fresh, committed = [
        [(cell.id, cell.source, cell.metadata) for cell in nbformat.read(path, as_version=4).cells]
        for path in (schools[name] / place, course / place)
    ]
    assert fresh == committed
    assignment = Course(course).assignment(name)
    with server_of(Course(course)) as server:
        table = table_text(assignment, CourseSessions(assignment, server))
    assert table == (course / "source" / name / "checks.json").read_text("utf-8")
    for file in ("checks.json", *load_settings(course).of(name).data):
        held = [folder / file for folder in ((course / place).parent, schools[name] / place.parent)]
        assert {path.read_bytes() for path in held} == {
            (course / "source" / name / file).read_bytes()
        }


def test_a_mistake_that_lacks_a_name_is_refused(tmp_path):
    course = copy_other("tables", tmp_path / "tables")
    with (course / "grading_tests/misconceptions/tables/worth.py").open("a") as file:
        file.write("\n\n# %% mistake: worth.forgets\n# says: Add up the prices.\n")
        file.write("def worth(*tables):\n    return forgotten\n")
    assignment = Course(course).assignment("tables")
    with server_of(Course(course)) as server:
        models = CourseSessions(assignment, server)
        with pytest.raises(CourseError, match=r"worth\.forgets .* lacks `forgotten` on every"):
            table_text(assignment, models)


@pytest.mark.parametrize("name", NAMES)
def test_each_command_works_on_a_class_of_each_test_course(schools, name):
    course, school = COURSES / name, schools[name]
    files = {who: next((course / "answers").glob(file)) for who, file in CLASS.items()}
    seen = {who: stated(name, path) for who, path in files.items()}
    students = {who: answers for who, (answers, _, _) in seen.items()} | {"stub": {}}
    hand_in(Course(school), Course(school).assignment(name), students)
    printed = run(school, "autograder", "grade", name, "--workers", "1")
    most = sum(full_marks(name).values())
    scores = {who: sum(marks.values()) for who, (_, marks, _) in seen.items()} | {"stub": 0}
    for who, score in scores.items():
        assert f"{who}: {score:g} / {most:g}" in printed
    run(school, "nbgrader", "generate_feedback", name)
    pages = {who: school / "feedback" / who / name / f"{name}.html" for who in students}
    texts = {who: " ".join(text_of(page).split()) for who, page in pages.items()}
    [mistake] = seen["wrong"][2].values()
    exercise = Course(course).assignment(name).exercises[mistake.partition(".")[0]]
    says = next(each.says for each in exercise.mistakes if each.id == mistake)
    assert says.replace("`", "") in texts["wrong"]
    assert "expected" in texts["wrong"]
    assert says.replace("`", "") not in texts["right"]
    assert "HIDDEN" not in "".join(texts.values())
    report = Path(run(school, "autograder", "report", name).split()[-1])
    assert mistake in text_of(report)
    run(school, "autograder", "export", name, "--format", "csv", "--output", "marks.csv")
    rows = [*csv.DictReader((school / "marks.csv").open())]
    found = {row["student"]: float(row["mark"]) for row in rows}
    assert found == scores


def text_of(page: Path) -> str:
    return BeautifulSoup(page.read_text("utf-8"), "html.parser").get_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_bundle_holds_the_data_files_and_the_table_of_the_checks(name, tmp_path):
    course = copy_other(name, tmp_path / "course")
    for path in (course / "release" / name).iterdir():
        if path.suffix != ".ipynb":
            path.unlink()  # as if only the notebook was committed
    bundle = publish(Course(course), (), tmp_path)
    held = {path.name for path in (bundle.folder / name).iterdir()}
    data = load_settings(COURSES / name).of(name).data
    assert held == {f"{name}.ipynb", "checks.json", *data}
    needed = (bundle.folder / "requirements.txt").read_text("utf-8").split()
    assert {"jupyterlab", *load_settings(COURSES / name).visible.packages} <= {*needed}


def test_an_exercise_without_hidden_tests_is_reported_and_the_others_are_graded(tmp_path):
    """Simulate an author who has not written all hidden tests yet."""
    course = copy_other("tokenizer", tmp_path / "course")
    path = course / "grading_tests" / "test_tokenizer.py"
    parts = re.split(r"(?m)^(?=@exercise)", path.read_text("utf-8"))
    path.write_text("".join(part for part in parts if not part.startswith('@exercise("merge")')))
    with Grader(Course(course), KEY) as grader:
        cells = [Cell(source, id) for id, source in solutions("tokenizer").items()]
        report = grader.grade("tokenizer", cells).report
        [defect] = grader.check_solution("tokenizer")
    assert defect in report.defects
    assert (
        'of merge is missing: write one in test_tokenizer.py under `@exercise("merge")`' in defect
    )
    status = {each.id: each.status for each in report.exercises}
    assert status.pop("merge") == "ungraded"
    assert {*status.values()} == {"passed"}
