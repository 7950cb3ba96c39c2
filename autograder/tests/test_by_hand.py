"""A typed mark is stored if the exercise is as the page showed it; otherwise it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from test_gradebook import database, fresh  # noqa: F401 (a fixture)

from autograder.gradebook import history
from autograder.gradebook.by_hand import Snapshot, store, take_snapshots
from autograder.gradebook.writing import SubmissionMarks, record
from autograder.records import Marks

pytestmark = pytest.mark.subprocess

STUDENTS = [f"s{number:02}" for number in range(14)]


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.external)]
)
def book(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gradebook]:
    """Return a gradebook with a written and a coded exercise, graded for a class."""
    tmp_path = tmp_path_factory.mktemp("book")
    url = f"sqlite:///{tmp_path}/gradebook.db"
    if request.param == "postgresql":
        url = fresh(request.getfixturevalue("database"), "by_hand")
    with Gradebook(url) as gradebook:
        gradebook.add_assignment("week")
        gradebook.add_notebook("week", "week")
        cell = {"notebook": "week", "assignment": "week", "cell_type": "markdown"}
        gradebook.add_grade_cell("why", max_score=4, **cell)
        gradebook.add_grade_cell("test_sum", max_score=2, **{**cell, "cell_type": "code"})
        gradebook.add_solution_cell("why", "week", "week")
        gradebook.add_solution_cell("sum", "week", "week")
        history.prepare(gradebook)
        for student in STUDENTS:
            grade(gradebook, student, "first")
        yield gradebook


def grade(gradebook: Gradebook, student: str, answer: str, points: float = 2.0) -> None:
    verdicts = [
        {"id": "why", "answer": answer, "points": None, "max_points": 4.0},
        {"id": "sum", "answer": "same", "points": points},
    ]
    entry = history.Entry("week", student, answer, "", {}, verdicts)
    marks = Marks({"why": None, "test_sum": points}, {"why": False, "sum": False})
    record(gradebook, [SubmissionMarks("week", student, marks, None, entry)])


def exercises(gradebook: Gradebook, student: str) -> dict[str, tuple[dict[Any, str], Snapshot]]:
    """Return the ids of an exercise's grade and comment, and the snapshot that its page has."""
    gradebook.db.rollback()
    submitted = gradebook.find_submission_notebook("week", "week", student)
    shown = take_snapshots(gradebook.db.connection(), submitted.id)
    rows: dict[str, dict[Any, str]] = {}
    for kind, each in ((Grade, submitted.grades), (Comment, submitted.comments)):
        for row in each:
            rows.setdefault(shown[row.id]["exercise"], {})[kind] = row.id
    found = {shown[ids[Grade]]["exercise"]: (ids, shown[ids[Grade]]) for ids in rows.values()}
    gradebook.db.rollback()
    return found


def test_points_and_comment_are_stored_together_with_a_line_of_the_record(book: Gradebook) -> None:
    ids, seen = exercises(book, "s11")["why"]
    typed = {"manual_score": 2.5, "manual_comment": "Nearly."}
    stored, now = store(book.engine, Grade, ids[Grade], seen, typed, "ben")

    assert stored
    assert now == {**seen, **typed, "needs_manual_grade": False}
    with book.engine.connect() as db:
        [line] = history.markings(db, "week", "s11")
    assert line == history.Marking(
        "ben", "week", "s11", "why", "first", 2.5, seen["extra_credit"], "Nearly.", line.time
    )
    assert not store(book.engine, Grade, ids[Grade], seen, {"manual_score": 0.0}, "cleo")[0]
    with book.engine.connect() as db:
        assert history.markings(db, "week", "s11") == [line]


def test_a_line_of_the_record_cannot_be_changed_or_taken_out(book: Gradebook) -> None:
    ids, seen = exercises(book, "s10")["why"]
    store(book.engine, Grade, ids[Grade], seen, {"manual_score": 2.25}, "ada")
    for statement in ("UPDATE autograder_marking SET points = 4", "DELETE FROM autograder_marking"):
        with pytest.raises(DBAPIError, match="only ever added to"), book.engine.begin() as db:
            db.execute(text(statement))


