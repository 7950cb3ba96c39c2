"""The grader and the package of the checks hold no word of this course."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (ROOT / "autograder" / "src", ROOT / "autograder" / "coursecheck" / "src")
KINDS = (".py", ".html", ".toml", ".css", ".js")
WORDS = re.compile(
    r"""
    \bValue\b  # the class that students of this course write
    | (?i: \b_?autograd(?!e) | micrograd | \bbackward\b | \bbackprop | \bgradients?\b | \bgrads?\b
      | \bzero_?grad | \bderivatives? | \bchain[ ]rule | topological | \b_prev\b | \b_op\b
      | \b(?:tanh|relu|sigmoid|softmax|xor|mse|bce|sgd|hinge|mlp)\b | cross_entropy
      | \bneurons?\b | neural | perceptron | \bmoons\b | four_points | \bengines?\b | \bgraphs?\b
      | computational | \bcheckpoints?\b | \bepochs?\b | learning[ ]rate | \btensors?\b | pytorch )
    """,
    re.VERBOSE,
)
EXCEPTIONS = {
    # The operator ^ by the name that Python's `operator` has for it.
    ("autograder/sandbox/arithmetic.py", "xor"),
    ("autograder/sandbox/guest/steps.py", "xor"),
    # A number that processes share, of Python's `multiprocessing`.
    ("autograder/pipeline/workers.py", "Value"),
    ("autograder/sandbox/guest/multiprocessing_init.py", "Value"),
    # SQLAlchemy's name for a connection to a database.
    ("autograder/gradebook/by_hand.py", "Engine"),
    ("autograder/gradebook/history.py", "engine"),
    ("autograder/gradebook/writing.py", "Engine"),
    ("autograder/marking/answer_pages.py", "engine"),
    ("autograder/marking/answers.py", "engine"),
    ("autograder/marking/recount.py", "engine"),
    ("autograder/nbgrader_plugins/formgrader/pages.py", "engine"),
    ("autograder/pages/feedback/from_gradebook.py", "Engine"),
}


def test_the_grader_contains_no_word_of_this_course():
    found = {
        (name, match[0], number)
        for folder in SOURCES
        for path in folder.rglob("*")
        if path.suffix in KINDS
        for name in [path.relative_to(folder).as_posix()]
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for match in WORDS.finditer(line)
        if (name, match[0]) not in EXCEPTIONS
    }

    assert not found
