"""Adopts an nbgrader course as it is: writes the grader's configuration for it, and tries it."""

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
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from ..course_folder.assignments import has_hidden_tests, load_assignment, notebooks_of, parts_of
from ..course_folder.nbgrader_settings import nbgrader_settings
from ..course_folder.own_notebooks import parsed, read_cells
from ..course_folder.settings import NAME as SETTINGS
from ..course_folder.settings import load_settings
from ..errors import CourseError
from ..files import write_whole
from ..gradebook.writing import require_current
from ..judging.grader import Grader
from ..model import IN_NOTEBOOK
from ..nbgrader_plugins.configuration import unsafe_settings
from ..pipeline.classroom import course_directory
from .release import copy_course, inside, source_names

_TEMPLATE = Path(__file__).with_name("template")
_CONFIG, _OURS = "nbgrader_config.py", "autograder_config.py"
_PYTHON = ("", "time", "timeit", "capture", "prun", "writefile")
"""Cell magics below which there is Python."""


@dataclass
class Adopted:
    """The outcome of adopting a course.

    Attributes:
        wrote: the files that were written or changed.
        seen: the content of each assignment, in words.
        open: points that a person has to decide or mend.
        tests: how many test cells there are.
    """

    wrote: list[Path] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    tests: int = 0


@dataclass
class _Uses:
    """The imports and data files of an assignment's notebooks, and why some cannot be graded."""

    data: list[str] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    flaws: list[str] = field(default_factory=list)


def adopt(course: Path, title: str) -> Adopted:
    """Write course.toml and nbgrader's configuration if they are missing, and try each solution.

    Raises `CourseError` if there are no notebooks in `source/`.
    """
    course = course.resolve()
    if (course / _CONFIG).exists():
        # Its configuration may name other folders than source/.
        require_current(course_directory(course).db_url)
    names = source_names(course)
    if not names:
        raise CourseError(
            f"{course} holds no source/ASSIGNMENT/NOTEBOOK.ipynb, as an nbgrader course does: name "
            "the folder that has source/ in it"
        )
    done, uses = Adopted(), {name: _uses(course, course / "source" / name) for name in names}
    done.open += [flaw for used in uses.values() for flaw in used.flaws]
    _configure(course, done)
    _write_settings(course, title, uses, done)
    for name, used in uses.items():
        words = [", ".join(f"{each}.ipynb" for each in notebooks_of(course, name))]
        for what, found in (
            ("imports", used.packages), ("reads", used.data), ("not installed:", used.missing)
        ):  # fmt: skip
            words += [f"{what} {', '.join(sorted(found))}"] if found else []
        done.seen.append(f"source/{name}: {'; '.join(words)}")
    with TemporaryDirectory(prefix="autograder-adopt-") as scratch:
        _try(course, Path(scratch), [name for name in names if not uses[name].flaws], done)
    return done


def _configure(course: Path, done: Adopted) -> None:
    """Add our steps to nbgrader's configuration, before the course's own settings, which win."""
    text = (_TEMPLATE / _CONFIG).read_text("utf-8")
    own = course / _CONFIG
    if not own.exists():
        write_whole(own, text.replace("COURSE_ID", _id(course)).encode(), 0o644)
        done.wrote.append(own)
        return
    before = own.read_text("utf-8")
    if unsafe_settings(course_directory(course).config) and _OURS not in before:
        lines = [line for line in text.splitlines() if not line.startswith("c.CourseDirectory")]
        write_whole(course / _OURS, "\n".join([*lines, ""]).encode(), 0o644)
        head, rest = _split(before)
        line = f'load_subconfig("{_OURS}")  # noqa: F821\n'
        write_whole(own, f"{head}{line}{rest}".encode(), 0o644)
        done.wrote += [course / _OURS, own]
    if wrong := unsafe_settings(course_directory(course).config):
        done.open.append(
            f"{own} has a setting of its own in the place of ours, so that `nbgrader autograde` "
            f"would run student code outside the sandbox: take {' and '.join(wrong)} out"
        )


def _split(config: str) -> tuple[str, str]:
    """Split a configuration before its first statement that is no docstring or future import."""
    lines = config.splitlines(keepends=True)
    for node in ast.parse(config).body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_text and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            first = min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))
            return "".join(lines[: first - 1]), "".join(lines[first - 1 :])
    return f"{config}\n", ""


def _id(course: Path) -> str:
    """Return the course's id in nbgrader; by default one made from its folder's name."""
    own = course_directory(course).course_id if (course / _CONFIG).exists() else ""
    words = re.findall(r"[A-Za-z0-9_.-]+", own or course.resolve().name.lower())
    return "-".join(words).strip("-._") or "course"


