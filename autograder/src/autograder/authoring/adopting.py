"""Adopts an existing nbgrader course: writes the configuration that the autograder needs, and
grades the solutions."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
import warnings
from collections.abc import Iterable
from contextlib import chdir
from dataclasses import dataclass, field
from importlib.metadata import packages_distributions
from os.path import dirname, normpath
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_solution

from ..course_folder.course import Course
from ..course_folder.own_notebooks import has_solution, parse_notebook, read_cells
from ..course_folder.settings import NAME as SETTINGS
from ..course_folder.settings import load_settings, may_be_data
from ..errors import CourseError
from ..files import write_atomic
from ..gradebook.writing import require_current
from ..judging.grader import Grader
from ..nbgrader_plugins.configuration import unsafe_settings
from ..pipeline.classroom import course_directory
from ..records import IN_NOTEBOOK
from ..texts import toml_table
from .otter import take_masters
from .release import copy_course, scratch_directories

_TEMPLATE = Path(__file__).with_name("template")
_CONFIG, _OURS = "nbgrader_config.py", "autograder_config.py"
_FAILS = ": its own solution does not pass it: "
_PYTHON = ("", "time", "timeit", "capture", "prun", "writefile")
"""Names of the cell magics after which the cell is Python code; "" stands for no cell magic."""


@dataclass
class AdoptionResult:
    """The outcome of adopting a course.

    Attributes:
        wrote: the files that were written or changed.
        open: problems that the instructor has to solve.
        seen: for each assignment, a line with its notebooks, and what they import and read.
        tests: the number of exercises that have a test cell.
    """

    wrote: list[Path] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    tests: int = 0


@dataclass
class _Uses:
    """The packages and data files that an assignment's notebooks use.

    Attributes:
        data: paths of the data files, relative to the notebooks' folder.
        packages: the distributions from which the notebooks import.
        missing: imported modules that are not installed.
        unsolved: the grade_ids of solution cells that hold no solution.
        defects: reasons why a notebook cannot be graded.
    """

    data: list[str] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    unsolved: list[str] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)


def adopt(folder: Path, title: str) -> AdoptionResult:
    """Write or extend course.toml and nbgrader's configuration, then grade each solution in a copy
    of the course.

    Args:
        title: the course's title, for a new course.toml.

    Raises `CourseError` if there are no notebooks in `source/`.
    """
    course = Course(folder.resolve())
    if (course.root / _CONFIG).exists():
        # Raises if nbgrader's configuration names other folders than source/ and its like, or if
        # the gradebook was made by an older nbgrader.
        require_current(course_directory(course).db_url)
    result = AdoptionResult(*take_masters(course.root))
    names = course.source_names()
    if not names and result.open:
        return result
    if not names:
        raise CourseError(
            f"{course} holds no source/ASSIGNMENT/NOTEBOOK.ipynb, as an nbgrader course does: name "
            "the folder that has source/ in it"
        )
    uses = {name: _uses(course, course.source / name) for name in names}
    result.open += [defect for used in uses.values() for defect in used.defects]
    _configure(course, result)
    _write_settings(course, title, uses, result)
    for name, used in uses.items():
        words = [", ".join(f"{each}.ipynb" for each in course.notebooks_of(name))]
        for what, found in (
            ("imports", used.packages), ("reads", used.data), ("not installed:", used.missing)
        ):  # fmt: skip
            words += [f"{what} {', '.join(sorted(found))}"] if found else []
        result.seen.append(f"source/{name}: {'; '.join(words)}")
        if used.unsolved:
            result.seen.append(
                f"source/{name}: no solution in {', '.join(used.unsolved)}: their tests decide, as "
                "in nbgrader, and nothing has tried them"
            )
    with TemporaryDirectory(prefix="autograder-adopt-") as scratch:
        _check_solutions(
            course, Path(scratch), [name for name in names if not uses[name].defects], result
        )
    return result


def _configure(course: Course, result: AdoptionResult) -> None:
    """Add the autograder's steps to nbgrader's configuration, before the course's own settings,
    which therefore override them."""
    text = (_TEMPLATE / _CONFIG).read_text("utf-8")
    path = course.root / _CONFIG
    if not path.exists():
        write_atomic(path, text.replace("COURSE_ID", _id(course)).encode(), 0o644)
        result.wrote.append(path)
        return
    before = path.read_text("utf-8")
    if unsafe_settings(course_directory(course).config) and _OURS not in before:
        lines = [line for line in text.splitlines() if not line.startswith("c.CourseDirectory")]
        write_atomic(course.root / _OURS, "\n".join([*lines, ""]).encode(), 0o644)
        head, rest = _split(before)
        line = f'load_subconfig("{_OURS}")  # noqa: F821\n'
        write_atomic(path, f"{head}{line}{rest}".encode(), 0o644)
        result.wrote += [course.root / _OURS, path]
    if wrong := unsafe_settings(course_directory(course).config):
        result.open.append(
            f"{path} has a setting of its own in the place of ours, so that `nbgrader autograde` "
            f"would run student code outside the sandbox: take {' and '.join(wrong)} out"
        )


def _split(config: str) -> tuple[str, str]:
    """Split a configuration file's text in two: up to its docstring and `__future__` imports, and
    the rest."""
    lines = config.splitlines(keepends=True)
    for node in ast.parse(config).body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_text and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            first = min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))
            return "".join(lines[: first - 1]), "".join(lines[first - 1 :])
    return f"{config}\n", ""


def _id(course: Course) -> str:
    """Return the course's id in nbgrader's configuration; if there is none, an id that is made from
    the folder's name."""
    own = course_directory(course).course_id if (course.root / _CONFIG).exists() else ""
    words = re.findall(r"[A-Za-z0-9_.-]+", own or course.root.name.lower())
    return "-".join(words).strip("-._") or "course"


