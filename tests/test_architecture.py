"""The grader knows no course, its folders import in one direction, its errors are in one place.

Forbidden words and imports stand in lists at the top of each part, with the exceptions and their
reasons.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from autograder import errors

ROOT = Path(__file__).resolve().parents[1]
GENERAL = ("autograder", "coursecheck")
FILES = sorted(
    path
    for folder in GENERAL
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".html", ".toml", ".css", ".js")
)
MODULES = [path for path in FILES if path.suffix == ".py"]


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


# Words of this course.

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
    ("autograder/wall/arithmetic.py", "xor"),
    ("autograder/wall/inside/steps.py", "xor"),
    # A number that processes share, of Python's `multiprocessing`.
    ("autograder/pipeline/workers.py", "Value"),
    # SQLAlchemy's name for a connection to a database.
    ("autograder/gradebook/history.py", "engine"),
    ("autograder/gradebook/writing.py", "Engine"),
    ("autograder/pages/feedback/from_gradebook.py", "Engine"),
}


def test_the_general_packages_contain_no_word_of_this_course():
    found = {
        (place(path), match[0], number)
        for path in FILES
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for match in WORDS.finditer(line)
        if (place(path), match[0]) not in EXCEPTIONS
    }
    assert not found


# Imports.


def imported(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the imports anywhere in a module, each as the parts of an absolute name."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (tuple(each.name.split(".")) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            inner = (*base, *(node.module or "").split("."))
            for each in node.names:
                yield (*(part for part in inner if part), each.name)


COURSES_OWN = {"course", "reference", "grading_tests", "drawing", "lesson_names", "namespaces"}


def test_the_general_packages_import_nothing_of_this_course():
    found = {(place(path), name) for path in MODULES for name in imported(path)}
    assert not [each for each in found if each[1][0] in COURSES_OWN]
    in_check = [each for each in found if each[0].startswith("coursecheck/")]
    assert in_check and not [each for each in in_check if each[1][0] == "autograder"]


ORDER = [
    # Plain data, errors, and helpers that import no other module.
    "texts", "log", "errors", "packages", "faults", "model", "caching", "files",
    # The course folder, and the sandbox.
    "course_folder", "wall", "testing",
    # One submission: its file, its verdicts, its marks.
    "notebook", "judging", "gradebook",
    # The terminal prints errors of the gradebook.
    "terminal",
    # Many submissions, and pages for people.
    "pipeline", "pages", "nbgrader_plugins",
    # Tools for authors and editions for students.
    "authoring", "delivery",
    "commands", "__main__",
]  # fmt: skip
"""The folders and modules of `autograder/`: each imports from those before it alone."""


def layer(path: Path) -> str:
    inner = path.relative_to(ROOT / "autograder")
    return inner.parts[0] if len(inner.parts) > 1 else inner.stem


def arrows() -> Iterator[tuple[Path, str]]:
    """Yield each module of `autograder/`, with a folder or module that it imports from."""
    for path in MODULES:
        if place(path).startswith("autograder/"):
            for name in imported(path):
                if name[0] == "autograder" and len(name) > 1:
                    yield path, name[1]


def test_every_folder_and_module_has_its_place_in_the_order():
    known = {layer(path) for path in MODULES if place(path).startswith("autograder/")}
    assert known - {"__init__"} == set(ORDER) and len(ORDER) == len(set(ORDER))


def test_folders_import_only_from_those_before_them():
    against = {
        f"{place(path)} imports {target}"
        for path, target in arrows()
        if target in ORDER and ORDER.index(target) > ORDER.index(layer(path))
    }
    assert not against


INSIDE = "autograder/wall/inside/"


def test_code_inside_the_sandbox_imports_itself_and_python_only():
    outside = {
        (place(path), ".".join(name))
        for path in MODULES
        if place(path).startswith(INSIDE)
        for name in imported(path)
        if name[0] in GENERAL and name[:3] != ("autograder", "wall", "inside")
    }
    assert not outside


def test_other_code_imports_only_the_protocol_from_inside():
    """Allow the wall itself to perform steps on an author's own objects, by the same code."""
    found = {
        (layer(path), name[3])
        for path in MODULES
        if place(path).startswith("autograder/") and not place(path).startswith(INSIDE)
        for name in imported(path)
        if name[:3] == ("autograder", "wall", "inside") and len(name) > 3
    }
    allowed = {("wall", "protocol"), ("wall", "steps"), ("wall", "confine"), ("wall", "landlock")}
    assert found == allowed | {("judging", "protocol"), ("testing", "protocol")}


# Errors.


def is_an_error(node: ast.ClassDef, known: set[str]) -> bool:
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    return bool(bases & known) or any(base.endswith(("Error", "Exception")) for base in bases)


def test_every_error_is_in_one_module_and_in_its_tree():
    own = {name for name, each in vars(errors).items()
           if isinstance(each, type) and issubclass(each, BaseException)
           and each.__module__ == errors.__name__}  # fmt: skip
    elsewhere = {
        f"{place(path)}: {node.name}"
        for path in MODULES
        if place(path).startswith("autograder/") and not place(path).startswith(INSIDE)
        and path != ROOT / "autograder" / "errors.py"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef) and is_an_error(node, own)
    }  # fmt: skip
    assert not elsewhere
    named = set(re.findall(r"── (\w+) ", errors.__doc__ or ""))
    assert own <= named and len(own) >= 10


def test_few_modules_lie_outside_the_folders():
    assert len([*(ROOT / "autograder").glob("*.py")]) < 15


SAME_PART = {
    "__init__": "the contents of a folder",
    "backup": "a command, and its work",
    "grading": "a command, and the service's thread for the same work",
    "landlock": "the outer and the inner side of one kind of sandbox",
    "page": "a page and its template",
    "release": "the release, as a command makes it and as nbgrader's step",
    "serving": "a command, and its work",
    "site": "a folder of pages",
}
"""Base names of several modules of `autograder/`, each with the purpose that all of them share."""


def test_a_base_name_occurs_twice_only_for_the_same_part():
    names = [
        path.stem
        for path in MODULES
        if place(path).startswith("autograder/") and not {"template", "recipes"} & set(path.parts)
    ]
    assert {name for name in names if names.count(name) > 1} == set(SAME_PART)
