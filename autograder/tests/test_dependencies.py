"""Which exercises build on which is found from the course's own code."""

from __future__ import annotations

from autograder.course_folder.assignments import Exercise
from autograder.course_folder.dependencies import needs
from autograder.pages.feedback.summary import NOT_STARTED, NOT_YET, RIGHT, Line, first_to_mend

SOLUTIONS = {
    "box": "class Box:\n    pass\n",
    "add": "def add(self, other):\n    return Box(self.n + other.n)\n\nBox.__add__ = add\n",
    "exp": "def exp(self):\n    return Box(2 ** self.n)\n\nBox.exp = exp\n",
    "double": "def double(box):\n    return box + box\n",
    "root": "import math\n\ndef root(n):\n    return math.exp(n)\n",
    "four": "def four(box):\n    return double(double(box))\n",
}


def test_an_exercise_builds_on_those_whose_names_methods_and_operators_it_uses():
    exercises = [Exercise(name, "", 1.0, source) for name, source in SOLUTIONS.items()]

    found = needs(exercises)

    assert found == {
        "box": [],
        "add": ["box"],
        "exp": ["box"],
        "double": ["box", "add"],
        "root": [],
        "four": ["box", "add", "double"],
    }


def line(name, went, *built_on):
    return Line(name, name, 0.0, 1.0, went, needs=built_on)


def test_of_several_wrong_exercises_the_one_on_which_most_build_comes_next():
    lines = [line("a", NOT_YET), line("b", NOT_YET), line("c", RIGHT, "b"), line("d", NOT_STARTED)]

    assert first_to_mend(lines).id == "b"


def test_without_a_begun_exercise_the_first_one_comes_next():
    lines = [line("a", NOT_STARTED), line("b", NOT_STARTED, "a")]

    assert first_to_mend(lines).id == "a"
