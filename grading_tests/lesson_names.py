"""Defines the names for the examples of the lesson and the slides."""

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.course_folder.assignments import load_assignment
from course import draw_graph
from namespaces import namespace


def names(course: Path) -> dict[str, Any]:
    """Return the engine, `draw_graph`, and a few modules.

    The engine is the solution of the notebook `backward`, on the engine in `checkpoint`: there each
    operation is a single node, which makes for smaller drawings.
    """
    solution = load_assignment(course, "backward")
    engine = load_assignment(course, "checkpoint").setup["given_engine"]
    scope = namespace(replace(solution, setup={**solution.setup, "single nodes": engine}))
    return {
        **scope,
        "draw_graph": draw_graph,
        "math": math,
        "random": random,
        "engine_lines": lambda: engine_lines(course),
    }


def engine_lines(course: Path) -> int:
    """Return the number of lines, without blank ones, of the complete engine in `mlp`."""
    engine = load_assignment(course, "mlp").setup["given_engine"]
    return sum(bool(line.strip()) for line in engine.splitlines())
