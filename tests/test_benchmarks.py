"""The class that the benchmarks grade is what its page says, and the page is what was measured."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.audit.cases import all_cases
from autograder.authoring.release import copy_course
from autograder.course_folder.assignments import Assignment, find_course, load_assignment

COURSE = find_course(Path(__file__).parent)
sys.path.append(str(COURSE / "benchmarks"))

import figures  # noqa: E402
import grading  # noqa: E402
import honest_class  # noqa: E402
from honest_class import ANSWERS, HOSTILE, MISTAKE, MUTANT, NOTEBOOKS, ORDINARY, UNTOUCHED  # noqa: E402

NAME, STUDENTS = "value", 50
Trial = honest_class._Trial
PAGE = COURSE / "docs" / "performance.md"


class NoTrial:
    """Takes every variant as right and every notebook as one that ends, without running any."""

    def __init__(self, assignment: Assignment) -> None: ...

    def right_alone(self, exercise: str, source: str) -> bool:
        return True

    def passed(self, answers: dict[str, str], whole: bool = True) -> dict[str, bool] | None:
        return {}


@pytest.fixture(scope="module")
def drawn() -> Iterator[list[honest_class.Notebook]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(honest_class, "_Trial", NoTrial)
        honest_class._drawing.cache_clear()
        yield honest_class.draw_class(NAME, STUDENTS)
        honest_class._drawing.cache_clear()


def meaning(cell: str) -> str:
    return ast.dump(ast.parse(cell))


def shares(head: str) -> dict[str, float]:
    """What the page says of the class, by the first column of one of its tables."""
    [rows] = re.findall(rf"\| {head} \|.*?\n\n", PAGE.read_text("utf-8"), re.DOTALL)
    return {name: int(share) / 100 for name, share in re.findall(r"\| ([\w ]+) \| (\d+) %", rows)}


def test_the_page_tells_the_shares_of_all_kinds():
    assert shares("answer") == ANSWERS and sum(ANSWERS.values()) == pytest.approx(1)
    assert shares("notebook") == NOTEBOOKS and sum(NOTEBOOKS.values()) == pytest.approx(1)


def test_a_class_has_these_shares(drawn):
    kinds = Counter(each.kind for each in drawn)
    assert kinds == {kind: share * STUDENTS for kind, share in NOTEBOOKS.items()}
    answers = Counter(kind for each in drawn for kind in each.drawn.values())
    for kind, share in ANSWERS.items():
        assert answers[kind] / answers.total() == pytest.approx(share, abs=0.05)
    for each in drawn:
        harm = [kind for kind in each.drawn.values() if kind in HOSTILE]
        assert harm == ([each.kind] if each.kind in HOSTILE else [])


@pytest.mark.parametrize("students", [1, 4, 5, 20, 999])
def test_a_class_of_any_size_has_all_its_students(students):
    counts = honest_class._counts(students)
    assert counts.total() == students
    assert students < 5 or all(counts[kind] for kind in NOTEBOOKS)


def test_no_two_notebooks_are_alike(drawn):
    begun = [each for each in drawn if each.kind != UNTOUCHED]
    codes = [tuple(sorted((name, meaning(cell)) for name, cell in each.answers.items()))
             for each in begun]  # fmt: skip
    assert len(set(codes)) == len(begun)
    assert len({each.attempt for each in drawn}) == len(drawn)
    cells = [cell for each in begun for cell in each.answers.values()]
    assert len(set(cells)) == len(cells)


def test_answers_are_drawn_each_on_its_own(drawn):
    """No notebook is a variant or one mistake throughout, and most exercises are written anew."""
    ordinary = [each for each in drawn if each.kind == ORDINARY]
    mistakes = Counter(sum(kind == MISTAKE for kind in each.drawn.values()) for each in ordinary)
    assert len(mistakes) >= 3
    for exercise in load_assignment(COURSE, NAME).exercises:
        assert len({meaning(each.answers[exercise]) for each in ordinary}) > len(ordinary) / 4


def test_mutants_are_none_of_the_known_mistakes_and_no_right_answer(drawn):
    exercises = load_assignment(COURSE, NAME).exercises
    found = [(name, each.answers[name]) for each in drawn for name, kind in each.drawn.items()
             if kind == MUTANT]  # fmt: skip
    assert found
    for name, cell in found:
        known = [
            *(mistake.source for mistake in exercises[name].mistakes),
            exercises[name].solution,
        ]
        assert meaning(cell) not in {ast.dump(ast.parse(ast.unparse(ast.parse(s)))) for s in known}
    # Another change each time, but for a few.
    assert len({meaning(cell) for _, cell in found}) > 0.9 * len(found)


def test_a_class_is_drawn_from_its_seed(drawn):
    assert honest_class.draw_class(NAME, STUDENTS) == drawn
    other = honest_class.draw_class(NAME, STUDENTS, "another")
    assert not {honest_class.content(each) for each in drawn} & set(
        map(honest_class.content, other)
    )


def test_a_trial_tells_what_is_right_and_what_does_not_end():
    """The variant `helpers` needs functions of its own; `direct` nothing but the engine."""
    assignment = load_assignment(COURSE, NAME)
    variants = {case.id: case.answers for case in all_cases(COURSE, assignment, "", ["variant"])}
    trial = Trial(assignment)
    assert trial.right_alone("add", variants["direct"]["add"])
    assert not trial.right_alone("add", variants["helpers"]["add"])
    trial._seconds = 1
    for source in ("while True: pass", "import os; os._exit(0)", 'hoard = b"x" * 2**30'):
        assert trial.passed({"add": source}) is None
    passed = trial.passed({"add": "Value.__add__ = lambda self, other: Value(0.0)"}, whole=False)
    assert passed is not None and not passed["add"] and passed["node"]
    # What loops in the visible check alone is seen where the whole notebook is run.
    source = f"""{assignment.exercises["numerical"].solution}