def _write_settings(
    course: Course, title: str, uses: dict[str, _Uses], result: AdoptionResult
) -> None:
    """Write course.toml. If there is one already, add packages and data files where it lists
    none."""
    path = course.root / SETTINGS
    lines = ["# What the grader knows of this course: docs/settings.md has every key.", ""]
    lines += [f"id = {json.dumps(_id(course))}", f"title = {json.dumps(title, ensure_ascii=False)}"]
    before = ""
    if path.exists():
        load_settings(course.root)  # Raises if course.toml is invalid.
        before = path.read_text("utf-8")
    text = before or "\n".join([*lines, ""])
    packages = sorted(set().union(*(each.packages for each in uses.values())))
    text = _with_value(text, ("student_code",), "packages", packages)
    for name, used in uses.items():
        text = _with_value(text, ("assignments", name), "data", used.data)
        if not before and not course.has_hidden_tests(name):
            text = _with_value(text, ("assignments", name), "tests", IN_NOTEBOOK)
    if text != before:
        write_atomic(path, text.encode(), 0o644)
        result.wrote.append(path)


def _with_value(text: str, table: tuple[str, ...], key: str, value: str | list[str]) -> str:
    """Return the text of course.toml with a value added; comments and order stay.

    The text is returned as it is if it has the key already, or the value is empty.

    Args:
        table: the parts of the table's name, such as `("assignments", "first")`.
    """
    existing = tomllib.loads(text)
    for part in table:
        existing = existing.get(part, {})
    if not value or key in existing:
        return text
    line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
    head = toml_table(*table)
    if not existing:
        return f"{text.rstrip()}\n\n{head}\n{line}\n"
    return re.sub(rf"^{re.escape(head)}.*$", lambda found: f"{found[0]}\n{line}", text, flags=re.M)


def _uses(course: Course, folder: Path) -> _Uses:
    """Return the packages and data files that the notebooks in a folder use, or the course's header
    and footer notebooks.

    An imported module beside the notebooks counts as a data file, and its own imports count too.
    """
    uses, written, modules, shared, cells = _Uses(), set(), set(), set(), []
    around = [path for path in course.nbgrader.around if path and path.exists()]
    for path in [*around, *sorted(folder.glob("*.ipynb"))]:
        try:
            cells += [
                cell.source for cell in parse_notebook(path).cells if cell.cell_type == "code"
            ]
            uses.unsolved += [
                cell.metadata["nbgrader"]["grade_id"]
                for cell in read_cells(path)
                if cell.cell_type == "code" and is_solution(cell) and not has_solution(cell.source)
            ]
        except CourseError as error:
            uses.defects.append(str(error))
    beside = [
        path.relative_to(folder)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".ipynb" and "__pycache__" not in path.parts
    ]
    sources = list(cells)
    while sources:
        source = sources.pop()
        written |= set(re.findall(r"^%%writefile.*?(\w+)\.py\s*$", source, re.MULTILINE))
        modules |= _imports(source)
        for path in [*beside]:
            imported = path.suffix == ".py" and Path(path.parts[0]).stem in modules
            folders = "|".join(map(re.escape, path.parts[:-1])) or "$."
            # The code names the file, or a folder in which the file lies. A database in WAL mode
            # has its latest changes in a file beside it.
            name = re.escape(path.name.removesuffix("-wal"))
            named = rf"(?<!\w)(?:{name}(?!\w)|(?:{folders})[/'\"])"
            if imported or re.search(named, source):
                beside.remove(path)
                uses.data.append(str(path))
                if imported:
                    sources.append((folder / path).read_text("utf-8", "replace"))
        shared |= _shared(folder, source)
    local = {Path(name).parts[0].removesuffix(".py") for name in uses.data}
    for each in shared:
        local |= {path.stem for path in (folder / each, *(folder / each).glob("*.py"))}
    distributions = packages_distributions()
    for module in modules - written - local - set(sys.stdlib_module_names):
        if module in distributions:
            uses.packages.add(distributions[module][0])
        else:
            uses.missing.add(module)
    uses.data = sorted({*uses.data, *shared})
    return uses


