"""Exercises of this course that build on one another are judged independently."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from answers import graded, mistake
from campaigns import seed, size

from autograder.course_folder.assignments import Exercise
from autograder.course_folder.course import Course
from autograder.course_folder.settings import load_settings
from autograder.judging.grader import Grader
from autograder.records import BUBBLEWRAP, CORE_IS_RIGHT, LANDLOCK
from autograder.sandbox import ForkServer

SECOND = "def {0}(self):\n    return {1}\n\n\nValue.{0} = {0}\n"
CIRCLES = {
    "tanh and sigmoid": ("backward", {
        "tanh": SECOND.format("tanh", "(self * 2).sigmoid() * 2 - 1"),
        "sigmoid": SECOND.format("sigmoid", "((self * 0.5).tanh() + 1) * 0.5"),
    }),
    "backward by a stub": ("backward", {
        "backward": SECOND.format("backward", "backward_without_recursion(self)"),
        "deep": None,
    }),
    "backward and deep": ("backward", {
        "backward": SECOND.format("backward", "backward_without_recursion(self)"),
        "deep": SECOND.format("backward_without_recursion", "self.backward()"),
    }),
    "order by a stub": ("backward", {
        "topological_order": """
def topological_order(root):
    kept, nodes = [], [root]
    for node in nodes:
        nodes += [each for each in node._prev if all(each is not other for other in nodes)]
    for node in nodes:
        node._backward = lambda node=node: kept.append(node)
    backward_without_recursion(root)
    return kept[::-1]
""",
        "deep": None,
    }),
    "bce and cross_entropy": ("mlp", {
        "bce": "def bce(z, target):\n    return cross_entropy([z * 0, z], int(target))\n",
        "cross_entropy": """
def cross_entropy(scores, target):
    loss, total = 0, scores[target]
    for index, score in enumerate(scores):
        if index != target:
            part = bce(score - total, 0)
            loss, total = loss + part, total + part
    return loss
""",
    }),
    "xor and moons": ("mlp", {
        "xor": "def train_xor(inputs, targets, seed):\n"
               "    return train_moons(inputs, [2 * each - 1 for each in targets], seed)\n",
        "moons": "def train_moons(points, labels, seed):\n"
                 "    return train_xor(points, [(each + 1) / 2 for each in labels], seed)\n",
    }),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.subprocess
@pytest.mark.parametrize(
    ("circle", "kind"),
    [
        pytest.param(circle, kind, marks=[] if is_daily else [pytest.mark.campaign])
        for number, (circle, (about, _)) in enumerate(CIRCLES.items())
        for place, kind in enumerate((BUBBLEWRAP, LANDLOCK))
        for is_daily in [about != "mlp" and number % 2 == place]
    ],
)
def test_exercises_that_call_each_other_earn_nothing(course, circle, kind):
    name, answers = CIRCLES[circle]
    settings = load_settings(course)
    with Grader(Course(course), bytes(32)) as grader:
        grader.use(ForkServer(settings.limits, settings.visible, kind))
        results = graded(grader, name, answers, set(answers))
    assert {each: results[each].points for each in answers} == dict.fromkeys(answers, 0.0)


def test_answers_that_keep_values_between_calls_do_not_count_as_calling_each_other(grader):
    assignment = grader.course.assignment("backward")
    wrong = ("topological_order.keeps_what_it_listed", "exp.passes_unchanged")
    answers = {name.partition(".")[0]: mistake(assignment, name) for name in wrong}
    results = graded(grader, "backward", answers)
    lost = [each.id for each in results.values() if each.status not in ("passed", "manual")]
    assert lost == [*answers]


RECURSIVE = """
def backward(self, first=True):
    if first:
        uses, nodes = {}, [self]
        for node in nodes:
            for operand in set(node._prev):
                if operand not in uses:
                    uses[operand] = 0
                    nodes.append(operand)
                uses[operand] += 1
        Value._uses, self.grad = uses, 1.0
    self._backward()
    for operand in set(self._prev):
        Value._uses[operand] -= 1
        if Value._uses[operand] == 0:
            operand.backward(False)


