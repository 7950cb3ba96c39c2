"""Adopts an nbgrader course as it is: writes the grader's configuration for it, and tries it."""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import packages_distributions
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.apps.api import NbGraderAPI

from ..course_folder.assignments import (
    has_hidden_tests,
    load_assignment,
    notebooks_of,
    parts_of,
    read_cells,
)
from ..course_folder.settings import NAME as SETTINGS
from ..errors import CourseError
from ..files import write_whole
from ..judging.grader import Grader
from ..model import IN_NOTEBOOK
from ..pipeline.classroom import course_directory
from .release import copy_course, source_names

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
    """The imports and data files of an assignment's notebooks."""

    data: list[str] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)


def adopt(course: Path, title: str) -> Adopted:
    """Write course.toml and nbgrader's configuration if they are missing, and try each solution.

    Raises `CourseError` if there are no notebooks in `source/`.
    """
    course = course.resolve()
    names = source_names(course)
    if not names:
        raise CourseError(
            f"{course} holds no source/ASSIGNMENT/NOTEBOOK.ipynb, as an nbgrader course does: name "
            "the folder that has source/ in it"
        )
    done, uses = Adopted(), {}
    for name in names:
        try:
            uses[name] = _uses(course / "source" / name)
        except CourseError as error:
            done.open.append(str(error))
    _configure(course, done)
    if not (course / SETTINGS).exists():
        write_whole(course / SETTINGS, _settings(course, title, names, uses).encode(), 0o644)
        done.wrote.append(course / SETTINGS)
    for name, used in uses.items():
        words = [", ".join(f"{each}.ipynb" for each in notebooks_of(course, name))]
        for what, found in (
            ("imports", used.packages), ("reads", used.data), ("not installed:", used.missing)
        ):  # fmt: skip
            words += [f"{what} {', '.join(sorted(found))}"] if found else []
        done.seen.append(f"source/{name}: {'; '.join(words)}")
    with TemporaryDirectory(prefix="autograder-adopt-") as scratch:
        _try(course, Path(scratch), uses, done)
    return done


def _configure(course: Path, done: Adopted) -> None:
    """Add our steps to nbgrader's configuration, and keep its other settings."""
    text = (_TEMPLATE / _CONFIG).read_text("utf-8")
    own = course / _CONFIG
    if not own.exists():
        write_whole(own, text.replace("COURSE_ID", _id(course)).encode(), 0o644)
        done.wrote.append(own)
    elif "autograder" not in own.read_text("utf-8"):
        lines = [line for line in text.splitlines() if not line.startswith("c.CourseDirectory")]
        write_whole(course / _OURS, "\n".join([*lines, ""]).encode(), 0o644)
        before = own.read_text("utf-8").rstrip("\n")
        write_whole(own, f'{before}\n\nload_subconfig("{_OURS}")  # noqa: F821\n'.encode(), 0o644)
        done.wrote += [course / _OURS, own]


def _id(course: Path) -> str:
    """Return the course's id in nbgrader; by default one made from its folder's name."""
    own = course_directory(course).course_id if (course / _CONFIG).exists() else ""
    words = re.findall(r"[A-Za-z0-9_.-]+", own or course.resolve().name.lower())
    return "-".join(words).strip("-._") or "course"


def _settings(course: Path, title: str, names: Iterable[str], uses: dict[str, _Uses]) -> str:
    """Return the text of course.toml."""
    packages = sorted(set().union(*(each.packages for each in uses.values())))
    lines = ["# What the grader knows of this course: docs/settings.md has every key.", ""]
    lines += [f"id = {json.dumps(_id(course))}", f"title = {json.dumps(title, ensure_ascii=False)}"]
    if packages:
        lines += ["", "[student_code]", f"packages = {json.dumps(packages)}"]
    for name in names:
        key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
        own = [] if has_hidden_tests(course, name) else [f'tests = "{IN_NOTEBOOK}"']
        if name in uses and uses[name].data:
            own.append(f"data = {json.dumps(uses[name].data, ensure_ascii=False)}")
        lines += ["", f"[assignments.{key}]", *own] if own else []
    return "\n".join([*lines, ""])


def _uses(folder: Path) -> _Uses:
    """Return the imports and data files of a folder's notebooks, and of the modules beside them."""
    cells = [
        cell.source
        for path in sorted(folder.glob("*.ipynb"))
        for cell in read_cells(path, path.stat().st_mtime_ns)
        if cell.cell_type == "code"
    ]
    beside = [
        path.relative_to(folder)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".ipynb" and "__pycache__" not in path.parts
    ]
    found, made, modules, used = _Uses(), set(), set(), list(cells)
    while used:
        source = used.pop()
        made |= set(re.findall(r"^%%writefile.*?(\w+)\.py\s*$", source, re.MULTILINE))
        modules |= _imports(source)
        for path in [*beside]:
            imported = path.suffix == ".py" and Path(path.parts[0]).stem in modules
            if imported or re.search(rf"(?<!\w){re.escape(path.name)}(?!\w)", source):
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
    if (course / _OURS).exists():
        shutil.copy(course / _OURS, scratch)
    nbgrader = NbGraderAPI(course_directory(scratch))
    with Grader(scratch, bytes(32)) as grader:
        for name in names:
            made = nbgrader.generate_assignment(name)
            if not made["success"]:
                said = (made["log"] + made.get("error", "")).strip().splitlines()
                done.open.append(f"nbgrader cannot release {name}: {said[-1] if said else ''}")
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
