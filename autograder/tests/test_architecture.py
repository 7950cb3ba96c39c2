"""The grader depends on no course, its folders import in one direction, and its errors are in one
module.

Forbidden imports are in lists at the beginning of each part, with the exceptions and their reasons.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder import errors

PROJECT = Path(__file__).resolve().parents[1]
SOURCES = {"autograder": PROJECT / "src", "coursecheck": PROJECT / "coursecheck" / "src"}
MODULES = sorted(
    path for package, folder in SOURCES.items() for path in (folder / package).rglob("*.py")
)
TESTS = sorted([*(PROJECT / "tests").glob("*.py"), *(PROJECT / "tests" / "helpers").rglob("*.py")])


def place(path: Path) -> str:
    """Return a file's path relative to the folder that holds its package."""
    folders = [*SOURCES.values(), PROJECT]
    folder = next(each for each in folders if path.is_relative_to(each))
    return path.relative_to(folder).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


# Imports.


def imported(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the imports anywhere in a module, each as the parts of an absolute name."""
    package = tuple(place(path).split("/")[:-1])
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (tuple(each.name.split(".")) for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            inner = (*base, *(node.module or "").split("."))
            for each in node.names:
                yield (*(part for part in inner if part), each.name)


@cache
def importable() -> set[str]:
    """Return what a module of the grader may import: Python's library, the grader's own packages,
    and what they declare that they require."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {canonicalize_name(Requirement(line).name) for line in lines}
    of_others = {
        module
        for module, distributions in packages_distributions().items()
        if names & {canonicalize_name(each) for each in distributions}
    }
    return {*sys.stdlib_module_names, *SOURCES} | of_others


def test_grader_imports_only_what_it_requires():
    """So it imports nothing of a course."""
    found = {
        (place(path), name[0])
        for path in MODULES
        if "recipes" not in path.parts  # texts for authors of courses
        for name in imported(path)
        if name[0] not in importable()
    }

    assert not found


def test_coursecheck_imports_nothing_of_the_grader():
    checks = [path for path in MODULES if place(path).startswith("coursecheck/")]

    assert checks
    assert not [path for path in checks for name in imported(path) if name[0] == "autograder"]


TOOLS = {"axe_playwright_python", "hypothesis", "lti1p3platform"}
"""Packages that only the tests import."""


def test_grader_s_tests_import_nothing_of_a_course():
    helpers = {path.stem for path in TESTS} | {"attacks", "tests"}  # the second: a relative import
    found = {
        (path.name, name[0])
        for path in TESTS
        for name in imported(path)
        if name[0] not in importable() | helpers | TOOLS
    }

    assert not found


def leading_out(path: Path) -> Iterator[str]:
    """Yield each expression in a test whose value is a path outside of the grader's folder."""
    depth = len(path.relative_to(PROJECT).parts)
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Subscript | ast.Attribute) and "__file__" in (
            text := ast.unparse(node)
        ):
            folders = re.search(r"\.parents\[(\d+)\]$", text)
            if text.count(".parent") > depth or (folders and int(folders[1]) >= depth):
                yield text


def test_no_test_of_the_grader_opens_a_notebook_of_this_course():
    """No test names a path outside the grader's folder, or looks for a course in the folder where
    pytest was started."""
    outside = [(path.name, text) for path in TESTS for text in leading_out(path)]
    searches = [
        (path.name, node.lineno)
        for path in TESTS
        if path.name != "test_find_course.py"  # which looks in folders of its own
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and ast.unparse(node) == "find_course()"
    ]

    assert TESTS
    assert not outside
    assert not searches


ORDER = [
    # Plain data, errors, and helpers that import no other module.
    "records", "texts", "log", "errors", "packages", "isolation", "caching", "files",
    # The course folder, and the sandbox.
    "course_folder", "sandbox", "testing",
    # One submission: its file, its verdicts, its marks.
    "notebook", "judging", "gradebook",
    # The terminal prints errors of the gradebook.
    "terminal",
    # Many submissions, and pages for people.
    "pipeline", "pages", "nbgrader_plugins",
    # Tools for authors and editions for students.
    "authoring", "publishing", "lms", "marking", "hub", "service", "backup",
    "commands", "__main__",
]  # fmt: skip
"""The folders and modules of `autograder/`: each imports only from those before it."""


def layer(path: Path) -> str:
    inner = path.relative_to(SOURCES["autograder"] / "autograder")
    return inner.parts[0] if len(inner.parts) > 1 else inner.stem


def arrows() -> Iterator[tuple[Path, str]]:
    """Yield pairs of a module of `autograder/` and a folder or module from which it imports."""
    for path in MODULES:
        if place(path).startswith("autograder/"):
            for name in imported(path):
                if name[0] == "autograder" and len(name) > 1:
                    yield path, name[1]


def test_the_import_order_lists_every_folder_and_module():
    known = {layer(path) for path in MODULES if place(path).startswith("autograder/")}

    assert sorted(known - {"__init__"}) == sorted(ORDER)


def test_a_folder_imports_only_from_folders_before_it_in_the_import_order():
    against = {
        f"{place(path)} imports {target}"
        for path, target in arrows()
        if target in ORDER and ORDER.index(target) > ORDER.index(layer(path))
    }
    assert not against


GUEST = "autograder/sandbox/guest/"


def test_the_guest_imports_only_itself_and_the_standard_library():
    outside = {
        (place(path), ".".join(name))
        for path in MODULES
        if place(path).startswith(GUEST)
        for name in imported(path)
        if name[0] in SOURCES and name[:3] != ("autograder", "sandbox", "guest")
    }
    assert not outside


def test_other_code_imports_only_the_protocol_from_guest():
    """Allow the sandbox itself to perform steps on an author's own objects, by the same code."""
    found = {
        (layer(path), name[3])
        for path in MODULES
        if place(path).startswith("autograder/") and not place(path).startswith(GUEST)
        for name in imported(path)
        if name[:3] == ("autograder", "sandbox", "guest") and len(name) > 3
    }
    allowed = {
        ("sandbox", "protocol"),
        ("sandbox", "steps"),
        ("sandbox", "confine"),
        ("sandbox", "landlock"),
    }
    assert found == allowed | {("judging", "protocol"), ("testing", "protocol")}


# Errors.


def is_an_error(node: ast.ClassDef, known: set[str]) -> bool:
    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    return bool(bases & known) or any(base.endswith(("Error", "Exception")) for base in bases)


def test_every_error_class_is_defined_in_errors_py_and_named_in_its_tree():
    own = {name for name, each in vars(errors).items()
           if isinstance(each, type) and issubclass(each, BaseException)
           and each.__module__ == errors.__name__}  # fmt: skip
    elsewhere = {
        f"{place(path)}: {node.name}"
        for path in MODULES
        if place(path).startswith("autograder/") and not place(path).startswith(GUEST)
        and place(path) != "autograder/errors.py"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef) and is_an_error(node, own)
    }  # fmt: skip
    named = set(re.findall(r"── (\w+) ", errors.__doc__ or ""))

    assert not elsewhere
    assert own <= named
    assert len(own) >= 10


def test_fewer_than_15_modules_lie_outside_the_folders():
    assert len([*(SOURCES["autograder"] / "autograder").glob("*.py")]) < 15


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
"""Names that several modules of `autograder/` have, each with the purpose that these modules share.
"""


def test_two_modules_with_one_name_belong_to_the_same_part_of_the_grader():
    names = [
        path.stem
        for path in MODULES
        if place(path).startswith("autograder/") and not {"template", "recipes"} & set(path.parts)
    ]
    assert {name for name in names if names.count(name) > 1} == set(SAME_PART)