def test_asks_and_texts_of_answers_are_added_copied_and_never_changed(book: Gradebook) -> None:
    ids, seen = exercises(book, "s08")["why"]
    words = [("s08", "Why 2 of 4?", False), ("ben", "You name one reason.", True)]
    with book.engine.begin() as db:
        for table in ("ask", "text"):
            db.execute(text(f"DROP TABLE autograder_{table}"))
        assert (history.asks(db, "week"), history.texts(db, "week", "s08", "why")) == ([], {})
        history.add_ask(db, history.Ask("s08", "week", "s08", "why", words[0][1]))
    typed, long = {"manual_score": 2.0}, "Since. " * 10_000
    assert store(book.engine, Grade, ids[Grade], seen, typed, "ben", words[1][1], long)[0]
    with book.engine.begin() as db:
        history.copy(db, "week", "s08", "s99")
        for student in ("s08", "s99"):
            asks = history.asks(db, "week", student)
            assert [(each.who, each.words, each.is_reply) for each in asks] == words
            [kept] = history.texts(db, "week", student, "why").items()
            assert kept == (seen["answer"], long[: history.MOST_TEXT])
            assert len(history.markings(db, "week", student, "why")) == 1
    for table, column in (("ask", "words"), ("text", "text")):
        for what in (f"UPDATE autograder_{table} SET {column} = ''",
                     f"DELETE FROM autograder_{table}"):  # fmt: skip
            with pytest.raises(DBAPIError, match="only ever added to"), book.engine.begin() as db:
                db.execute(text(what))


def test_a_comment_on_an_answer_that_waits_does_not_mark_it(book: Gradebook) -> None:
    ids, seen = exercises(book, "s09")["why"]
    waits = {**seen, "manual_comment": "Read on.", "needs_manual_grade": True}
    typed = {"manual_comment": "Read on."}
    assert store(book.engine, Comment, ids[Comment], seen, typed, "ben") == (True, waits)
    with book.engine.connect() as db:
        [line] = history.markings(db, "week", "s09")
    assert (line.answer, line.comment) == (None, "Read on.")


def test_items_stay_with_their_points_and_go_with_other_ones(book: Gradebook) -> None:
    ids, seen = exercises(book, "s12")["why"]
    items = {"items": {"price": 1.0, "reason": 2.0}, "adjust": -0.5}
    typed = {"manual_score": 2.5, **items}
    _, now = store(book.engine, Grade, ids[Grade], seen, typed, "ada", why="because")
    assert exercises(book, "s12")["why"][1] == now == {**seen, **now, **items}
    # Somebody else gave as many points for other items.
    same = {**now, "items": {"price": 2.5}, "adjust": 0.0}
    assert store(book.engine, Grade, ids[Grade], same, typed, "ada") == (False, now)

    _, now = store(book.engine, Comment, ids[Comment], now, {"manual_comment": "Well."}, "ben")
    assert {key: now[key] for key in items} == items

    _, now = store(book.engine, Grade, ids[Grade], now, {"manual_score": 2.0}, "cleo")
    assert now["items"] is None
    with book.engine.connect() as db:
        lines = history.markings(db, "week", "s12")
    assert [(line.items, line.adjust, line.why) for line in lines] == [
        (items["items"], -0.5, "because"), (items["items"], -0.5, None), (None, None, None),
    ]  # fmt: skip


def test_a_record_of_marks_without_items_gets_the_columns(book: Gradebook) -> None:
    with book.engine.begin() as db:
        for column in ("items", "adjust", "why"):
            db.execute(text(f"ALTER TABLE autograder_marking DROP COLUMN {column}"))
        before = history.markings(db, "week")
    ids, seen = exercises(book, "s13")["why"]
    typed = {"manual_score": 2.0, "items": {"price": 2.0}, "adjust": 0.0}

    assert store(book.engine, Grade, ids[Grade], seen, typed, "ada")[0]
    with book.engine.connect() as db:
        *lines, line = history.markings(db, "week")
    assert lines == before
    assert line.items == {"price": 2.0}


