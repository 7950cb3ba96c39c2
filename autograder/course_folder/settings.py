"""Reads `course.toml`: what one course wants otherwise than another."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import CourseError
from ..model import HIDDEN, IN_NOTEBOOK, SANDBOXES, Limits, Visible
from ..packages import module_folder

NAME = "course.toml"
_VISIBLE, _LIMITS = Visible(), Limits()


@dataclass(frozen=True)
class AssignmentSettings:
    """The settings of one assignment.

    Attributes:
        tests: `HIDDEN`, or `IN_NOTEBOOK` where the notebook's own test cells give the points.
        data: files beside the notebook that student code may read, by their names there.
    """

    tests: str = HIDDEN
    data: tuple[str, ...] = ()


@dataclass(frozen=True)
class AuditSettings:
    """The settings of the audit of the hidden tests.

    Attributes:
        attributes: which attribute a mutant may put in the place of another.
    """

    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class LessonSettings:
    """Where the lesson's text is.

    Attributes:
        folder: the folder, in the course folder, that holds `lesson/` and `slides/`; "" for none.
        names: `module:function` in `grading_tests/` that takes the course folder and returns what
            the texts' code may use; "" for nothing.
    """

    folder: str = ""
    names: str = ""


SHOWN = ("nothing", "exercises", "mistakes")
"""What the service may show of an attempt before the due date, from least to most."""


@dataclass(frozen=True)
class ServiceSettings:
    """The rules of `autograder serve`.

    Attributes:
        attempts: how many of one student at one assignment are graded in all; 0 for any number.
        attempts_a_day: how many on one day; what comes after waits for the next.
        before_due: one of `SHOWN`. After the due date all is shown.
        counts: which attempt the mark is of: the "best" or the "last".
    """

    attempts: int = 30
    attempts_a_day: int = 10
    before_due: str = "mistakes"
    counts: str = "last"


_AUDIT, _LESSON, _SERVICE = AuditSettings(), LessonSettings(), ServiceSettings()


@dataclass(frozen=True)
class Settings:
    """The settings of a course, as its `course.toml` says.

    Attributes:
        id: the course's name in the exchange and in file names.
        title: its name for people.
        headings: the words that an exercise's heading may begin with.
        visible: what student code may import.
        sandbox: the kind of sandbox, or "auto" for one that works on the machine.
        limits: what a student process may use.
        submission_seconds: what one notebook may take with all its tests.
        tables: the folder of the visible checks' tables, in the course folder or in one of the
            packages that student code imports; "" where each lies beside its notebook.
        drawing: `module:function` in `grading_tests/` that draws a public example; "" for none.
        core_only: whether exercises and tests that are marked as extra count for nothing.
        audit: what the audit of the hidden tests goes by.
        lesson: where the lesson's text is.
        service: the rules of grading on arrival.
        wheel: files and folders of the course folder that make the package which students install,
            `pyproject.toml` among them; empty where there is none.
        extra: notebooks of the course folder that students get beside the assignments, ungraded.
        browser: the address at which its browser edition is; "" where it is nowhere.
        assignments: pairs of an assignment's name and its settings.
    """

    id: str
    title: str
    headings: tuple[str, ...] = ("Exercise", "Question")
    visible: Visible = _VISIBLE
    sandbox: str = SANDBOXES[0]
    limits: Limits = _LIMITS
    submission_seconds: float = 300.0
    tables: str = ""
    drawing: str = ""
    core_only: bool = False
    audit: AuditSettings = _AUDIT
    lesson: LessonSettings = _LESSON
    service: ServiceSettings = _SERVICE
    wheel: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    browser: str = ""
    assignments: tuple[tuple[str, AssignmentSettings], ...] = ()

    def of(self, assignment: str) -> AssignmentSettings:
        """The settings of one assignment: the defaults where nothing is set."""
        return dict(self.assignments).get(assignment, AssignmentSettings())

    def table_of(self, course: Path, assignment: str) -> Path:
        """Where an assignment's table of the visible checks is."""
        if not self.tables:
            return course / "source" / assignment / "checks.json"
        return self.package_home(course) / self.tables / f"{assignment}.json"

    def package_home(self, course: Path) -> Path:
        """The folder that holds the package which students install, and the lesson's text.

        It is the course folder; for a copy of that, where the package was installed from.
        """
        for name in self.visible.modules:
            if not (course / name).is_dir():
                return module_folder(name).parent
        return course

    @property
    def heading(self) -> re.Pattern[str]:
        """Matches an exercise's heading in a Markdown cell; its group is the title."""
        words = "|".join(map(re.escape, self.headings))
        return re.compile(rf"^##\s+(?:{words})\s+\d+\s*·\s*(.+)$", re.MULTILINE)


