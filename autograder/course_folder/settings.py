"""Reads `course.toml`, the settings of a course."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from ..errors import CourseError
from ..model import HIDDEN, IN_NOTEBOOK, SANDBOXES, Limits, Visible
from ..packages import module_folder

NAME = "course.toml"
LAST, IN_TIME, BEST = "last", "in-time", "best"
T = TypeVar("T")


SHOWN = ("nothing", "exercises", "mistakes")
"""Parts of an attempt's feedback that the service may show before the due date, from least to
most."""


def _checked(fits: Callable[[Any], Any], wanted: str) -> Callable[[Any], Any]:
    """Return a reader of values that fit; its `ValueError` says which do."""

    def read(value: Any) -> Any:
        if not fits(value):
            raise ValueError(wanted)
        return value

    return read


def _matching(pattern: str, wanted: str) -> Callable[[Any], Any]:
    """Return a reader of texts that match a pattern as a whole."""
    known = re.compile(pattern, re.DOTALL)
    return _checked(lambda value: type(value) is str and known.fullmatch(value), wanted)


_text = _matching(r".*\S.*", 'a text in quotes, such as "…"')
_address = _matching(r"https?://[^\s/]\S*", 'an address, such as "https://…"')
_id = _matching(r"(?a:[A-Za-z0-9][\w.-]*)", 'letters, digits, "-" and "_", such as "statistics-1"')
_place = _matching(
    r"[\w.]+:\w+", 'a module in grading_tests/ and a name in it, such as "drawing:draw"'
)
_truth = _checked(lambda value: type(value) is bool, "true or false")
_whole = _checked(lambda value: type(value) is int and value > 0, "a whole number above 0")
_count = _checked(
    lambda value: type(value) is int and value >= 0, "a whole number, or 0 for no limit"
)


def _one_of(*words: str) -> Callable[[Any], Any]:
    return _checked(lambda value: value in words, " or ".join(f'"{word}"' for word in words))


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


def _files(value: Any) -> tuple[str, ...]:
    names = _texts(value)
    for name in names:
        if Path(name).is_absolute() or ".." in Path(name).parts or not name:
            raise ValueError("names of files and folders that do not begin with / and hold no ..")
    return names


_BY_TYPE: dict[type, Callable[[Any], Any]] = {
    bool: _truth,
    int: _whole,
    float: _number,
    str: _text,
    tuple: _texts,
}
"""Reader of a value, by the type of its default, if the field names no reader."""


def _key(read: Callable[[Any], Any], default: Any = MISSING, at: str = "") -> Any:
    """Return a field of the settings.

    Args:
        read: checks the value in the file; its `ValueError` says what a value must be.
        default: the value if the file has none.
        at: its key in the file, such as "checks.tables", if not the field's name.
    """
    return field(default=default, metadata={"read": read, "at": at})


@dataclass(frozen=True)
class AssignmentSettings:
    """The settings of one assignment.

    Attributes:
        tests: `HIDDEN`, or `IN_NOTEBOOK` if the notebook's own test cells give the points.
        data: files and folders beside the notebook that student code may read, by their names
            there; of a folder, all files below it.
    """

    tests: str = _key(_one_of(HIDDEN, IN_NOTEBOOK), HIDDEN)
    data: tuple[str, ...] = _key(_files, ())


@dataclass(frozen=True)
class AuditSettings:
    """The settings of the audit of the hidden tests.

    Attributes:
        attributes: pairs of attributes, of which a mutant may replace the first by the second.
        edges: the function that makes more edges of a solution, as `module:name`; "" for none.
        misconceptions: how many misconceptions each exercise must have at the least.
    """

    attributes: tuple[tuple[str, str], ...] = _key(_pairs, ())
    edges: str = _key(_place, "")
    misconceptions: int = _key(_count, 0)


@dataclass(frozen=True)
class LessonSettings:
    """The places of the lesson's text and names.

    Attributes:
        folder: the folder, in the course folder, that holds `lesson/` and `slides/`; "" for none.
        names: `module:function` in `grading_tests/` that takes the course folder and returns the
            names for the texts' code; "" for none.
    """

    folder: str = ""
    names: str = _key(_place, "")


@dataclass(frozen=True)
class ServiceSettings:
    """The rules of `autograder serve`.

    Attributes:
        attempts: how many of one student at one assignment are graded in all; 0 for any number.
        attempts_a_day: how many on one day; later ones wait for the next day.
        before_due: one of `SHOWN`. After the due date all is shown.
        counts: the attempt that gives the mark: the "best" or the "last".
        address: where students reach the service; "" if no page shall lead there.
    """

    attempts: int = _key(_count, 30)
    attempts_a_day: int = _key(_count, 10)
    before_due: str = _key(_one_of(*SHOWN), "mistakes")
    counts: str = _key(_one_of(BEST, LAST), LAST)
    address: str = _key(_address, "")


_VISIBLE, _LIMITS = Visible(), Limits()
_AUDIT, _LESSON, _SERVICE = AuditSettings(), LessonSettings(), ServiceSettings()


@dataclass(frozen=True)
class Settings:
    """The settings of a course, read from its `course.toml`.

    Attributes:
        id: the course's name in the exchange and in file names.
        title: its name for people.
        headings: the words that an exercise's heading may begin with.
        visible: packages and files for student code.
        sandbox: the kind of sandbox, or "auto" for one that works on the machine.
        limits: of a student process.
        submission_seconds: time limit of one notebook with all its tests.
        tables: the folder of the visible checks' tables, in the course folder or in one of the
            packages that student code imports; "" if each lies beside its notebook.
        drawing: `module:function` in `grading_tests/inside/` that draws an example; "" for none.
        core_only: whether exercises and tests that are marked as extra count for nothing.
        counts: the imported attempt that `autograder grade` grades: the `LAST`, the last that came
            `IN_TIME`, or the `BEST`.
        audit: the settings of the audit of the hidden tests.
        lesson: the places of the lesson's text and names.
        service: the rules of grading on arrival.
        wheel: files and folders of the course folder that make the package which students install,
            `pyproject.toml` among them; empty if there is none.
        extra: notebooks of the course folder that students get beside the assignments, ungraded.
        browser: the address of its browser edition; "" if there is none.
        assignments: pairs of an assignment's name and its settings.
    """

    id: str = _key(_id)
    title: str = _key(_text)
    headings: tuple[str, ...] = ("Exercise", "Question")
    visible: Visible = field(default=_VISIBLE, metadata={"at": "student_code"})
    sandbox: str = _key(_one_of(*SANDBOXES), SANDBOXES[0], at="sandbox.kind")
    limits: Limits = _LIMITS
    submission_seconds: float = _key(_number, 300.0, at="limits.submission_seconds")
    tables: str = _key(_text, "", at="checks.tables")
    drawing: str = _key(_place, "", at="grading.drawing")
    core_only: bool = _key(_truth, False, at="grading.core_only")
    counts: str = _key(_one_of(LAST, IN_TIME, BEST), LAST, at="grading.counts")
    audit: AuditSettings = _AUDIT
    lesson: LessonSettings = _LESSON
    service: ServiceSettings = _SERVICE
    wheel: tuple[str, ...] = _key(_files, (), at="bundle.wheel")
    extra: tuple[str, ...] = _key(_files, (), at="bundle.extra")
    browser: str = _key(_address, "", at="bundle.browser")
    assignments: tuple[tuple[str, AssignmentSettings], ...] = ()

    def of(self, assignment: str) -> AssignmentSettings:
        """Return the settings of an assignment, or of a part of it; by default the defaults."""
        return dict(self.assignments).get(assignment.partition("/")[0], AssignmentSettings())

    def table_of(self, course: Path, assignment: str) -> Path:
        """Return the path of an assignment's table of the visible checks."""
        if not self.tables:
            return course / "source" / assignment / "checks.json"
        return self.package_home(course) / self.tables / f"{assignment}.json"

    def package_home(self, course: Path) -> Path:
        """Return the folder that holds the package which students install, and the lesson's text.

        It is the course folder; for a copy of that, the folder that the package was installed from.
        """
        for name in self.visible.modules:
            if not (course / name).is_dir():
                return module_folder(name).parent
        return course

    @property
    def heading(self) -> re.Pattern[str]:
        """Pattern of an exercise's heading in a Markdown cell; its group is the title."""
        words = "|".join(map(re.escape, self.headings))
        return re.compile(rf"^##\s+(?:{words})\s+\d+\s*·\s*(.+)$", re.MULTILINE)