def _write_settings(course: Path, title: str, uses: dict[str, _Uses], done: Adopted) -> None:
    """Write course.toml; one that is there gets the packages and the data that it says nothing
    of."""
    path = course / SETTINGS
    lines = ["# What the grader knows of this course: docs/settings.md has every key.", ""]
    lines += [f"id = {json.dumps(_id(course))}", f"title = {json.dumps(title, ensure_ascii=False)}"]
    before = ""
    if path.exists():
        load_settings(course)  # It may have a mistake in it.
        before = path.read_text("utf-8")
    text = before or "\n".join([*lines, ""])
    packages = sorted(set().union(*(each.packages for each in uses.values())))
    text = _with(text, ("student_code",), "packages", packages)
    for name, used in uses.items():
        text = _with(text, ("assignments", name), "data", used.data)
        if not before and not has_hidden_tests(course, name):
            text = _with(text, ("assignments", name), "tests", IN_NOTEBOOK)
    if text != before:
        write_whole(path, text.encode(), 0o644)
        done.wrote.append(path)


def _with(text: str, table: tuple[str, ...], key: str, value: str | list[str]) -> str:
    """Return the text of course.toml with a value, unless it has the key or the value is empty."""
    there = tomllib.loads(text)
    for each in table:
        there = there.get(each, {})
    if not value or key in there:
        return text
    line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
    bare = [each if re.fullmatch(r"[A-Za-z0-9_-]+", each) else json.dumps(each, ensure_ascii=False)
            for each in table]  # fmt: skip
    head = f"[{'.'.join(bare)}]"
    if not there:
        return f"{text.rstrip()}\n\n{head}\n{line}\n"
    return re.sub(rf"^{re.escape(head)}.*$", lambda found: f"{found[0]}\n{line}", text, flags=re.M)


def _uses(course: Path, folder: Path) -> _Uses:
    """Return the imports and data files of a folder's notebooks, with the course's header and
    footer, and of the modules beside them."""
    found, made, modules, cells = _Uses(), set(), set(), []
    around = [path for path in nbgrader_settings(course).around if path and path.exists()]
    for path in [*around, *sorted(folder.glob("*.ipynb"))]:
        try:
            cells += [cell.source for cell in parsed(path).cells if cell.cell_type == "code"]
            read_cells(path, path.stat().st_mtime_ns)
        except CourseError as error:
            found.flaws.append(str(error))
    beside = [
        path.relative_to(folder)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".ipynb" and "__pycache__" not in path.parts
    ]
    used = list(cells)
    while used:
        source = used.pop()
        made |= set(re.findall(r"^%%writefile.*?(\w+)\.py\s*$", source, re.MULTILINE))
        modules |= _imports(source)
        for path in [*beside]:
            imported = path.suffix == ".py" and Path(path.parts[0]).stem in modules
            folders = "|".join(map(re.escape, path.parts[:-1])) or "$."
            named = rf"(?<!\w)(?:{re.escape(path.name)}(?!\w)|(?:{folders})[/'\"])"
            if imported or re.search(named, source):
                beside.remove(path)
                found.data.append(str(path))
                if imported:
                    used.append((folder / path).read_text("utf-8", "replace"))
    there = {Path(name).parts[0].removesuffix(".py") for name in found.data}
    known = packages_distributions()
    for module in modules - made - there - set(sys.stdlib_module_names):
        if module in known:
            found.packages.add(known[module][0])
        else:
            found.missing.add(module)
    found.data.sort()
    return found


def _imports(source: str) -> set[str]:
    """Return the top-level modules that a cell imports."""
    magic = re.match(r"%%(\w+).*", source)
    if (magic[1] if magic else "") not in _PYTHON:
        return set()
    text = re.sub(r"^([ \t]*)[%!].*$", r"\1pass", source, flags=re.MULTILINE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set(re.findall(r"^[ \t]*(?:import|from)[ \t]+(\w+)", text, re.MULTILINE))
    found = {"matplotlib"} if re.search(r"^%matplotlib", source, re.MULTILINE) else set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def _try(course: Path, scratch: Path, names: Iterable[str], done: Adopted) -> None:
    """Release each assignment in a copy of the course, and grade its solution there."""
    copy_course(course, scratch)
    config = course_directory(scratch).config
    config.CourseDirectory.update(inside(scratch))
    nbgrader = NbGraderAPI(CourseDirectory(config=config), config=config)
    with Grader(scratch, bytes(32)) as grader:
        for name in names:
            with chdir(scratch):
                made = nbgrader.generate_assignment(name)
            if not made["success"]:
                said = made.get("log", "") + made.get("error", "")
                done.open.append(f"nbgrader cannot release {name}: {_cause(said)}")
                continue
            for part in parts_of(scratch, name):
                try:
                    exercises = load_assignment(scratch, part).exercises.values()
                    done.tests += sum(not each.manual for each in exercises)
                    flaws = grader.rehearse(part)
                except CourseError as error:
                    done.open.append(str(error).replace(f"{scratch}/", ""))
                else:
                    done.open += ["\n".join(flaw.splitlines()[:-1]) for flaw in flaws]


def _cause(said: str) -> str:
    """Return the notebook and the first error in nbgrader's log, and the rejected value's name."""
    raised = re.search(r"^ *[\w.]+(?:Error|Exception): (.+)", said, re.MULTILINE)
    if not raised:
        return said.strip().splitlines()[-1]
    [*_, notebook] = ["", *re.findall(r"Converting notebook .*/(.+)", said[: raised.start()])]
    what = re.search(r"On instance\['(\w+)'\]", said)
    return ": ".join(filter(None, (notebook, what and f"the {what[1]}", raised[1].strip())))
