"""Replaces one reply to a hidden test at a time, and checks the verdict.

Each hidden test runs on the reference solution. Whatever replaces the reply to one of its steps (an
error, or a value that no solution gives), the verdict must not be a test defect. If an error
replaces the reply, the test must fail, unless it asks for this kind of error.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import chdir, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from answers import cells

from autograder.course_folder.assignments import Assignment
from autograder.course_folder.course import Course
from autograder.course_folder.settings import load_settings
from autograder.errors import BUILT_IN, StudentError
from autograder.judging.hidden_tests import Suite
from autograder.records import Verdict
from autograder.sandbox.targets import LocalTarget

SEED = b"every reply"
NEUTRAL = "BufferError"
"""A kind of error that no hidden test asks for."""
_STEERING = {"AttributeError", "GeneratorExit", "IndexError", "StopAsyncIteration", "StopIteration",
             "TypeError"}  # fmt: skip
"""Kinds of errors on which Python itself acts. In a draw they occur ten times as often as others.
"""
_OF_TRAININGS = 0.005
"""Share of the odd values that are tried in exercises with trainings, where each try may need
another training."""

_DEEP: Any = 1.0
for _ in range(15):
    _DEEP = {"list": [_DEEP]}

ODD: dict[str, Any] = {
    "None": None,
    "True": True,
    "False": False,
    "0": 0,
    "-0.0": -0.0,
    "one half": 0.5,
    "a huge number": -(10**300),
    "nan": {"float": "nan"},
    "inf": {"float": "inf"},
    "-inf": {"float": "-inf"},
    "no text": "",
    "a text": "nothing",
    "a long text": "é" * 100_000,
    "bytes": {"bytes": "00ff"},
    "bytes that change": {"bytearray": "00ff"},
    "a complex number": {"complex": "(1+2j)"},
    "a fraction": {"fraction": "1/3"},
    "a decimal number": {"decimal": "1E+300"},
    "no decimal number": {"decimal": "NaN"},
    "a date": {"date": "2024-02-29"},
    "a time": {"time": "10:00:00+01:00"},
    "a date and a time": {"datetime": "2024-02-29T10:00:00"},
    "a while": {"timedelta": "-1"},
    "a range": {"range": "0 3000 1"},
    "an array": {"array": ["<f8", [2], "00" * 16]},
    "no array": {"array": ["|b1", [0, 3], ""]},
    "one number's array": {"array": ["<c16", [], "00" * 16]},
    "no list": {"list": []},
    "a list": {"list": [1.0, None, "x"]},
    "a long list": {"list": [2.5] * 3000},
    "a nested list": {"list": [{"list": [1.0, {"tuple": []}]}, {"dict": []}]},
    "a deep list": _DEEP,
    "a list of objects": {"list": [{"object": 0}, {"object": 7}]},
    "no tuple": {"tuple": []},
    "a pair": {"tuple": [1.0, 2.0]},
    "a set": {"set": [1.0, "x", {"tuple": [2, {"object": 0}]}]},
    "a set for good": {"frozenset": [1.0, "x", {"frozenset": [{"object": 0}]}]},
    "no dictionary": {"dict": []},
    "a dictionary": {"dict": [["x", 1.0], [2, {"list": []}], [{"object": 0}, None]]},
    "the first object": {"object": 0},
    "no object that is there": {"object": 1_000_000},
    "what is too long": {"large": 0},
}
"""Values in the form of `protocol.encode`, by name."""


class Replaced(LocalTarget):
    """The reference solution's namespace, in which the reply to one step is replaced.

    As long as the requests equal those of an undisturbed run, they get the same replies without
    running the solution. The solution runs from the first different request on.

    Args:
        before: the requests of an undisturbed run of the test, with their replies.
        number: the number of the step, counted from 0.
        error: the name of the built-in error that replaces the reply; "" to use `value`.
        value: the value that replaces the reply.

    Attributes:
        log: all requests, with the reference solution's replies.
        answered: the numbers of the steps that got a reply.
    """

    def __init__(
        self,
        assignment: Assignment,
        before: Sequence[tuple[Any, Any]] = (),
        number: int = -1,
        error: str = "",
        value: Any = None,
    ) -> None:
        super().__init__({})
        self.log: list[tuple[Any, Any]] = []
        self.answered: list[int] = []
        self._count = 0
        self._assignment = assignment
        self._before = before
        self._number = number
        self._error = error
        self._value = value
        self._runs = False

    def perform(self, request: dict[str, Any]) -> dict[str, Any]:
        reply = self._reply_to(request)
        self.log.append((request, reply))
        values, error = [*reply["values"]], reply.get("error")
        count, place = len(request["steps"]), self._number - self._count
        answered = range(min(len(values) + 1, count))
        self.answered += [self._count + each for each in answered]
        self._count += count
        if place in answered:
            if self._error:
                values, error = values[:place], [self._error]
            else:
                values[place : place + 1] = [self._value]
        return {"values": values} if len(values) == count else {"values": values, "error": error}

    def _reply_to(self, request: dict[str, Any]) -> dict[str, Any]:
        known = self._before[len(self.log) : len(self.log) + 1]
        if not self._runs and known and known[0][0] == request:
            return known[0][1]
        if not self._runs:
            self._runs = True
            LocalTarget.__init__(self, solved(self._assignment))
            for earlier, _ in self.log:
                super().perform(earlier)
        return super().perform(request)


def solved(assignment: Assignment) -> dict[str, Any]:
    """Run the solution's cells in this process, and return their namespace."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells(assignment, {}):
        exec(cell.source, scope)
    return scope


