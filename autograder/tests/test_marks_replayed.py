"""Whatever order graders, students and gradings come in, the gradebook is what the record says, and
no kill loses a mark that was answered."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from campaigns import size
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from nbgrader.api import Comment, Grade, Gradebook
from quiz_book import Book, quiz_course

from autograder.backup import back_up, restore
from autograder.course_folder.rubrics import rubrics_of
from autograder.gradebook import history
from autograder.gradebook.another_look import ManualMark, why_again
from autograder.gradebook.class_results import class_results
from autograder.marking.answers import Answers
from autograder.marking.recount import changed_marks, store
from autograder.pipeline.register import Register

NAMES = st.sampled_from(["add", "why"])
ANSWERS = st.sampled_from("ab")
POINTS = st.sampled_from([0.0, 1.0, 2.5, 4.0])
TEXTS = st.sampled_from(["", "Good."])
STUDENTS = {"ada", "bea", "cyd"}
ITEMS = {"add": ["style"], "why": ["reason", "rest"]}
COLUMNS = ("points", "extra", "comment", "items", "adjust")


@dataclass(frozen=True)
class Given:
    """A mark that a person gave for an answer."""

    points: float | None = None
    extra: float | None = None
    comment: str | None = None
    items: dict[str, float] | None = None
    adjust: float | None = None

    @property
    def mark(self) -> ManualMark:
        return ManualMark(self.points, self.extra, bool(self.comment))

    def replaced(self, **changes: Any) -> Given:
        """Return it with other points or another comment; new points have no items."""
        given = replace(self, **changes)
        is_same = (given.points, given.extra) == (self.points, self.extra)
        return given if is_same else replace(given, items=None, adjust=None)

    def counted(self, name: str, items: dict[str, float], adjust: float, most: float) -> Given:
        """Return it with the points of these items."""
        points = min(max(sum(items.values()) + adjust, 0.0), most)
        column = "extra" if name == "add" else "points"
        return replace(self, **{column: points}, items=items, adjust=adjust)


class Replay:
    """The state that the gradebook must have for one exercise after the events so far."""

    def __init__(self, answer: str, tests: float | None, most: float) -> None:
        self.now = {"answer": answer, "points": tests, "max_points": most}
        self.seen: dict[str, Any] | None = None
        self.given = Given()
        self.waits = tests is None
        self.marks: dict[str, tuple[Given, dict[str, Any]]] = {}

    def mark(self, given: Given) -> None:
        """A person gives points for the present answer, or takes them back."""
        self.given, self.seen = given, self.now
        self.waits = given.points is None and self.now["points"] is None
        self.marks[self.now["answer"]] = given, self.now

    def change(self, given: Given) -> None:
        """A person changes what decides nothing about an answer that waits."""
        if not self.waits:
            self.mark(given)
        elif not self.given.mark.is_given:
            self.seen = self.now
        self.given = given

    def leave(self) -> None:
        """The gradebook loses all of the student's; the record keeps it."""
        self.given, self.now = Given(), self.now | {"answer": ""}

    def grade(self, **changes: Any) -> None:
        before, self.now = self.now, {**self.now, **changes}
        is_new = self.now["answer"] != before["answer"]
        mark = self.given.mark
        if mark.is_given and not why_again(mark, self.seen, self.now):
            self.waits = mark.points is None and self.now["points"] is None
            self.seen = self.now
            return
        given, seen = self.marks.get(self.now["answer"], (Given(), None))
        if is_new and given.mark.is_given and not why_again(given.mark, seen, self.now):
            self.mark(given)  # a line of its own
        else:
            self.waits = mark.is_given or self.now["points"] is None


@dataclass
class Class:
    """The contents of a backup: the student's exercises, and those put aside when the student left.

    Attributes:
        state: the last graded answers, as a `Book` has them.
    """

    student: str
    state: dict[str, Any]
    exercises: dict[str, Replay]
    is_here: bool = True
    aside: dict[str, Replay] | None = None