def load_settings(course: Path) -> Settings:
    """Read the course's `course.toml`. Raises `CourseError`, with the line, for what is wrong.

    Without such a file all settings have their defaults, and the course has its folder's name.
    """
    path = course / NAME
    try:
        return _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        name = course.resolve().name
        return Settings(name, name)


@lru_cache
def _read(path: Path, stamp: int) -> Settings:
    content = path.read_bytes()
    try:
        text = content.decode("utf-8")
        given = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CourseError(f"{path}, line {line}: it is not in UTF-8. Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path}: {error}. Mend it there.") from error
    table = _Table(path, text, given)
    for needed in ("id", "title"):
        if needed not in given:
            raise CourseError(
                f'{path}: it says no {needed}. Add a line `{needed} = "…"` at its top.'
            )
    found = Settings(
        id=table.take("id", _id),
        title=table.take("title", _text),
        headings=table.take("headings", _texts, Settings.headings),
    )
    code = table.section("student_code")
    found = replace(
        found,
        visible=Visible(
            packages=code.take("packages", _texts, Visible.packages),
            modules=code.take("modules", _texts, ()),
            preload=code.take("preload", _texts, ()),
        ),
    )
    code.refuse_the_rest()
    sandbox = table.section("sandbox")
    found = replace(found, sandbox=sandbox.take("kind", _one_of(*SANDBOXES), found.sandbox))
    sandbox.refuse_the_rest()
    limits = table.section("limits")
    seconds = limits.take("submission_seconds", _number, found.submission_seconds)
    given_limits = {
        each.name: limits.take(each.name, _TAKEN[type(each.default)], each.default)
        for each in fields(Limits)
    }
    found = replace(found, submission_seconds=seconds, limits=Limits(**given_limits))
    limits.refuse_the_rest()
    checks = table.section("checks")
    found = replace(found, tables=checks.take("tables", _text, found.tables))
    checks.refuse_the_rest()
    grading = table.section("grading")
    found = replace(
        found,
        drawing=grading.take("drawing", _place, ""),
        core_only=grading.take("core_only", _truth, False),
    )
    grading.refuse_the_rest()
    audit = table.section("audit")
    found = replace(found, audit=AuditSettings(audit.take("attributes", _pairs, ())))
    audit.refuse_the_rest()
    lesson = table.section("lesson")
    own_lesson = LessonSettings(lesson.take("folder", _text, ""), lesson.take("names", _place, ""))
    lesson.refuse_the_rest()
    bundle = table.section("bundle")
    found = replace(
        found,
        lesson=own_lesson,
        wheel=bundle.take("wheel", _files, ()),
        extra=bundle.take("extra", _files, ()),
        browser=bundle.take("browser", _address, ""),
    )
    bundle.refuse_the_rest()
    service = table.section("service")
    rules = ServiceSettings(
        attempts=service.take("attempts", _count, _SERVICE.attempts),
        attempts_a_day=service.take("attempts_a_day", _count, _SERVICE.attempts_a_day),
        before_due=service.take("before_due", _one_of(*SHOWN), _SERVICE.before_due),
        counts=service.take("counts", _one_of("best", "last"), _SERVICE.counts),
    )
    found = replace(found, service=rules)
    service.refuse_the_rest()
    assignments = table.section("assignments")
    data: list[tuple[str, str, str]] = []
    each_own: list[tuple[str, AssignmentSettings]] = []
    for name in [*assignments.given]:
        each = assignments.section(name)
        own = AssignmentSettings(
            each.take("tests", _one_of(HIDDEN, IN_NOTEBOOK), HIDDEN), each.take("data", _files, ())
        )
        each_own.append((name, own))
        data += [(name, file, str(path.parent / "source" / name / file)) for file in own.data]
        each.refuse_the_rest()
    visible = replace(found.visible, data=tuple(data))
    found = replace(found, visible=visible, assignments=tuple(each_own))
    table.refuse_the_rest()
    return found


