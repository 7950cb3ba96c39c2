"""Defines the names that code in the lesson and the slides can use."""

import math
import random
from dataclasses import replace
from typing import Any

from autograder.course_folder.course import Course
from course import draw_graph
from namespaces import namespace


def names(course: Course) -> dict[str, Any]:
    """Return the engine, `draw_graph`, and a few modules, by name.

    The engine is the solution of the notebook `backward`, on the engine in `checkpoint`: there each
    operation makes a single node, so that drawings are smaller.
    """
    solution = course.assignment("backward")
    engine = course.assignment("checkpoint").setup["given_engine"]
    scope = namespace(replace(solution, setup={**solution.setup, "single nodes": engine}))
    return {
        **scope,
        "draw_graph": draw_graph,
        "math": math,
        "random": random,
        "engine_lines": lambda: engine_lines(course),
    }


def engine_lines(course: Course) -> int:
    """Return the number of lines of the complete engine in `mlp`, without blank lines."""
    engine = course.assignment("mlp").setup["given_engine"]
    return sum(bool(line.strip()) for line in engine.splitlines())
