"""Rubrics are read and checked, items are recorded, and a changed rubric moves the marks that have
the changed item, after a question."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner
from nbgrader.api import Grade
from schools import grade, released, run, solutions
from tested_course import COURSE

from autograder.authoring.release import copy_course, write
from autograder.commands.demo import hand_in
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.course_folder.rubrics import Item, items_points, read_rubrics, rubrics_of
from autograder.errors import CourseError
from autograder.gradebook import history
from autograder.gradebook.by_hand import person, store, take_snapshots
from autograder.marking.answers import Answers
from autograder.marking.recount import changed_marks
from autograder.marking.recount import store as recount

NAME = "checkpoint"
RUBRIC = """
[[memory]]
id = "reason"
points = 2
what = "A `reason`."
else = "Why?"

[[memory]]
id = "example"
points = 1
what = "An example."
else = "Give an example."

[[memory]]
id = "copied"
points = -1
what = "A sentence of the lesson, word for word."

[[memory]]
id = "well_said"
points = 0
what = "Well said."
"""
BESIDE_TESTS = """
[[q1]]
id = "named"
points = 2
what = "Good names."
else = "Name things."
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rubrics.toml"
    path.write_text(RUBRIC)
    return path


def test_a_rubric_is_read_with_its_items_in_order(file):
    [*items] = read_rubrics(file)["memory"]

    assert [item.id for item in items] == ["reason", "example", "copied", "well_said"]
    assert items[0] == Item("reason", 2.0, "A `reason`.", "Why?")
    assert read_rubrics(file.with_name("none.toml")) == {}


@pytest.mark.parametrize(
    ("given", "points"),
    [((), 0), (("reason",), 2), (("reason", "example", "well_said"), 3), (("copied",), 0),
     (("reason", "copied"), 1)],
)  # fmt: skip
def test_the_points_of_items_stay_within_those_of_the_exercise(file, given, points):
    assert items_points(read_rubrics(file)["memory"], given, 3.0) == points


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('id = "reason"', "", r"block 1 of \[\[memory\]\] has no id: add it"),
        ('id = "reason"', 'id = "a reason"', "block 1 .* id must be a word"),
        ("points = 2", 'points = "2"', "block 1 .* points must be a number"),
        ("points = 2", "points = nan", "points must be a number"),
        ('what = "An example."', 'what = " "', "block 2 .* what must be a text in quotes"),
        ('else = "Why?"', "", "block 1 .* has no else: add it, .* a student reads"),
        ("points = 1", "points = 0", "block 2 .* nobody reads the else .* delete it"),
        ('id = "example"', 'id = "reason"', 'block 2 .* the id "reason" is that of an earlier'),
        ("points = 1", "points = 1\nhalf = true", "block 2 .* half is not known here"),
        ("[[memory]]", "[memory]", "line 8.* Mend it there"),
        (RUBRIC, "memory = 1", r"memory must be blocks `\[\[memory\]\]`"),
        (RUBRIC, "memory = [1]", r"memory must be blocks"),
    ],
)
def test_an_invalid_rubric_is_refused_with_file_block_and_remedy(file, old, new, says):
    file.write_text(RUBRIC.replace(old, new, 1))
    with pytest.raises(CourseError, match=f"(?s)^{file}.*{says}"):
        read_rubrics(file)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    copy_course(COURSE, tmp_path)
    course = Course(tmp_path)
    course.rubrics_of(NAME).parent.mkdir()
    course.rubrics_of(NAME).write_text(RUBRIC)
    return course


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("points = 2", "points = 1.5", r"add up to 2.5 points, and the exercise has 3 in .*ipynb"),
        ("[[memory]]", "[[q9]]", r"no such exercise \(there are: q1, q2, memory\)"),
    ],
)
def test_a_rubric_that_does_not_fit_its_exercise_is_refused_at_the_release(course, old, new, says):
    before = course.release_of(NAME).read_bytes()

    assert write(course, "release", NAME).read_bytes() == before

    course.rubrics_of(NAME).write_text(RUBRIC.replace(old, new))
    with pytest.raises(CourseError, match=says):
        write(course, "release", NAME)


