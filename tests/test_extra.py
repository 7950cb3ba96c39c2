"""The extra notebook `arrays`: its answers work, its checks find mistakes, and it is bundled."""

from __future__ import annotations

import re

import pytest
from extra_notebooks import COURSE, ExtraNotebook

NOTEBOOK = ExtraNotebook("arrays.ipynb")
CELLS, ANSWERS, run = NOTEBOOK.cells, NOTEBOOK.answers, NOTEBOOK.run


@pytest.mark.full
def test_the_notebook_on_arrays_runs_with_its_own_answers() -> None:
    scope, printed = run("speed")
    assert scope["right"] == 100 and scope["losses"][-1] < 0.01
    factor = re.search(r": (\d+) times faster", printed)
    assert factor and int(factor[1]) >= 10
    assert "Every entry agrees." in printed


def test_a_task_of_the_extra_notebook_is_a_stub_with_the_answer_s_function() -> None:
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
def test_a_check_of_the_extra_notebook_finds_a_mistake_before_the_network_is_trained(
    task: str, right: str, wrong: str, found_by: str
) -> None:
    assert right in ANSWERS[task]
    with pytest.raises((AssertionError, ValueError)) as found:
        run(found_by, **{task: ANSWERS[task].replace(right, wrong)})
    assert str(found.value) or found_by == "check", "the student reads a message"


def test_the_extra_notebook_is_no_assignment() -> None:
    assert sorted(COURSE.assignment_names()) == ["backward", "checkpoint", "mlp", "value"]
    assert not any("nbgrader" in cell.metadata for cell in CELLS.values())
