"""The extra notebook `arrays`: its answers work, its checks find mistakes, and it is bundled."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.course_folder.assignments import assignment_names, find_course

COURSE = find_course(Path(__file__).parent)
NOTEBOOK = COURSE / "course" / "extra" / "arrays.ipynb"


def answers(cells: dict[str, Any]) -> dict[str, str]:
    """What folds open below each task, by the task's cell."""
    tasks = [name for name, cell in cells.items() if "task" in cell.metadata.get("tags", [])]
    found = {}
    for name in tasks:
        fold = cells[f"{name}-answer"].source
        assert fold.startswith("<details><summary>An answer</summary>\n\n")
        found[name] = re.findall(r"```python\n(.*?)```", fold, re.DOTALL)[0]
    return found


CELLS = {cell.id: cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
ANSWERS = answers(CELLS)


def run(last: str, **changed: str) -> tuple[dict[str, Any], str]:
    """Run the code cells up to one of them, the answers in the place of the tasks."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    for name, cell in CELLS.items():
        if cell.cell_type == "code":
            with contextlib.redirect_stdout(printed):
                exec(changed.get(name, ANSWERS.get(name, cell.source)), scope)
        if name == last:
            break
    return scope, printed.getvalue()


def test_the_notebook_works_with_its_own_answers() -> None:
    scope, printed = run("speed")
    assert scope["right"] == 100 and scope["losses"][-1] < 0.01
    factor = re.search(r": (\d+) times faster", printed)
    assert factor and int(factor[1]) >= 10
    assert "Every entry agrees." in printed


def test_a_task_is_open_and_its_answer_has_the_same_names() -> None:
    assert list(ANSWERS) == ["unbroadcast", "add-mul", "matmul", "sum-tanh"]
    for name, answer in ANSWERS.items():
        stub = CELLS[name].source
        assert "raise NotImplementedError()" in stub and "NotImplemented" not in answer
        assert re.findall(r"^def .*", stub, re.M)[-1] in answer
    assert all(not cell.get("outputs") for cell in CELLS.values())


@pytest.mark.parametrize(
    ("task", "right", "wrong", "found_by"),
    [
        ("unbroadcast", "keepdims=True", "keepdims=False", "unbroadcast-check"),
        ("unbroadcast", "grad.sum(axis=0)", "grad[0]", "unbroadcast-check"),
        ("add-mul", "other.grad + unbroadcast(self.data", "unbroadcast(self.data", "add-mul-check"),
        ("add-mul", "self.grad + unbroadcast(out", "unbroadcast(out", "add-mul-check"),
        ("matmul", "out.grad @ other.data.T", "(other.data @ out.grad.T).T * 2", "matmul-check"),
        ("sum-tanh", "1.0 - out.data**2", "1.0 - out.data", "check"),
        ("sum-tanh", "self.grad + (1.0", "(1.0", "check"),
    ],
)
def test_a_mistake_is_found_before_the_network(
    task: str, right: str, wrong: str, found_by: str
) -> None:
    assert right in ANSWERS[task]
    with pytest.raises((AssertionError, ValueError)):
        run(found_by, **{task: ANSWERS[task].replace(right, wrong)})


def test_it_is_no_assignment() -> None:
    assert sorted(assignment_names(COURSE)) == ["backward", "checkpoint", "mlp", "value"]
    assert not any("nbgrader" in cell.metadata for cell in CELLS.values())