@contextmanager
def noted_questions() -> Iterator[list[str]]:
    """Yield a list to which an entry is added whenever a test reads the kind of a student's
    error."""
    asked: list[str] = []

    def attribute(error: StudentError, name: str) -> Any:
        if name == "kind":
            asked.append(name)
        return Exception.__getattribute__(error, name)

    setattr(StudentError, "__getattribute__", attribute)  # noqa: B010 (a class's own method)
    try:
        yield asked
    finally:
        delattr(StudentError, "__getattribute__")


@dataclass
class Survey:
    """The results of running hidden tests with replaced replies.

    Attributes:
        places: the number of replies that were replaced, each by several others.
        passed: a text for each run that passed, although a reply was an error that the test did not
            ask for.
        blamed: a text for each run that counted as a test defect, with the last line of the
            traceback.
    """

    tests: int = 0
    places: int = 0
    runs: int = 0
    passed: list[str] = field(default_factory=list)
    blamed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        found = [f"passed with {each}" for each in self.passed]
        found += [f"blamed for {each}" for each in self.blamed]
        counts = Counter(each.partition(" is ")[0] for each in found)
        return "\n".join(
            [
                f"{self.tests} tests, {self.places} replies, {self.runs} runs: {len(self.passed)} "
                f"passed with an error, {len(self.blamed)} blamed the test",
                *(f"  {count}: {where}" for where, count in counts.items()),
                *found[:20],
            ]
        )


def survey(courses: Iterable[Path], share: float, drawn_from: int, quick: bool = False) -> Survey:
    """Run the courses' hidden tests with replaced replies, and return the results.

    Args:
        share: the share of all replacements that is tried, from 0 to 1.
        drawn_from: the seed of the draw.
        quick: whether to leave out exercises that train networks.
    """
    found, drawn = Survey(), random.Random(drawn_from)
    for course in courses:
        trainings = load_settings(course).limits.trainings
        for name in Course(course).assignment_names():
            assignment = Course(course).assignment(name)
            with Suite(assignment.tests) as suite:
                for exercise in suite.exercises:
                    trains = exercise in trainings
                    if not (quick and trains):
                        shares = share, share * (_OF_TRAININGS if trains else 1)
                        survey_exercise(found, drawn, shares, assignment, suite, exercise)
    return found


def survey_exercise(
    found: Survey,
    drawn: random.Random,
    shares: tuple[float, float],
    assignment: Assignment,
    suite: Suite,
    exercise: str,
) -> None:
    """Run the hidden tests of one exercise, and add the results to a survey.

    Args:
        found: the survey.
        drawn: draws the replacements to try.
        shares: the share of all errors that is tried, and the share of all values.
    """

    def run(target: Replaced) -> Verdict:
        found.runs += 1
        there = chdir(assignment.data_folder) if assignment.data_folder else nullcontext()
        with there, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            return suite.run_test(exercise, test, target, SEED)

    for test in [verdict.test for verdict in suite.criteria(exercise)]:
        undisturbed = Replaced(assignment)
        assert run(undisturbed).passed, f"{exercise}: {test}"
        found.tests += 1
        for number in undisturbed.answered:
            where = f"{exercise}: {test}, reply {number}"
            kinds = [
                kind
                for kind in sorted(BUILT_IN)
                if drawn.random() < shares[0] * (10 if kind in _STEERING else 1)
            ]
            odd = [name for name in ODD if drawn.random() < shares[1]]
            found.places += bool(kinds or odd)
            for kind in kinds:
                with noted_questions() as asked:
                    verdict = run(Replaced(assignment, undisturbed.log, number, error=kind))
                if verdict.passed and (not asked or kind == NEUTRAL):
                    found.passed.append(f"{where} is {kind}")
                _note_blame(found, verdict, f"{where} is {kind}")
            for name in odd:
                verdict = run(Replaced(assignment, undisturbed.log, number, value=ODD[name]))
                _note_blame(found, verdict, f"{where} is {name}")


def _note_blame(found: Survey, verdict: Verdict, where: str) -> None:
    if verdict.blames_test:
        found.blamed.append(f"{where}: {verdict.broken.splitlines()[-1]}")