# A graded class.

WRITTEN = {"ada": "One.", "ben": "Two.", "cleo": "Three.", "dan": "Four."}
MARKS = {
    "ada": (["reason", "example"], 0.0),
    "ben": (["reason"], 0.5),
    "cleo": (["example"], 0.0),
    "dan": None,  # points without items
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course whose class is marked with the rubric, all but one."""
    folder = tmp_path_factory.mktemp("course")
    released(folder, NAME)
    course = Course(folder)
    course.rubrics_of(NAME).parent.mkdir()
    course.rubrics_of(NAME).write_text(RUBRIC)
    answers = {name: {**solutions(NAME), "memory": text} for name, text in WRITTEN.items()}
    hand_in(course, course.assignment(NAME), answers)
    grade(folder, NAME)
    rubric = rubrics_of(course, NAME)["memory"]
    answers = Answers(course, NAME)
    for answer in answers.of("memory"):
        typed = {"manual_score": 1.5, "manual_comment": f"For {answer.student}."}
        if mark := MARKS[answer.student]:
            items = {item.id: item.points for item in rubric if item.id in mark[0]}
            points = items_points(rubric, items, 3.0) + mark[1]
            typed |= {"manual_score": points, "items": items, "adjust": mark[1]}
        with answers.gradebook.engine.connect() as db:
            seen = take_snapshots(db, answer.submitted)[answer.row]
        assert store(answers.gradebook.engine, Grade, answer.row, seen, typed, "tess")[0]
    answers.gradebook.close()
    return folder


@pytest.fixture
def marked(graded: Path, tmp_path: Path) -> Course:
    return Course(Path(shutil.copytree(graded, tmp_path / "course")))


def last_lines(course: Course) -> dict[str, history.Marking]:
    answers = Answers(course, NAME)
    with answers.gradebook.engine.connect() as db:
        lines = history.markings(db, NAME)
    answers.gradebook.close()
    return {line.student: line for line in lines}


def points(course: Course) -> dict[str, float | None]:
    answers = Answers(course, NAME)
    found = {answer.student: answer.points for answer in answers.of("memory")}
    answers.gradebook.close()
    return found


@pytest.mark.subprocess
def test_a_changed_item_moves_exactly_the_marks_that_have_it_after_a_question(marked, monkeypatch):
    """The page itself ends at once."""
    monkeypatch.setattr(asyncio, "run", lambda coroutine: coroutine.close())

    def mark(says: str = "", *options: str) -> str:
        command = ["mark", NAME, "--no-browser", "--course", str(marked.root), *options]
        done = CliRunner().invoke(main, command, input=says, catch_exceptions=False)
        assert done.exit_code == 0
        return done.output

    before, lines = points(marked), last_lines(marked)

    assert mark() == ""

    # `reason` has another sentence and fewer points; `example` as much more.
    text = RUBRIC.replace("points = 2", "points = 1.5").replace("points = 1\n", "points = 1.5\n")
    marked.rubrics_of(NAME).write_text(text.replace("Why?", "For what reason?"))
    said = mark("n\n")

    assert "memory, reason 2 → 1.5: 2 students" in said
    assert "memory, example 1 → 1.5: 2 students" in said
    assert "ben, memory: 2.5 → 2, which a person had adjusted by +0.5" in said
    assert "marks with these items: 3, with other points now: 2" in said
    assert points(marked) == before
    assert last_lines(marked) == lines

    assert "marks stored: 3" in mark("y\n")
    assert points(marked) == {"ada": 3, "ben": 2, "cleo": 1.5, "dan": 1.5}
    now = last_lines(marked)
    assert now["dan"] == lines["dan"]
    assert now["ben"].items == {"reason": 1.5}
    assert now["ben"].adjust == 0.5
    assert now["ben"].comment == "For ben."
    assert now["ben"].who == "tess"
    assert f"the rubric has changed: reason 2 → 1.5, stored by {person()}" == now["ben"].why
    assert mark() == ""

    # An item that is gone.
    marked.rubrics_of(NAME).write_text(text.replace('"example"', '"instance"'))

    assert "memory, example 1.5 → gone: 2 students" in mark("", "--yes")
    assert points(marked) == {"ada": 1.5, "ben": 2, "cleo": 0, "dan": 1.5}


@pytest.mark.subprocess
def test_a_mark_that_waits_still_waits_after_its_rubric_has_changed(marked, monkeypatch):
    monkeypatch.setattr(asyncio, "run", lambda coroutine: coroutine.close())
    answers = Answers(marked, NAME)
    [ada] = [each for each in answers.of("memory") if each.student == "ada"]
    stored = answers.gradebook.find_grade("memory", NAME, NAME, "ada")
    stored.needs_manual_grade = True
    answers.gradebook.db.commit()
    text = RUBRIC.replace("points = 2", "points = 1.5").replace("points = 1\n", "points = 1.5\n")
    marked.rubrics_of(NAME).write_text(text)
    run(marked.root, "autograder", "mark", NAME, "--no-browser", "--yes")

    [now] = [each for each in answers.of("memory") if each.student == "ada"]
    assert now.waits
    assert not ada.waits
    answers.gradebook.close()


@pytest.mark.subprocess
def test_feedback_says_which_items_an_answer_has_and_which_it_lacks(marked):
    def made(student: str) -> str:
        path = marked.root / "feedback" / student / NAME / f"{NAME}.html"
        page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        return " ".join(page.select_one("#comment-memory").get_text(" ", strip=True).split())

    run(marked.root, "nbgrader", "generate_feedback", NAME)

    assert made("ada") == (
        "How your answer was marked ✓ +2 A reason . ✓ +1 An example. A comment for you For ada."
    )
    assert made("ben") == (
        "How your answer was marked ✓ +2 A reason . ✗ 0 of 1 Give an example. "
        "+0.5 beside these A comment for you For ben."
    )
    assert made("dan") == "A comment for you For dan."

    # A page with a changed sentence is made again.
    marked.rubrics_of(NAME).write_text(RUBRIC.replace("Give an example", "Say where"))
    run(marked.root, "nbgrader", "generate_feedback", NAME)

    assert "✗ 0 of 1 Say where." in made("ben")


@pytest.mark.subprocess
def test_a_rubric_of_an_exercise_that_tests_mark_gives_points_beside_theirs(marked):
    marked.rubrics_of(NAME).write_text(RUBRIC + BESIDE_TESTS)
    answers = Answers(marked, NAME)
    [ada, ben] = [each for each in answers.of("q1") if each.student in ("ada", "ben")]
    assert (answers.most("q1"), ada.waits) == (2, True)
    for answer, items in ((ada, {"named": 2.0}), (ben, {})):
        with answers.gradebook.engine.connect() as db:
            seen = take_snapshots(db, answer.submitted)[answer.row]
        typed = {"extra_credit": sum(items.values()), "items": items, "adjust": 0.0}
        assert store(answers.gradebook.engine, Grade, answer.row, seen, typed, "tess")[0]

    now = {each.student: each.waits for each in answers.of("q1")}
    assert now == {"ada": False, "ben": False, "cleo": True, "dan": True}
    assert answers.graders("q1") == [("tess", 2, 1.0)]

    run(marked.root, "nbgrader", "generate_feedback", NAME)
    for student, says in (("ada", "✓ +2 Good names."), ("ben", "✗ 0 of 2 Name things.")):
        path = marked.root / "feedback" / student / NAME / f"{NAME}.html"
        page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        [text] = [each.get_text(" ", strip=True) for each in page.select("#comment-q1")]
        assert text == f"How your answer was marked {says}"

    marked.rubrics_of(NAME).write_text(RUBRIC + BESIDE_TESTS.replace("points = 2", "points = 1"))
    [moved] = changed_marks(answers)
    assert (moved.student, moved.points) == ("ada", (2.0, 1.0))
    assert recount(answers, moved, "tess")
    found = answers.gradebook.find_grade("test_q1", NAME, NAME, "ada")
    assert (found.auto_score, found.manual_score, found.extra_credit) == (1, None, 1)
    answers.gradebook.close()