Value.backward = backward
"""


@pytest.mark.parametrize(
    "deep",
    [{"deep": "Value.backward = None\n"}, {"deep": None}, {"deep": ""}],
    ids=["replaced", "untouched", "missing"],
)
def test_a_later_cell_that_replaces_backward_does_not_affect_its_exercise(grader, deep):
    answers = {"backward": RECURSIVE, **deep}
    results = graded(grader, "backward", answers, {"backward"})
    assert results["backward"].points == 7.0


BESIDE: dict[str, Callable[[Exercise], str]] = {
    "wrong": lambda other: next(each.source for each in other.mistakes if not each.endless),
    "looping": lambda other: "while True:\n    pass\n",
    "crashing": lambda other: "import os\nos._exit(1)\n",
    "missing": lambda other: other.stub,
}


@pytest.mark.sized
@pytest.mark.parametrize("name", ["value", "backward", "checkpoint", "mlp"])
def test_other_exercises_change_neither_points_nor_explanation(grader, name):
    """Try a known mistake beside another wrong exercise, in pairs that are drawn."""
    rng = random.Random(seed(1))
    different = []
    assignment = grader.course.assignment(name)
    coded = [each for each in assignment.exercises.values() if each.mistakes and not each.form]
    pairs = [(each, other) for each in coded for other in coded if each is not other]
    usual = 0 if name == "mlp" else 1  # its trainings take long
    for exercise, other in rng.sample(pairs, size(usual, len(pairs))):
        wrong = rng.choice([each for each in exercise.mistakes if not each.endless])
        answers = {exercise.id: wrong.source}
        kind = rng.choice([*BESIDE])
        found = []
        for beside in ({}, {other.id: BESIDE[kind](other)}):
            both = {**answers, **beside}
            result = graded(grader, name, both, {*both})[exercise.id]
            found.append((result.points, result.misconception))
        if found[0] != found[1]:
            different.append((wrong.id, kind, other.id, *found))
    assert different == []


def test_an_answer_that_keeps_state_between_tests_fails_the_same_tests_in_every_context(grader):
    kept = mistake(grader.course.assignment("backward"), "deep.keeps_what_it_listed")
    found = []
    for beside in ({}, {"backward": "import os\nos._exit(1)\n"}):
        answers = {"deep": kept, **beside}
        found.append(graded(grader, "backward", answers, {*answers})["deep"].criteria)
    assert found[0] == found[1]
    assert {passed for _, passed in found[0]} == {True, False}


ONCE = """
def push_gradients(root, order):
    root.grad = 1.0
    for node in dict.fromkeys(order):
        node._backward()
"""


def test_a_public_example_is_explained_beside_a_wrong_answer(assignment, grader):
    """Examples that differ on the own cells are run in the context that counted."""
    answers = {"manual_backward": ONCE}
    alone = graded(grader, "value", answers, {*answers})["manual_backward"].message
    assert alone.startswith("Your code says `a.grad` is 2.0. It should be 4.0.")
    for name in ("node.operands_dropped", "node.backward_is_none"):
        answers = {"node": mistake(assignment, name), "manual_backward": ONCE}
        beside = graded(grader, "value", answers, {*answers})["manual_backward"].message
        assert beside.startswith("Your code says `a.grad` is")
        assert beside.endswith("expected 4.0")


def test_only_answers_that_need_a_later_cell_get_the_note_about_it(course, grader):
    """`check_gradients` has a mistake of its own; `deep` brings the `backward` that is missing."""
    none = "def backward(self):\n    self.order.reverse()\n\n\nValue.backward = backward\n"
    wrong = mistake(Course(course).assignment("backward"), "check_gradients.first_input_only")
    answers = {"backward": none, "check_gradients": wrong}
    result = graded(grader, "backward", answers, {*answers})["check_gradients"]
    assert 0 < result.points < result.max_points
    assert "a later cell" not in result.note and "`backward`" in result.note


def test_the_message_on_a_mistake_in_the_extra_part_says_that_the_core_is_right(course, grader):
    mistakes = Course(course).assignment("mlp").exercises["train"].mistakes
    [wrong] = [each for each in mistakes if each.id == "train.batch_size_ignored"]
    result = graded(grader, "mlp", {"train": wrong.source}, {"train"})["train"]
    assert result.message.startswith(CORE_IS_RIGHT + wrong.says)