import sys
right = numerical_derivative
def numerical_derivative(*given):
    while sys._getframe(1).f_code.co_filename == "<check>":
        pass
    return right(*given)
"""
    passed = trial.passed({"numerical": source}, whole=False)
    assert passed is not None and passed["numerical"]
    assert trial.passed({"numerical": source}) is None


def test_a_notebook_is_handed_in_as_it_was_drawn(drawn, tmp_path):
    copy_course(COURSE, tmp_path)
    grading.hand_in(tmp_path, drawn[:3])
    for each in drawn[:3]:
        path = tmp_path / "submitted" / each.student / NAME / f"{NAME}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        sources = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source
                   for cell in notebook.cells}  # fmt: skip
        assert {name: sources[name] for name in each.answers} == each.answers
        assert notebook.cells[-1].source == each.attempt
    grading.hand_in(tmp_path, drawn[3:4])
    [student] = (tmp_path / "submitted").iterdir()
    assert student.name == drawn[3].student


def test_the_stopwatch_times_each_notebook_of_a_grading(drawn, tmp_path):
    folder = grading.make_course(tmp_path, [NAME])
    calm = [each for each in drawn if each.kind == ORDINARY][:3]
    grading.hand_in(folder, calm)
    graded = grading.grade(folder, [NAME], workers=2)
    assert set(graded.each) == {(NAME, each.student) for each in calm}
    assert all(0 < seconds < graded.seconds for seconds in graded.each.values())
    assert all(0 < done < graded.seconds for done in graded.done)
    assert graded.peak > 10**7
    assert 0 < grading.full_marks(folder, calm) < 30
    assert grading.full_marks(folder, []) == 0


def test_pages_hold_what_was_measured(tmp_path):
    for page in (COURSE / "README.md", PAGE):
        shutil.copy(page, tmp_path)
    line = [sys.executable, COURSE / "benchmarks" / "figures.py", "--to", tmp_path]
    subprocess.run(line, check=True, capture_output=True)
    pages = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert pages.pop("README.md") == (COURSE / "README.md").read_text("utf-8")
    assert pages == {name: (COURSE / "docs" / name).read_text("utf-8") for name in pages}
    known = json.loads(figures.RESULTS.read_text("utf-8")) if figures.RESULTS.exists() else {}
    due = set(re.findall(r"<!-- (\w+): generated, do not edit -->\nDue", PAGE.read_text("utf-8")))
    assert due == set(figures.TEXTS) - set(known)


def test_figures_are_made_of_what_was_measured(tmp_path):
    """Two notebooks of 100 and 300 ms, by stock nbgrader 4 s; one that loops, 1 s and 60 s."""
    part = {"harmful": False, "notebooks": 2, "stock": {"value": 8.0}, "ours": 0.5, "peak": 10**8,
            "otter": [6.0, 9]}  # fmt: skip
    wild = {
        "harmful": True,
        "notebooks": 1,
        "stock": {"value": 60.0},
        "ours": 1.5,
        "peak": 2 * 10**8,
    }
    measured = {
        "students": 3,
        "names": ["value"],
        "parts": [part, wild],
        "notebooks": [["value", "ordinary", 0.1], ["value", "ordinary", 0.3],
                      ["value", "loops", 1.0]],
        "lost": 0,
        "cut": [1, 0],
        "exercises": 20,
        "full": [12, 13],
        "feedback": {"value": [6.0, 1.0]},
        "pages": [3, 3],
        "otter": {"version": "1", "name": "value"},
    }  # fmt: skip
    each = {"names": ["value"], "students": 2, "seconds": 3.0, "each": [0.1, 0.3], "peak": 10**8,
            "memory": [[0.5, 10**8, 1], [1.0, 10**8, 2]]}  # fmt: skip
    task = {"what": "a sum", "other": 0.002, "ours": 0.001, "ratio": 2.0}
    engine = {"version": "1", "rounds": 3, "tasks": [task]}
    known = {
        what: {"by": f"make {what}", "on": "a machine", "measured": found}
        for what, found in (("class", measured), ("large", [each]), ("engine", engine))
    }
    for page in (COURSE / "README.md", PAGE):
        shutil.copy(page, tmp_path)
    page = tmp_path / PAGE.name
    figures.publish(known, tmp_path / "README.md", page)
    told = page.read_text("utf-8")
    for row in (
        "| `value` | 2 | 4,000 | 250 | 16.0 | 200 | 300 | 300 |",
        "| loop, crash, eat memory | 1 | 60,000 | 1,500 | 40.0 | 1,000 | 1,000 | 1,000 |",
        "| the whole class | 3 | 22,667 | 667 | 34.0 | 300 | 1,000 | 1,000 |",
        "one takes its worker 200 ms on average, and stock nbgrader 20.0 times as long",
        "peak memory: 200 MB",
        "2,000 ms by stock nbgrader, 333 ms by this project; 6.0 times",
        "3,000 ms each, 12.0 times",
        "| `value` | 2 | 3 | 1,500 | 200 | 300 | 300 | 100 |",
        "| a sum | 2.00 | 1.00 | 2.00 |",
    ):
        assert row in told
    assert "Due to be measured" not in told
    for _, name in re.findall(r"!\[([^]]+)\]\((\S+\.svg)\)", told):
        assert (tmp_path / name).read_text("utf-8").startswith("<?xml")
    assert "| the whole class |" in (tmp_path / "README.md").read_text("utf-8")
