"""Texts for students hold nothing that only a process with a secret could know."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

from answers import graded

from autograder.course_folder.assignments import Assignment
from autograder.judging.notebook_session import NotebookSession
from autograder.judging.observations import LaterObservations
from autograder.notebook.cards import card
from autograder.records import ExerciseResult
from coursecheck import inference
from coursecheck.check import load_table

VARIED = {
    "mul": None,
    "add": "def add(self, other):\n    return self.other\n\n\nValue.__add__ = add\n",
    "pow": """
def power(self, n):
    if not isinstance(n, (int, float)):
        raise TypeError("no number")
    if self.data == 0:
        raise RuntimeError(f"zero at {n}")
    out = Value(self.data**n, (self,), f"**{n}")

    def _backward():
        self.grad += 0.123456789 * out.grad

    out._backward = _backward
    return out


Value.__pow__ = power
""",
    "reverse": """
class Odd(ValueError):
    pass


def radd(self, other):
    return self * 1 + other


def rsub(self, other):
    raise Odd(f"{other} minus {self}")


Value.__radd__, Value.__rmul__, Value.__rsub__ = radd, lambda self, other: self * other, rsub
Value.__rtruediv__ = lambda self, other: str(other)
""",
    "neg_sub": """
def sub(self, other):
    other = other if isinstance(other, Value) else Value(other)
    out = Value(self.data - other.data, (self, other), "-")

    def _backward():
        self.grad += out.grad * 0.987654321
        other.grad -= 2.5 * out.grad

    out._backward = _backward
    return out


Value.__sub__ = sub
Value.__neg__ = lambda self: self * -1
""",
    "div": """
def div(self, other):
    if self.data == 2.3:
        raise ValueError(f"cannot divide {self.data} by {other}")
    return self * other**-1 * 1.000001


Value.__truediv__ = div
""",
    "trace": "def trace(root):\n    return set(), [(root * 2).data, 'no edges']\n",
    "manual_backward": "def push_gradients(root, order):\n    root.grad = 0.777 * (root * 1).data",
}


def disguised(item: Any) -> Any:
    """Return an observation with another text, class and digits that agrees with it."""
    if type(item) is float:
        return item * (1 + 3e-11)
    if type(item) is list:
        return [disguised(each) for each in item]
    if type(item) is not dict:
        return item
    if "error" not in item:
        return {key: disguised(each) for key, each in item.items()}
    texts = {key: "a secret" for key in item if key not in ("error", "about")}
    return item | texts


def shown(results: dict[str, ExerciseResult]) -> str:
    """Return all that a student may read of the results."""
    texts = [json.dumps(vars(each), default=vars) for each in results.values()]
    return "\n".join([*texts, *(card(each, each.drawing) for each in results.values())])


def test_forged_results_of_later_processes_change_no_feedback_page(grader, monkeypatch):
    honest = graded(grader, "value", VARIED)
    real, replaced = NotebookSession._observations, []

    def other_words(session: NotebookSession, *arguments: Any) -> Any:
        rows = real(session, *arguments)
        if rows is None or not session._is_later:
            return rows
        replaced.append(rows)
        return [[disguised(item) for item in row] for row in rows]

    monkeypatch.setattr(NotebookSession, "_observations", other_words)
    found = graded(grader, "value", VARIED)
    seen = [*chain.from_iterable(chain.from_iterable(replaced))]
    assert len(replaced) > 8 and any(type(each) is float for each in seen)
    assert sum(type(each) is dict and "message" in each for each in seen) > 8
    assert "a secret" not in shown(found)
    assert shown(found) == shown(honest)


def test_measured_numbers_of_later_processes_are_not_shown(assignment):
    """The slope in `mul` is the same at all points, a number that no formula of the table has."""
    entry = load_table(assignment.table)["exercises"]["mul"]
    rows = []
    for sweep in entry["sweeps"]:
        place = sweep["observe"].index("a.grad") if "a.grad" in sweep["observe"] else None
        for point, right in zip(sweep["points"], sweep["right"], strict=True):
            at, row = dict(zip(sweep["names"], point, strict=True)), [*right]
            if place is not None and "h" in at:
                row[place] = at["h"] + 0.123456 * at["g"]
            rows.append(row)
    found = inference.infer(entry, rows)
    assert found is not None and "0.123456" in found.says
    assert LaterObservations(rows).infer(entry, core_is_right=True) is None


LENT = """
def div(self, other):
    other = other if isinstance(other, Value) else Value(other)
    if self.data == POINT:
        raise ValueError(f"mul has the names {mul.__code__.co_varnames}")
    out = Value(round(self.data / other.data, 4), (self, other), "/")

    def _backward():
        self.grad += out.grad / other.data
        other.grad -= out.grad * self.data / other.data**2

    out._backward = _backward
    return out


Value.__truediv__ = div
"""
REMEMBERED = """
kept = []


def add(self, other):
    other = other if isinstance(other, Value) else Value(other)
    kept.extend(each.data for each in (self, other) if len(repr(each.data)) > 9)
    if self.data == POINT:
        raise ValueError(f"numbers so far: {len(kept)}")
    out = Value(round(self.data + other.data, 4), (self, other), "+")

    def _backward():
        self.grad += out.grad
        other.grad += out.grad

    out._backward = _backward
    return out


Value.__add__ = add
"""


def first_point(assignment: Assignment, exercise: str) -> str:
    return repr(assignment.exercises[exercise].sweeps[0].as_table["points"][0][0])


def test_an_error_in_a_sweep_is_reported_in_the_words_of_the_first_process(grader, assignment):
    """Right on the public examples, an answer raises in a sweep, by what its process knows."""
    div = LENT.replace("POINT", first_point(assignment, "div"))
    stub = "def mul(self, other):\n    pass\n\n\nValue.__mul__ = mul\n"
    told = graded(grader, "value", {"mul": stub, "div": div}, {"mul", "div"})["div"].message
    assert "raised ValueError: mul has the names ('self', 'other')" in told
    add = REMEMBERED.replace("POINT", first_point(assignment, "add"))
    told = graded(grader, "value", {"add": add}, {"add"})["add"].message
    assert "raised ValueError: numbers so far: 0" in told
