"""A process that may hold a secret only chooses among texts that exist already."""

from __future__ import annotations

import marshal
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from answers import cells, graded, mistake
from mypy import api

from autograder.course_folder.assignments import Exercise
from autograder.judging.compiled_solutions import compiled
from autograder.judging.notebook_session import NotebookSession
from autograder.judging.observations import LaterObservations
from autograder.records import Cell
from autograder.sandbox.proxies import Student
from autograder.sandbox.time_budget import TimeBudget
from autograder.testing import plain
from coursecheck.messages import explain

WRONG = """
from coursecheck.messages import explain
from autograder.judging.observations import LaterObservations

explain([], LaterObservations([]))
"""


def test_functions_that_make_messages_refuse_later_observations(tmp_path):
    later = LaterObservations([[{"error": "ValueError", "message": "a secret"}]])
    assert "secret" not in f"{later}{later!r}{vars(later).keys()}"
    with pytest.raises(TypeError):
        explain([], later)  # type: ignore[arg-type]
    (tmp_path / "wrong.py").write_text(WRONG)
    found, _, status = api.run([str(tmp_path / "wrong.py")])
    assert status == 1
    assert 'incompatible type "LaterObservations"' in found


"""Wrong answers in which wrong numbers, kinds, texts and errors come out, most with `mul` lent."""


REPLACED = """
import coursecheck.quiz as quiz
from coursecheck.messages import Finding

quiz.misformed = lambda *_: "anything that I like"
quiz.look_at = lambda *_: quiz.Look(Finding("anything that I like"))
q1 = 7
"""


def test_the_form_of_an_answer_is_reported_in_the_grader_s_words(grader):
    result = graded(grader, "checkpoint", {"q1": REPLACED}, {"q1"})["q1"]
    assert result.message.endswith("in quotes. Yours is 7.")


LOOKS = """
import inspect, linecache


def looked():
    history = get_ipython().history_manager
    kept = [text for name, (_, _, lines, _) in sorted(linecache.cache.items())
            for text in lines if name.startswith("<ipython-input")]
    names = [In, _ih, history.input_hist_raw, history.input_hist_parsed, kept,
             [*map(repr, get_ipython().compile._filename_map.items())],
             get_ipython().last_execution_result.info.raw_cell, get_ipython().execution_count]
    return repr(names)


def source():
    return inspect.getsource(trace)
"""


@pytest.fixture
def asked(server, assignment):
    """Return a function that asks a notebook's code at its end, with some solutions given."""

    def ask(notebook: list[Cell], given: tuple[str, ...], name: str) -> Any:
        lent = {each: compiled(assignment, assignment.exercises[each]) for each in given}
        session = NotebookSession(server, notebook, 1, TimeBudget(60), lent)
        try:
            return plain(Student(session.target(len(notebook)))._step("name", name)())
        finally:
            session.close()

    return ask


def test_a_solution_that_replaces_an_answer_leaves_no_source_text(assignment, asked):
    wrong = {"node": mistake(assignment, "node.operands_dropped"), "add": "def add(", "mul": None}
    notebook = [*cells(assignment, wrong), Cell(LOOKS)]

    texts = [asked(notebook, given, "looked") for given in ((), ("mul",), ("node", "add", "mul"))]

    assert texts[0] == texts[1] == texts[2]
    assert "def trace" in texts[0]
    assert "self.data * other.data" not in texts[0]


def test_inspect_shows_the_student_s_own_source_even_if_answers_are_replaced(assignment, asked):
    notebook = [*cells(assignment, {"mul": None}), Cell(LOOKS)]
    for given in ((), ("mul",)):
        assert asked(notebook, given, "source").startswith("def trace(")


DOCUMENTED = '''
def double(x):
    """Return twice x."""
    def helper():
        """Tell how it is done."""
        assert x
        return 2 * x
    return helper
'''


def test_a_compiled_solution_keeps_only_the_docstrings_of_its_stub():
    exercise = Exercise(
        "double", "", 1.0, DOCUMENTED, 'def double(x):\n    """Return twice x."""\n'
    )
    scope: dict[str, Any] = {}
    exec(
        marshal.loads(compiled(SimpleNamespace(setup={}, exercises={"": exercise}), exercise)),
        scope,
    )
    double = scope["double"]
    assert double.__doc__ == "Return twice x."
    assert double(2).__doc__ is None
    assert double(2)() == 4
    with pytest.raises(AssertionError):
        double(0)()


FUTURE = "from __future__ import annotations"


def test_a_solution_is_compiled_with_the_notebook_s_future_imports_and_magics():
    exercise = Exercise("f", "", 1.0, "%time x = 1\ndef f(x: Missing): pass\n")
    cells = SimpleNamespace(setup={"begin": FUTURE}, exercises={"f": exercise})
    code = marshal.loads(compiled(cells, exercise))
    assert "run_line_magic" in code.co_names
    scope: dict[str, Any] = {"get_ipython": Mock()}
    exec(code, scope)
    assert scope["f"].__annotations__ == {"x": "Missing"}