class _Table:
    """A table of the file, whose keys are taken out one by one; what is left is unknown.

    Args:
        path: the file, for messages.
        text: what it holds, in which lines are counted.
        given: the table's keys and values.
        name: the table's own name in parts, such as `("assignments", "first")`; empty at the top.
    """

    def __init__(
        self, path: Path, text: str, given: dict[str, Any], name: tuple[str, ...] = ()
    ) -> None:
        self._path = path
        self._text = text
        self._name = name
        self._known: list[str] = []
        self.given = given

    def take(self, key: str, read: Callable[[Any], Any], default: Any = None) -> Any:
        """The value of `key`, read; `default` where it is not set."""
        self._known.append(key)
        if key not in self.given:
            return default
        try:
            return read(self.given.pop(key))
        except ValueError as error:
            raise CourseError(f"{self._place(key)}: {key} must be {error}") from None

    def section(self, key: str) -> _Table:
        self._known.append(key)
        inner = self.given.pop(key, {})
        if type(inner) is not dict:
            name = ".".join([*self._name, key])
            raise CourseError(f"{self._place(key)}: {key} must be a table, as in `[{name}]`")
        return _Table(self._path, self._text, inner, (*self._name, key))

    def refuse_the_rest(self) -> None:
        for key in self.given:
            raise CourseError(
                f"{self._place(key)}: {key} is not known here (known: {', '.join(self._known)}). "
                "Correct it, or delete it."
            )

    def _place(self, key: str) -> str:
        """The file and the line in which the key stands: after it, the file has the key."""
        lines = self._text.splitlines()
        first = 1
        for count in range(1, len(lines) + 1):
            try:
                given: Any = tomllib.loads("\n".join(lines[:count]))
            except tomllib.TOMLDecodeError:  # A value goes on in the next line.
                continue
            for part in self._name:
                given = given.get(part, {})
            if key in given:
                return f"{self._path}, line {first}"
            first = count + 1
        return str(self._path)


def _text(value: Any) -> str:
    if type(value) is not str or not value.strip():
        raise ValueError('a text in quotes, such as "…"')
    return value


def _address(value: Any) -> str:
    if type(value) is not str or not re.fullmatch(r"https?://[^\s/]\S*", value):
        raise ValueError('an address, such as "https://…"')
    return value


def _id(value: Any) -> str:
    """Folders and files get their names from it."""
    if type(value) is not str or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", value, re.ASCII):
        raise ValueError('letters, digits, "-" and "_", such as "statistics-1"')
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if type(value) is not list or not all(type(each) is str for each in value):
        raise ValueError('a list of texts in quotes, such as ["…", "…"]')
    return tuple(value)


def _pairs(value: Any) -> tuple[tuple[str, str], ...]:
    if type(value) is not list or not all(type(each) is list and len(each) == 2 for each in value):
        raise ValueError('a list of pairs, such as [["…", "…"]]')
    return tuple((_text(one), _text(other)) for one, other in value)


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value < 1e9:
        raise ValueError("a number above 0")
    return float(value)


def _whole(value: Any) -> int:
    if type(value) is not int or value <= 0:
        raise ValueError("a whole number above 0")
    return value


_TAKEN: dict[type, Callable[[Any], Any]] = {int: _whole, float: _number, tuple: _texts}
"""What a limit must be, by the type of its default."""


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError("true or false")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a whole number, or 0 for no limit")
    return value


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(" or ".join(f'"{word}"' for word in words))
        return str(value)

    return read


def _place(value: Any) -> str:
    if type(value) is not str or not re.fullmatch(r"\w+:\w+", value):
        raise ValueError('a module in grading_tests/ and a name in it, such as "drawing:draw"')
    return value


def _files(value: Any) -> tuple[str, ...]:
    names = _texts(value)
    for name in names:
        if Path(name).is_absolute() or ".." in Path(name).parts or not name:
            raise ValueError("names of files and folders that do not begin with / and hold no ..")
    return names