def _shared(folder: Path, source: str) -> set[str]:
    """Return the existing files and folders elsewhere in the course folder that a cell's code names
    by a path relative to its notebook, such as `../data/words.txt`. In place of a path that is
    composed, such as `../data/{name}.txt`, the folder is returned.

    Args:
        folder: the folder of the notebooks.
    """
    found = set()
    for named in re.findall(r"""["']((?:\.\./){1,2}[^"'\n]+)""", source):
        path = normpath(named)
        path = path if (folder / path).exists() else dirname(path)
        if (folder / path).exists() and may_be_data(path):
            found.add(path)
    return found


def _imports(source: str) -> set[str]:
    """Return the names of the top-level modules that a cell's code imports."""
    magic = re.match(r"%%(\w+).*", source)
    if (magic[1] if magic else "") not in _PYTHON:
        return set()
    # Line magics and shell commands are replaced by `pass`, so that Python can parse the rest.
    text = re.sub(r"^([ \t]*)[%!].*$", r"\1pass", source, flags=re.MULTILINE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set(re.findall(r"^[ \t]*(?:import|from)[ \t]+(\w+)", text, re.MULTILINE))
    modules = {"matplotlib"} if re.search(r"^%matplotlib", source, re.MULTILINE) else set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module.partition(".")[0])
    return modules


def _check_solutions(
    course: Course, scratch: Path, names: Iterable[str], result: AdoptionResult
) -> None:
    """Release each assignment in a copy of the course, and grade its solution there."""
    copy = copy_course(course, scratch)
    config = course_directory(copy).config
    config.CourseDirectory.update(scratch_directories(scratch))
    nbgrader = NbGraderAPI(CourseDirectory(config=config), config=config)
    with Grader(copy, bytes(32)) as grader:
        for name in names:
            with chdir(scratch):
                release = nbgrader.generate_assignment(name)
            if not release["success"]:
                said = release.get("log", "") + release.get("error", "")
                result.open.append(f"nbgrader cannot release {name}: {_cause(said)}")
                continue
            for part in copy.parts_of(name):
                try:
                    exercises = copy.assignment(part).exercises.values()
                    result.tests += sum(not each.manual for each in exercises)
                    defects = grader.check_solution(part)
                except CourseError as error:
                    result.open.append(str(error).replace(f"{scratch}/", ""))
                else:
                    result.open += _by_cause(defects)


def _by_cause(defects: Iterable[str]) -> list[str]:
    """Return messages on defects without what they cost nobody, one for each cause."""
    tests: dict[str, list[str]] = {}
    for defect in defects:
        test, found, cause = defect.partition("\nWhere ")[0].partition(_FAILS)
        tests.setdefault(f"{found}{cause}", []).append(test)
    return [
        f"{first}{f' (and {len(more)} more)' if more else ''}{cause}"
        for cause, (first, *more) in tests.items()
    ]


def _cause(said: str) -> str:
    """Return the cause of a failure: notebook, name of the invalid value, and first error.

    Args:
        said: nbgrader's log.
    """
    raised = re.search(r"^ *[\w.]+(?:Error|Exception): (.+)", said, re.MULTILINE)
    if not raised:
        return said.strip().splitlines()[-1]
    [*_, notebook] = ["", *re.findall(r"Converting notebook .*/(.+)", said[: raised.start()])]
    what = re.search(r"On instance\['(\w+)'\]", said)
    return ": ".join(filter(None, (notebook, what and f"the {what[1]}", raised[1].strip())))
