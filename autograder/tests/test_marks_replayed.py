"""Whatever order graders, students and gradings come in, the gradebook is what the record says, and
no kill loses a mark that was answered."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
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
    rule,
    run_state_machine_as_test,
)
from nbgrader.api import Gradebook
from quiz_book import Book

from autograder.gradebook import history
from autograder.gradebook.another_look import ManualMark, why_again

NAMES = st.sampled_from(["add", "why"])
ANSWERS = st.sampled_from("ab")
POINTS = st.sampled_from([0.0, 1.0, 2.5, 4.0])


class Replay:
    """The state that the gradebook must have for one exercise after the events so far."""

    def __init__(self, answer: str, tests: float | None, most: float) -> None:
        self.now = {"answer": answer, "points": tests, "max_points": most}
        self.seen: dict[str, Any] | None = None
        self.given: tuple[float | None, str | None] = (None, None)
        self.waits = tests is None
        self.marks: dict[str, tuple[tuple[float | None, str | None], dict[str, Any]]] = {}

    def mark(self, points: float | None, text: str) -> None:
        self.given, self.seen = (points, text or None), self.now
        self.waits = points is None and self.now["points"] is None
        self.marks[self.now["answer"]] = self.given, self.now

    def grade(self, **changes: Any) -> None:
        before, self.now = self.now, {**self.now, **changes}
        is_new = self.now["answer"] != before["answer"]
        if manual(self.given).is_given and not why_again(manual(self.given), self.seen, self.now):
            self.waits = self.given[0] is None and self.now["points"] is None
            self.seen = self.now
            return
        given, seen = self.marks.get(self.now["answer"], ((None, None), None))
        if is_new and manual(given).is_given and not why_again(manual(given), seen, self.now):
            self.given, self.seen = given, self.now
            self.marks[self.now["answer"]] = given, self.now  # a line of its own
            self.waits = given[0] is None and self.now["points"] is None
        else:
            self.waits = manual(self.given).is_given or self.now["points"] is None


def manual(given: tuple[float | None, str | None]) -> ManualMark:
    return ManualMark(given[0], None, bool(given[1]))


class Marking(RuleBasedStateMachine):
    """One student's exercise by tests and written answer, and all that may happen to them."""

    empty: Path

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="marks-"))
        shutil.copy(self.empty, self.folder)
        self.gradebook = Gradebook(f"sqlite:///{self.folder}/gradebook.db")
        self.book = Book(self.gradebook)
        self.book.grade(add=("a", 6.0, 6.0), why=("a", None, 4.0))
        self.replay = {"add": Replay("a", 6.0, 6.0), "why": Replay("a", None, 4.0)}

    @rule(name=NAMES, answer=ANSWERS)
    def hand_in(self, name: str, answer: str) -> None:
        self.book.grade(**{name: (answer,)})
        for each, replay in self.replay.items():
            replay.grade(**{"answer": answer} if each == name else {})

    @rule(answer=ANSWERS, points=POINTS)
    def change_what_tests_give(self, answer: str, points: float) -> None:
        self.book.grade(add=(answer, points))
        self.replay["add"].grade(answer=answer, points=points)
        self.replay["why"].grade()

    @rule(name=NAMES, answer=ANSWERS, points=POINTS, text=st.sampled_from(["", "Good."]))
    def mark(self, name: str, answer: str, points: float, text: str) -> None:
        self.hand_in(name, answer)
        assert self.book.give(name, points, text)
        self.replay[name].mark(points, text)

    @rule(name=NAMES)
    def take_back(self, name: str) -> None:
        assert self.book.give(name, None)
        self.replay[name].mark(None, "")

    @invariant()
    def gradebook_is_what_the_record_says(self) -> None:
        waiting = self.book.waiting()
        for name, replay in self.replay.items():
            assert self.book.given(name) == replay.given, name
            assert (name in waiting) == replay.waits, name

    @invariant()
    def no_line_of_the_record_is_lost(self) -> None:
        lines = history.markings(self.gradebook.db.connection(), "quiz")
        for name, replay in self.replay.items():
            last = {each.answer: each for each in lines if each.exercise == name}
            found = {answer: (each.points, each.comment) for answer, each in last.items()}
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