def load_settings(course: Path) -> Settings:
    """Read the course's `course.toml`. Raises `CourseError` with the line of an invalid setting.

    Without such a file all settings have their defaults, and the course has its folder's name.
    """
    path = course / NAME
    try:
        found = _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        name = course.resolve().name
        return Settings(name, name)
    data = tuple(
        (name, str(below.relative_to(course / "source" / name)), str(below))
        for name, _, file in found.visible.data
        for below in (files_below(Path(file)) if Path(file).is_dir() else [Path(file)])
    )
    return replace(found, visible=replace(found.visible, data=data))


def files_below(folder: Path) -> list[Path]:
    """Return the files in a folder and in those within, without notebooks and hidden files."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix != ".ipynb"
        and not any(
            part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts
        )
    )


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
    own_keys = [each for each in fields(Settings) if each.name != "assignments"]
    found = Settings(**{each.name: table.read(each) for each in own_keys})
    named = table.section("assignments")
    own = tuple(
        (name, named.section(name).read_all(AssignmentSettings())) for name in [*named.given]
    )
    table.refuse_the_rest()
    source = path.parent / "source"
    data = [(name, file, str(source / name / file)) for name, each in own for file in each.data]
    return replace(found, visible=replace(found.visible, data=tuple(data)), assignments=own)


class _Table:
    """A table of the file, whose keys are taken out one by one; the keys left are unknown ones.

    Args:
        path: the file, for messages.
        text: its content, in which lines are counted.
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
        self._sections: dict[str, _Table] = {}
        self.given = given

    def read(self, each: Field[Any]) -> Any:
        """Return the value of a field, or its default if it is not set."""
        *tables, key = (each.metadata.get("at") or each.name).split(".")
        if tables:
            return self.section(tables[0])._take(key, each)
        if is_dataclass(each.default):
            return self.section(key).read_all(each.default)
        return self._take(key, each)

    def read_all(self, defaults: T) -> T:
        """Return settings of the class of `defaults`, with the table's values in place."""
        # The paths of data files follow from the assignments.
        own = [e for e in fields(defaults) if (type(defaults), e.name) != (Visible, "data")]  # type: ignore[arg-type]
        return replace(defaults, **{each.name: self.read(each) for each in own})  # type: ignore[type-var]

    def _take(self, key: str, each: Field[Any]) -> Any:
        self._known.append(key)
        if key not in self.given:
            return each.default
        try:
            return (each.metadata.get("read") or _BY_TYPE[type(each.default)])(self.given.pop(key))
        except ValueError as error:
            raise CourseError(f"{self._place(key)}: {key} must be {error}") from None

    def section(self, key: str) -> _Table:
        """Return the table of that name, which may be missing."""
        if key not in self._sections:
            self._known.append(key)
            inner = self.given.pop(key, {})
            if type(inner) is not dict:
                name = ".".join([*self._name, key])
                raise CourseError(f"{self._place(key)}: {key} must be a table, as in `[{name}]`")
            self._sections[key] = _Table(self._path, self._text, inner, (*self._name, key))
        return self._sections[key]

    def refuse_the_rest(self) -> None:
        """Raise `CourseError` for a key that no field reads, here or in a table within."""
        for key in self.given:
            raise CourseError(
                f"{self._place(key)}: {key} is not known here (known: {', '.join(self._known)}). "
                "Correct it, or delete it."
            )
        for inner in self._sections.values():
            inner.refuse_the_rest()

    def _place(self, key: str) -> str:
        """Return the file and the line of a key: the first line up to which the text has the
        key."""
        lines = self._text.splitlines()
        first = 1
        for count in range(1, len(lines) + 1):
            try:
                given: Any = tomllib.loads("\n".join(lines[:count]))
            except tomllib.TOMLDecodeError:  # The value goes on in the next line.
                continue
            for part in self._name:
                given = given.get(part, {})
            if key in given:
                return f"{self._path}, line {first}"
            first = count + 1
        return str(self._path)
