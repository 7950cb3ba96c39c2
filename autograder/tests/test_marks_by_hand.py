"""Marks and comments by a person are never removed; if something changed, they wait for a review,
after which they are final."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader_courses import TEXTS, graded_class, read_text
from quiz_book import Book
from schools import run

from autograder.gradebook.writing import SubmissionMarks, record
from autograder.notebook.restoring import is_blank
from autograder.pages.feedback import stored_marks
from autograder.records import Marks

pytestmark = pytest.mark.subprocess

CHANGED = "the answer has changed since a person marked it"


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "gradebook.db"
    Gradebook(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def book(empty: Path, tmp_path: Path) -> Iterator[Book]:
    path = shutil.copy(empty, tmp_path)
    with Gradebook(f"sqlite:///{path}") as gradebook:
        yield Book(gradebook)


def test_an_answer_without_a_mark_waits_for_a_person_without_a_reason(book):
    assert book.grade() == {"why": ""}
    book.save("why", 3)
    assert book.grade() == {}


@pytest.mark.parametrize(
    ("give", "change", "why"),
    [
        (lambda book: book.save("why", 4), {"why": ("w", None, 2.0)}, "above the maximum"),
        (lambda book: book.save("why", 4), {"why": ("w", None, 5.0)}, "were all points"),
        (lambda book: book.save("why", 1), {"why": ("w", None, 2.0)}, ""),
        (lambda book: book.save("why", 0), {"why": ("w", None, 2.0)}, ""),
        (lambda book: book.save("why", 3), {"why": ("other",)}, CHANGED),
        (lambda book: book.save("add", 5), {"add": ("a", 4.0)}, ""),
        (lambda book: book.save("add", 5), {"add": ("a", 6.0, 7.0)}, ""),
        (lambda book: book.save("add", 5), {"add": ("b", 6.0)}, CHANGED),
        (lambda book: book.save("add", None, 1), {"add": ("b", 0.0)}, CHANGED),
        (lambda book: book.save("add", None, 0), {"add": ("b", 0.0)}, ""),
        (lambda book: book.save("add", None, 1), {"add": ("a", 5.0)}, ""),
        (lambda book: book.comment("add", "Well said."), {"add": ("b", 0.0)}, CHANGED),
        (lambda book: book.comment("add", "Well said."), {"add": ("a", 0.0)}, ""),
        (lambda book: book.comment("add", ""), {"add": ("b", 0.0)}, ""),
        (lambda book: book.comment("why", "Well said."), {"add": ("b", 0.0)}, ""),
    ],
)
def test_a_mark_by_hand_on_something_that_changed_waits_for_a_review(book, give, change, why):
    book.grade()
    book.save("why", 3)
    give(book)
    [name] = change
    before = [(grade.manual_score, grade.extra_credit) for grade in map(book.cell, ("add", "why"))]
    if len(change[name]) == 3:
        book.weigh(name, change[name][2])
    waits = book.grade(**change)

    assert {*waits} == ({name} if why else set())
    assert why in waits.get(name, "")
    assert waits == book.grade()  # No grading settles what a person has not seen.
    assert before == [
        (grade.manual_score, grade.extra_credit) for grade in map(book.cell, ("add", "why"))
    ]

    given = book.cell(name)
    most = given.max_score
    book.save(name, min(most, given.manual_score or given.auto_score or 0), given.extra_credit)

    assert book.grade() == {} == book.grade()


def test_a_mark_by_hand_waits_for_a_review_if_the_tests_now_give_more(book):
    book.grade(add=("a", 4.0))
    book.save("why", 3)
    book.save("add", 3)

    assert book.grade() == {}  # The person saw the 4 of the tests.
    assert book.grade(add=("a", 6.0)) == {"add": "the tests give 6 now, and a person gave 3"}
    assert book.grade(add=("a", 4.0)) == {}
    assert "the tests give 6" in book.grade(add=("a", 6.0))["add"]

    book.save("add", 3)
    assert book.grade() == {}


def test_an_answer_changed_back_to_the_one_that_was_marked_by_hand_keeps_its_mark(book):
    book.grade()
    book.save("why", 3)

    assert book.grade(why=("other",)) == {"why": CHANGED}
    assert book.grade(why=("a third",)) == {"why": CHANGED}
    assert book.grade(why=("w",)) == {}
    assert book.grade(why=("other",)) == {"why": CHANGED}

    book.save("why", 1)
    assert book.grade(why=("w",)) == {"why": CHANGED}
    assert book.grade(why=("other",)) == {}


def test_an_earlier_answer_that_is_handed_in_again_has_its_mark_again(book):
    book.grade()
    book.give("why", 3, "Good.")
    assert book.grade(why=("other",)) == {"why": CHANGED}
    book.give("why", 1, "Less good.")

    assert book.grade(why=("w",)) == {}
    assert book.given("why") == (3, "Good.")
    assert book.grade() == {}
    assert book.grade(why=("other",)) == {}
    assert book.given("why") == (1, "Less good.")
    assert book.grade(why=("a third",)) == {"why": CHANGED}

    book.give("why", None)
    assert book.grade(why=("w",)) == {}
    assert book.given("why") == (3, "Good.")


def test_the_mark_of_an_earlier_answer_has_its_items_of_the_rubric_again(book):
    book.grade()
    book.give("why", 2, items={"reason": 2.0}, adjust=0.0)
    book.grade(why=("other",))
    book.give("why", 2, items={"example": 1.0}, adjust=1.0)
    assert book.snapshot("why")["items"] == {"example": 1}

    book.grade(why=("w",))
    assert book.snapshot("why")["items"] == {"reason": 2}


def test_a_mark_that_was_counted_again_is_of_no_answer_that_nobody_read(book):
    book.grade()
    book.give("why", 2, items={"reason": 2.0}, adjust=0.0)
    book.grade(why=("other",))
    book.give("why", 1, items={"reason": 1.0}, adjust=0.0, needs_manual_grade=True)
    book.grade(why=("a third",))

    assert book.grade(why=("other",)) == {"why": CHANGED}
    assert book.grade(why=("w",)) == {}


@pytest.mark.parametrize(
    ("name", "points", "again"),
    [("why", 4, ("w", None, 2.0)), ("add", 3, ("a", 6.0, 6.0)), ("add", 3, ("a", 6.0, 2.0))],
)
def test_the_mark_of_an_earlier_answer_waits_if_its_tests_or_maximum_have_changed(
    book, name, points, again
):
    book.grade(add=("a", 4.0))
    book.give("why", 3)
    book.give(name, points)
    book.grade(**{name: ("other",)})
    book.give(name, 1)

    assert {*book.grade(**{name: again})} == {name}
    assert {*book.grade(**{name: again})} == {name}
    assert book.given(name) == (1, None)


def test_an_earlier_mark_returns_also_if_the_later_answer_has_only_the_points_of_tests(book):
    book.grade()
    book.give("add", 3)
    book.grade(add=("b", 6.0))
    book.give("add", None)
    book.grade(add=("a", 6.0))
    assert book.given("add") == (3, None)


def test_a_mark_by_hand_without_an_entry_in_the_record_waits_for_a_review(book):
    record(book.gradebook, [SubmissionMarks("quiz", "ada", Marks({"why": None}, {}), None)])
    book.save("why", 3)
    waits = book.grade()

    assert "the record does not say" in waits["why"]
    assert waits == book.grade()

    book.save("why", 3)
    assert book.grade() == {}


def test_a_lowered_maximum_is_reported_before_anything_is_graded_again(book):
    book.grade()
    book.save("why", 4)
    book.weigh("why", 2)
    book.cell("why").needs_manual_grade = True
    book.gradebook.db.commit()

    assert "above the maximum, which is 2 now" in book.waiting()["why"]
    assert book.grade(why=("w", None, 2.0)) == book.waiting()


def test_a_comment_that_waits_for_a_review_hides_no_points(book, tmp_path):
    book.grade()
    book.comment("add", "Well said.")

    assert book.grade(add=("b", 4.0))["add"] == CHANGED

    stored = stored_marks(f"sqlite:///{tmp_path}/gradebook.db", "quiz", "quiz")["ada"]
    assert stored.marks["test_add"] == {"score": 4, "points": 6, "by_hand": False, "waits": False}
    assert stored.comments["add"] == "Well said."
    assert stored.marks["why"]["waits"]


@pytest.mark.parametrize(
    ("answer", "stub", "blank"),
    [
        ("", "YOUR ANSWER HERE", True),
        (" \n\t", "YOUR ANSWER HERE", True),
        ("YOUR ANSWER HERE\n\n", "YOUR ANSWER HERE", True),
        ("YOUR ANSWER", "YOUR ANSWER HERE", False),
        ("No.", "YOUR ANSWER HERE", False),
        ("<!-- In two\nsentences. -->", "<!-- In two sentences. -->\nYOUR ANSWER HERE", True),
        ("YOUR ANSWER HERE", "<!-- In two sentences. -->\nYOUR ANSWER HERE", True),
        ("<!-- Mine. -->", "<!-- In two sentences. -->\nYOUR ANSWER HERE", False),
        ("# YOUR CODE HERE", "# YOUR CODE HERE\nraise NotImplementedError()", True),
        ("raise NotImplementedError()", "# YOUR CODE HERE\nraise NotImplementedError()", True),
        ("# x = 1", "# YOUR CODE HERE\nraise NotImplementedError()", False),
        ("x = 1", "# YOUR CODE HERE\nraise NotImplementedError()", False),
        # What is left of a choice is an answer.
        ("Yes", "Delete what is wrong:\nYes\nNo", False),
        ("", "", True),
        ("x", "", False),
    ],
)
def test_an_emptied_cell_counts_as_unanswered(answer, stub, blank):
    assert is_blank(answer, stub) is blank


# A whole course, whose notebook has its tests in it.


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    text = read_text(TEXTS / "loops.txt")
    return graded_class(tmp_path_factory.mktemp("loops"), text, STUDENTS, "ada")


STUDENTS = {"ada": "solution", "ben": "stub", "cy": "solution"}


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(graded, tmp_path / "course"))


def answer(course: Path, student: str, cell: str, source: str) -> None:
    path = course / "submitted" / student / "loops/loops.ipynb"
    made = nbformat.read(path, as_version=4)
    [own] = [
        each for each in made.cells if each.metadata.get("nbgrader", {}).get("grade_id") == cell
    ]
    own.source = source
    nbformat.write(made, path)


def stored(course: Path, student: str, cell: str) -> tuple[float | None, float | None, bool]:
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        each = gradebook.find_grade(cell, "loops", "loops", student)
        return each.auto_score, each.manual_score, each.needs_manual_grade


def test_each_command_reports_student_exercise_and_reason_of_a_review(course):
    path = course / "source/loops/loops.ipynb"
    source = nbformat.read(path, as_version=4)
    [why] = [cell for cell in source.cells if cell.metadata.get("nbgrader", {}).get("points") == 3]
    why.metadata.nbgrader.points = 2
    nbformat.write(source, path)
    run(course, "nbgrader", "generate_assignment", "loops", "--force")
    told = "why waits for another look: the 2.5 that a person gave are above the maximum"

    assert f"ada, loops: {told}" in run(course, "autograder", "export", "loops", status=2)
    assert stored(course, "ada", "why") == (None, 2.5, True)
    assert told in run(course, "autograder", "regrade", "loops", "--yes", "--workers", "1")
    assert f"ada, loops: {told}" in run(course, "autograder", "export", "loops", status=2)
    assert f"ada, loops: {told}" in " ".join(run(course, "autograder", "doctor").split())

    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        for student in ("ada", "cy"):
            grade = gradebook.find_grade("why", "loops", "loops", student)
            grade.manual_score, grade.needs_manual_grade = 2, False
        gradebook.db.commit()
    run(course, "autograder", "regrade", "loops", "--yes", "--workers", "1")

    assert "waits" not in run(course, "autograder", "doctor")

    run(course, "autograder", "export", "loops")


@pytest.mark.full
def test_an_empty_written_answer_gets_0_points_and_a_changed_one_waits_for_a_person(course):
    answer(course, "cy", "why", " \n\n")
    said = run(course, "autograder", "grade", "loops", "--force", "--workers", "1")
    lines = {line.split(":")[0]: line for line in said.splitlines() if " / 10" in line}

    assert lines["ada"].startswith("ada: 9.5 / 10")
    assert "a person" not in lines["ada"]
    assert lines["cy"].startswith("cy: 7 / 10")
    assert "a person" not in lines["cy"]
    assert lines["ben"].startswith("ben: 0 / 10")
    assert "a person" not in lines["ben"]

    for student in ("ben", "cy"):
        assert stored(course, student, "why") == (0, None, False)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        comment = gradebook.find_comment("why", "loops", "loops", "cy")
        assert comment.auto_comment == "No response."
    answer(course, "cy", "why", "Now I know.")
    answer(course, "ada", "why", "Another thought.")
    said = run(course, "autograder", "grade", "loops", "--workers", "1")

    assert "cy: 7 / 10; a person gives up to 3 more for why" in said
    assert "ada: 9.5 / 10; a person looks again at why" in said

    run(course, "nbgrader", "autograde", "loops", "--student", "ben", "--force")
    assert stored(course, "ben", "why") == (0, None, False)


def test_only_feedback_pages_older_than_their_marks_are_made_again(course):
    def generate() -> set[str]:
        run(course, "nbgrader", "generate_feedback", "loops")
        made = {name for name, path in pages.items() if not path.read_bytes().endswith(b" ")}
        for path in pages.values():
            path.write_bytes(path.read_bytes() + b" ")  # It keeps this if it is not made again.
        return made

    pages = {name: course / f"feedback/{name}/loops/loops.html" for name in STUDENTS}
    assert generate() == {*STUDENTS}
    assert generate() == set()

    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        gradebook.find_comment("evens", "loops", "loops", "cy").manual_comment = "Short and clear."
        gradebook.find_grade("why", "loops", "loops", "ada").manual_score = 1
        gradebook.db.commit()

    assert generate() == {"ada", "cy"}
    assert "Short and clear." in pages["cy"].read_text()
    assert "1 of 3 *" in pages["ada"].read_text()

    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        gradebook.find_grade("why", "loops", "loops", "ada").manual_score = None
        gradebook.db.commit()

    assert generate() == {"ada"}
    assert "waits for a person" in pages["ada"].read_text()

    run(course, "autograder", "grade", "loops", "--student", "ben", "--force", "--workers", "1")
    assert generate() == {"ben"}