class Marking(RuleBasedStateMachine):
    """One student's exercise by tests and written answer, and all that may happen to them."""

    empty: Path

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="marks-"))
        self.course = quiz_course(self.folder / "course")
        shutil.copy(self.empty, self.course.root)
        self.open("ada")
        self.class_ = Class("ada", self.book.state, {
            "add": Replay("a", 6.0, 6.0), "why": Replay("w", None, 4.0),
        })  # fmt: skip
        self.saved: Class | None = None
        self.change_the_rubric(2.0)
        self.hand_in("add", "a")

    def open(self, student: str) -> None:
        self.gradebook = Gradebook(f"sqlite:///{self.course}/gradebook.db")
        self.book = Book(self.gradebook, student)

    @property
    def replay(self) -> dict[str, Replay]:
        return self.class_.exercises

    @rule(name=NAMES, answer=ANSWERS)
    def hand_in(self, name: str, answer: str) -> None:
        self.grade(**{name: (answer,)})

    @rule(answer=ANSWERS, points=POINTS)
    def change_what_tests_give(self, answer: str, points: float) -> None:
        self.grade(add=(answer, points))

    def grade(self, **changes: tuple) -> None:
        graded = self.course.root / "autograded" / self.book.student / "quiz"
        if not graded.exists():
            shutil.copytree(self.course.source / "quiz", graded)
        if not self.class_.is_here:
            for each in self.replay.values():
                each.leave()
            self.class_.is_here = True
        self.book.grade(**changes)
        for name, each in self.replay.items():
            keys = ("answer", "points", "max_points")
            each.grade(**dict(zip(keys, self.book.state[name], strict=True)))

    is_here = precondition(lambda self: self.class_.is_here)

    @is_here
    @rule(name=NAMES, answer=ANSWERS, points=POINTS, text=TEXTS)
    def mark(self, name: str, answer: str, points: float, text: str) -> None:
        self.hand_in(name, answer)
        assert self.book.give(name, points, text)
        given = self.replay[name].given
        self.replay[name].mark(given.replaced(points=points, comment=text or None))

    @is_here
    @rule(name=NAMES, answer=ANSWERS, first=st.booleans(), adjust=st.sampled_from([0.0, -0.5]))
    def mark_by_items(self, name: str, answer: str, first: bool, adjust: float) -> None:
        self.hand_in(name, answer)
        rubric = rubrics_of(self.course, "quiz")[name]
        item = rubric[0 if first else -1]
        most = item.points if name == "add" else 4.0
        given = self.replay[name].given.counted(name, {item.id: item.points}, adjust, most)
        points = {"extra_credit": given.extra} if name == "add" else {"manual_score": given.points}
        typed = {**points, "items": given.items, "adjust": adjust}
        assert self.book.store(name, Grade, typed)
        self.replay[name].mark(given)

    @is_here
    @rule(name=NAMES, text=TEXTS)
    def comment_in_the_formgrader(self, name: str, text: str) -> None:
        assert self.book.store(name, Comment, {"manual_comment": text or None})
        given = self.replay[name].given.replaced(comment=text or None)
        self.replay[name].change(given)

    @is_here
    @rule(name=NAMES)
    def take_back(self, name: str) -> None:
        assert self.book.give(name, None, extra_credit=None)
        self.replay[name].mark(Given())

    @rule(points=st.sampled_from([1.0, 2.0, 3.0]))
    def change_the_rubric(self, points: float) -> None:
        items = {"reason": points, "rest": 4.0 - points, "style": points}
        self.course.rubrics_of("quiz").parent.mkdir(parents=True, exist_ok=True)
        self.course.rubrics_of("quiz").write_text("".join(
            f'[[{name}]]\nid = "{item}"\npoints = {items[item]}\nwhat = "x"\nelse = "y"\n'
            for name in ITEMS for item in ITEMS[name]
        ))  # fmt: skip
        answers = Answers(self.course, "quiz")
        for each in changed_marks(answers):
            assert store(answers, each, "tess")
        answers.gradebook.close()
        for name, each in self.replay.items():
            before = each.given.items or {}
            now = {item: items[item] for item in before}
            if self.class_.is_here and now != before:
                most = points if name == "add" else 4.0
                each.change(each.given.counted(name, now, each.given.adjust or 0.0, most))

    # Students come and go.

    is_alone = precondition(lambda self: self.class_.is_here and self.class_.aside is None)

    @is_alone
    @rule(new=st.sampled_from(sorted(STUDENTS)), merge=st.booleans())
    def rename_or_merge(self, new: str, merge: bool) -> None:
        if new == self.book.student:
            return
        if merge:
            self.gradebook.add_student(new)
        with Register(self.course) as register:
            assert register.move(self.book.student, new, merge) == []
        self.book.student = self.class_.student = new

    @is_alone
    @rule()
    def withdraw(self) -> None:
        with Register(self.course) as register:
            register.withdraw(self.book.student)
        self.class_.aside, self.class_.is_here = deepcopy(self.replay), False

    @precondition(lambda self: self.class_.aside is not None)
    @rule()
    def enrol(self) -> None:
        with Register(self.course) as register:
            left = register.enrol(self.book.student)
        assert left == (["quiz"] if self.class_.is_here else [])
        if not self.class_.is_here:
            self.class_ = replace(
                self.class_, exercises=self.class_.aside, is_here=True, aside=None
            )

    @rule()
    def back_up(self) -> None:
        path = self.folder / "backup.tar"
        path.unlink(missing_ok=True)
        back_up(self.course, path)
        self.saved = deepcopy(self.class_)

    @precondition(lambda self: self.saved is not None)
    @rule()
    def restore(self) -> None:
        self.gradebook.close()
        restore(self.course, self.folder / "backup.tar", replace=True)
        self.class_ = deepcopy(self.saved)
        self.open(self.class_.student)
        self.book.state = self.class_.state

    @invariant()
    def gradebook_is_what_the_record_says(self) -> None:
        self.gradebook.db.rollback()
        if not self.class_.is_here:
            assert not class_results(self.gradebook, "quiz").submitted
            return
        waiting = self.book.waiting()
        for name, replay in self.replay.items():
            assert Given(**self.book.all_given(name)) == replay.given, name
            assert (name in waiting) == replay.waits, name

    @invariant()
    def no_line_of_the_record_is_lost(self) -> None:
        lines = history.markings(self.gradebook.db.connection(), "quiz", self.book.student)
        for name, replay in self.replay.items():
            found = {
                each.answer: Given(*(getattr(each, column) for column in COLUMNS))
                for each in lines
                if each.exercise == name and each.answer
            }
            assert found == {answer: given for answer, (given, _) in replay.marks.items()}
        self.gradebook.db.rollback()

    def teardown(self) -> None:
        if hasattr(self, "gradebook"):
            self.gradebook.close()
            shutil.rmtree(self.folder)