def test_a_mark_is_stored_only_if_its_page_showed_the_present_mark(book: Gradebook) -> None:
    ids, seen = exercises(book, "s00")["why"]
    stored, now = store(book.engine, Grade, ids[Grade], seen, {"manual_score": 3.0}, "ada")

    assert stored
    assert now == {**seen, "manual_score": 3.0, "needs_manual_grade": False}

    for kind, typed in ((Grade, {"manual_score": 1.0}), (Comment, {"manual_comment": "No."})):
        assert store(book.engine, kind, ids[kind], seen, typed, "ada") == (False, now)
    stored, now = store(book.engine, Comment, ids[Comment], now, {"manual_comment": "Well."}, "ada")

    assert stored
    assert now["manual_score"] == 3

    # Another exercise's page is as it was.
    ids, seen = exercises(book, "s00")["sum"]

    assert store(book.engine, Grade, ids[Grade], seen, {"extra_credit": 1.0}, "ada")[0]


def test_a_mark_for_a_row_that_does_not_exist_is_refused(book: Gradebook) -> None:
    with pytest.raises(MissingEntry):
        store(book.engine, Grade, "none", {}, {}, "ada")


def test_a_mark_by_hand_is_not_stored_if_grading_has_changed_the_exercise_meanwhile(
    book: Gradebook,
) -> None:
    (ids, seen), (others, same) = (exercises(book, "s01")[each] for each in ("why", "sum"))
    grade(book, "s01", "second")  # It waited before, and waits now.
    stored, now = store(book.engine, Grade, ids[Grade], seen, {"manual_score": 3.0}, "ada")

    assert not stored
    assert now == {**seen, "answer": "second"}
    assert store(book.engine, Grade, others[Grade], same, {"extra_credit": 1.0}, "ada")[0]

    same = exercises(book, "s01")["sum"][1]
    grade(book, "s01", "second", 1.0)
    stored, now = store(
        book.engine, Comment, others[Comment], same, {"manual_comment": "Good."}, "ada"
    )

    assert not stored
    assert now["auto_score"] == 1


def test_of_three_marks_sent_at_the_same_moment_one_is_stored(book: Gradebook) -> None:
    """Try the grade and the comment of one exercise, by two servers."""
    servers = [create_engine(book.engine.url) for _ in range(3)]
    kinds = (Grade, {"manual_score": 3.0}), (Grade, {"manual_score": 1.0}), (
        Comment, {"manual_comment": "Say more."})  # fmt: skip
    with ThreadPoolExecutor(3) as pool:
        for student in STUDENTS[2:12]:
            ids, seen = exercises(book, student)["why"]
            together = Barrier(3)

            def attempt(server: Any, kind: Any, typed: Snapshot) -> bool:
                together.wait()  # noqa: B023
                return store(server, kind, ids[kind], seen, typed, "ada")[0]  # noqa: B023

            done = [pool.submit(attempt, each, *kind)
                    for each, kind in zip(servers, kinds, strict=True)]  # fmt: skip
            results = [each.result() for each in done]
            assert sum(results) == 1
            [(_, typed)] = [kind for kind, won in zip(kinds, results, strict=True) if won]
            now = exercises(book, student)["why"][1]
            needs = {"needs_manual_grade": False} if "manual_score" in typed else {}
            assert now == {**seen, **typed, **needs}
    for each in servers:
        each.dispose()


def test_the_formgrader_s_order_of_submissions_is_not_that_of_the_students(book: Gradebook) -> None:
    submitted = sorted(
        (submission.id, submission.student.id)
        for submission in book.notebook_submissions("week", "week")
    )
    assert [student for _, student in submitted] != STUDENTS