@pytest.mark.sized
@pytest.mark.full
@pytest.mark.subprocess
def test_the_gradebook_is_the_replay_of_the_record(tmp_path):
    path = tmp_path / "gradebook.db"
    Gradebook(f"sqlite:///{path}").close()
    run_state_machine_as_test(
        type("Marking", (Marking,), {"empty": path}),
        settings=settings(
            max_examples=size(20, full=300),
            stateful_step_count=15,
            deadline=None,
            derandomize=True,
        ),
    )


GRADERS = """
import sys, threading
from nbgrader.api import Gradebook
from quiz_book import Book

def mark(number):
    with Gradebook(sys.argv[1]) as gradebook:
        book = Book(gradebook)
        for turn in range(10_000):
            text = f"{sys.argv[2]} {number} {turn}"
            if book.give("why", turn % 5, text):
                print(text, flush=True)

for number in range(3):
    threading.Thread(target=mark, args=(number,)).start()
"""


@pytest.mark.sized
@pytest.mark.full
@pytest.mark.subprocess
def test_a_mark_that_was_answered_survives_a_kill_while_three_people_mark(tmp_path):
    address = f"sqlite:///{tmp_path}/gradebook.db"
    with Gradebook(address) as gradebook:
        Book(gradebook).grade()
    answered: list[str] = []
    for kill in range(size(5, full=100)):
        line = [sys.executable, "-c", GRADERS, address, str(kill)]
        paths = {"PYTHONPATH": ":".join(sys.path)}
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=paths) as graders:
            answered += [graders.stdout.readline().strip() for _ in range(1 + kill % 4)]
            graders.kill()
            answered += [each.strip() for each in graders.stdout if each.endswith("\n")]

    with Gradebook(address) as gradebook:
        kept = [each.comment for each in history.markings(gradebook.db.connection(), "quiz")]
        book = Book(gradebook)
        assert len({*answered}) == len(answered) and {*answered} <= {*kept}
        assert book.given("why")[1] == kept[-1]
