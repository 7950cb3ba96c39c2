"""Reads `course.toml`, the settings of a course."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from ..errors import CourseError
from ..records import HIDDEN, IN_NOTEBOOK, SANDBOXES, Limits, VisibleFiles

NAME = "course.toml"
LAST, IN_TIME, BEST = "last", "in-time", "best"
"""The rules by which one of a student's attempts gives the mark."""
T = TypeVar("T")

AFTER_DUE, AT_ONCE = "after-due", "at-once"
"""When students see the right answers to questions, and why the others are wrong."""

SHOWN = ("nothing", "exercises", "mistakes")
"""Levels of the feedback that the service shows before the due date, from least to most."""


def _checked(fits: Callable[[Any], Any], wanted: str) -> Callable[[Any], Any]:
    """Return a function that returns a valid value unchanged, and raises `ValueError` for any
    other value.

    Args:
        fits: returns whether a value is valid.
        wanted: the error's message, which completes the sentence "KEY must be …".
    """

    def read(value: Any) -> Any:
        if not fits(value):
            raise ValueError(wanted)
        return value

    return read


def _matching(pattern: str, wanted: str) -> Callable[[Any], Any]:
    """Return a function as `_checked` does, for texts that match a regular expression as a whole.

    Args:
        wanted: the error's message, as for `_checked`.
    """
    compiled = re.compile(pattern, re.DOTALL)
    return _checked(lambda value: type(value) is str and compiled.fullmatch(value), wanted)


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


_PRIVATE = {"grading_tests", "solutions", "submitted", "autograded", "feedback", "downloaded",
            "gradebook.db"}  # fmt: skip
"""What the course folder holds that student code never sees."""
_OWN = {"", "dev", "proc", "tmp"}
"""Folders of the root folder in place of which a student process has its own."""


def may_be_data(name: str) -> bool:
    """Return whether `data` in course.toml may have this name: a path relative to the notebook that
    stays in the course folder and out of its private parts, or a whole path that does not begin
    with a folder which a student process has for itself."""
    if os.path.isabs(name):
        return os.path.normpath(name).split("/")[1] not in _OWN
    place = os.path.normpath(f"source/assignment/{name}")
    top = place.partition("/")[0]
    return bool(name) and place not in (".", "source") and top not in {"..", *_PRIVATE}


def _data(value: Any) -> tuple[str, ...]:
    if not all(map(may_be_data, _texts(value))):
        raise ValueError(
            'files and folders beside the notebook, elsewhere in the course folder with "../" in '
            "front, or with their whole path"
        )
    return _texts(value)


_BY_TYPE: dict[type, Callable[[Any], Any]] = {
    bool: _truth,
    int: _whole,
    float: _number,
    str: _text,
    tuple: _texts,
}
"""By type of a field's default: the function that reads a field without `read` in its metadata."""


def _key(read: Callable[[Any], Any], default: Any = MISSING, at: str = "") -> Any:
    """Return a dataclass field whose value comes from course.toml.

    Args:
        read: takes the value in the file and returns the field's value, or raises `ValueError` with
            a message that says what a value must be.
        default: the field's value if the file does not set it; without a default it must.
        at: the key in the file, such as "checks.tables"; by default the field's name.
    """
    return field(default=default, metadata={"read": read, "at": at})


@dataclass(frozen=True)
class AssignmentSettings:
    """The settings of one assignment.

    Attributes:
        tests: `HIDDEN`, or `IN_NOTEBOOK` if the notebook's own test cells give the points.
        data: files and folders that student code may read, relative to the folder of the source
            notebook, or whole paths; of a folder, all files below it.
    """

    tests: str = _key(_one_of(HIDDEN, IN_NOTEBOOK), HIDDEN)
    data: tuple[str, ...] = _key(_data, ())


@dataclass(frozen=True)
class AuditSettings:
    """The settings of the audit of the hidden tests.

    Attributes:
        attributes: pairs of attribute names; a mutant has the second in place of the first.
        edges: `module:function` in `grading_tests/` that makes further edges from a solution; ""
            for none.
        misconceptions: least number of misconceptions that each exercise must have.
    """

    attributes: tuple[tuple[str, str], ...] = _key(_pairs, ())
    edges: str = _key(_place, "")
    misconceptions: int = _key(_count, 0)


@dataclass(frozen=True)
class LessonSettings:
    """The settings of the lesson: the folder of its texts, and the names that their code may use.

    Attributes:
        folder: the folder, in the course folder, that holds `lesson/` and `slides/`; "" for none.
        names: `module:function` in `grading_tests/` that takes the `Course` and returns the names
            that code in the texts may use; "" for none.
    """

    folder: str = ""
    names: str = _key(_place, "")


@dataclass(frozen=True)
class ServiceSettings:
    """The rules of `autograder serve`.

    Attributes:
        attempts: greatest number of attempts of one student at one assignment that are graded; 0
            for no limit.
        attempts_a_day: greatest number of these attempts that are graded on one day; further ones
            wait for the next day; 0 for no limit.
        before_due: how much feedback is shown before the due date, one of `SHOWN`. After it
            everything is shown.
        counts: the attempt that gives the mark, `BEST` or `LAST`.
        address: the service's URL for students, to which pages link; "" for no link.
    """

    attempts: int = _key(_count, 30)
    attempts_a_day: int = _key(_count, 10)
    before_due: str = _key(_one_of(*SHOWN), "mistakes")
    counts: str = _key(_one_of(BEST, LAST), LAST)
    address: str = _key(_address, "")


@dataclass(frozen=True)
class MarkingSettings:
    """When students may ask for another look at an exercise.

    Attributes:
        asks: greatest number of exercises of an assignment for which a student may ask; 0 if nobody
            may.
        ask_days: days for which the student may ask after the mark was given and could be read.
    """

    asks: int = _key(_count, 3)
    ask_days: int = _key(_whole, 7)


_VISIBLE, _LIMITS = VisibleFiles(), Limits()
_AUDIT, _LESSON, _SERVICE = AuditSettings(), LessonSettings(), ServiceSettings()
_MARKING = MarkingSettings()


@dataclass(frozen=True)
class Settings:
    """The settings of a course, read from its `course.toml`.

    Attributes:
        id: the course's name in the exchange and in file names.
        title: the course's name on pages and in messages.
        headings: the words that may begin an exercise's heading.
        visible: packages and files that student code may read.
        sandbox: the kind of sandbox, one of `SANDBOXES`.
        limits: the limits of a student process.
        submission_seconds: time limit of one notebook in seconds, its tests included.
        tables: the folder of the visible checks' tables, relative to the course folder or to the
            folder of a package for student code; "" if each table lies beside its notebook.
        answers: when students see the right answers to questions, and why the others are wrong:
            `AFTER_DUE`, in the feedback, or `AT_ONCE`, in the visible checks.
        drawing: `module:function` in `grading_tests/remote/` that draws a public example; "" for
            none.
        core_only: whether exercises and tests that are marked as extra are left out.
        counts: the imported attempt that `autograder grade` grades: the `LAST`, the last that came
            `IN_TIME`, or the `BEST`.
        audit: the settings of the audit of the hidden tests.
        lesson: the lesson's texts and names.
        service: the rules of `autograder serve`.
        marking: when students may ask for another look.
        wheel: files and folders of the course folder from which the students' package is built,
            `pyproject.toml` included; empty if there is no package.
        extra: ungraded notebooks of the course folder that students get beside the assignments.
        browser: the URL of the browser edition; "" if there is none.
        assignments: pairs of an assignment's name and its settings.
    """

    id: str = _key(_id)
    title: str = _key(_text)
    headings: tuple[str, ...] = ("Exercise", "Question")
    visible: VisibleFiles = field(default=_VISIBLE, metadata={"at": "student_code"})
    sandbox: str = _key(_one_of(*SANDBOXES), SANDBOXES[0], at="sandbox.kind")
    limits: Limits = _LIMITS
    submission_seconds: float = _key(_number, 300.0, at="limits.submission_seconds")
    tables: str = _key(_text, "", at="checks.tables")
    answers: str = _key(_one_of(AFTER_DUE, AT_ONCE), AFTER_DUE, at="checks.answers")
    drawing: str = _key(_place, "", at="grading.drawing")
    core_only: bool = _key(_truth, False, at="grading.core_only")
    counts: str = _key(_one_of(LAST, IN_TIME, BEST), LAST, at="grading.counts")
    audit: AuditSettings = _AUDIT
    lesson: LessonSettings = _LESSON
    service: ServiceSettings = _SERVICE
    marking: MarkingSettings = _MARKING
    wheel: tuple[str, ...] = _key(_files, (), at="bundle.wheel")
    extra: tuple[str, ...] = _key(_files, (), at="bundle.extra")
    browser: str = _key(_address, "", at="bundle.browser")
    assignments: tuple[tuple[str, AssignmentSettings], ...] = ()

    def of(self, assignment: str) -> AssignmentSettings:
        """Return the settings of an assignment or of a part; the defaults if the file has none."""
        return dict(self.assignments).get(assignment.partition("/")[0], AssignmentSettings())

    @property
    def heading(self) -> re.Pattern[str]:
        """Regular expression for an exercise's heading in a Markdown cell; group 1 is the title."""
        words = "|".join(map(re.escape, self.headings))
        return re.compile(rf"^##\s+(?:{words})\s+\d+\s*·\s*(.+)$", re.MULTILINE)


def load_settings(folder: Path) -> Settings:
    """Return the settings in a course folder's `course.toml`, cached until the file changes.

    If the file is missing, all settings have their defaults, and id and title are the folder's
    name.

    Raises `CourseError` with the line of an invalid setting.
    """
    path = folder / NAME
    try:
        settings = _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        name = folder.resolve().name
        return Settings(name, name)
    # Folders of data files are listed at each call: files may come without a change of course.toml.
    data = tuple(
        (name, str(Path(key, below.relative_to(file))), str(below))
        for name, key, file in settings.visible.data
        for below in (files_below(Path(file)) if Path(file).is_dir() else [Path(file)])
    )
    return replace(settings, visible=replace(settings.visible, data=data))


def files_below(folder: Path) -> list[Path]:
    """Return the files in a folder and its subfolders, without notebooks, hidden files and
    caches."""
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
        values = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CourseError(f"{path}, line {line}: it is not in UTF-8. Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path}: {error}. Mend it there.") from error
    table = _Table(path, text, values)
    for needed in ("id", "title"):
        if needed not in values:
            raise CourseError(
                f'{path}: it says no {needed}. Add a line `{needed} = "…"` at its top.'
            )
    keys = [each for each in fields(Settings) if each.name != "assignments"]
    settings = Settings(**{each.name: table.read(each) for each in keys})
    section = table.section("assignments")
    assignments = tuple(
        (name, section.section(name).read_all(AssignmentSettings())) for name in [*section.values]
    )
    table.refuse_unread_keys()
    source = path.parent / "source"
    data = tuple(
        (name, file, os.path.normpath(source / name / file))
        for name, each in assignments
        for file in each.data
    )
    visible = replace(settings.visible, data=data)
    return replace(settings, visible=visible, assignments=assignments)


class _Table:
    """A table of course.toml. Reading a key removes it: the keys that are left when all settings
    have been read are unknown.

    Args:
        path: the file, for messages.
        text: the file's content, in which line numbers are counted.
        values: the table's keys and values.
        name: the parts of the table's name, such as `("assignments", "first")`; () at the top.
    """

    def __init__(
        self, path: Path, text: str, values: dict[str, Any], name: tuple[str, ...] = ()
    ) -> None:
        self._path = path
        self._text = text
        self._name = name
        self._known: list[str] = []
        self._sections: dict[str, _Table] = {}
        self.values = values

    def read(self, setting: Field[Any]) -> Any:
        """Return the value of a setting, or its default if the file does not set it.

        Args:
            setting: the dataclass field of the setting.
        """
        *tables, key = (setting.metadata.get("at") or setting.name).split(".")
        if tables:
            return self.section(tables[0])._take(key, setting)
        if is_dataclass(setting.default):
            return self.section(key).read_all(setting.default)
        return self._take(key, setting)

    def read_all(self, defaults: T) -> T:
        """Return a copy of the dataclass `defaults` with the values that the table sets."""
        # `VisibleFiles.data` is no key of the file: it is made from the assignments' settings.
        keys = [e for e in fields(defaults) if (type(defaults), e.name) != (VisibleFiles, "data")]  # type: ignore[arg-type]
        return replace(defaults, **{each.name: self.read(each) for each in keys})  # type: ignore[type-var]

    def _take(self, key: str, setting: Field[Any]) -> Any:
        self._known.append(key)
        if key not in self.values:
            return setting.default
        read = setting.metadata.get("read") or _BY_TYPE[type(setting.default)]
        try:
            return read(self.values.pop(key))
        except ValueError as error:
            raise CourseError(f"{self._location(key)}: {key} must be {error}") from None

    def section(self, key: str) -> _Table:
        """Return the table with this key; an empty one if the file has none."""
        if key not in self._sections:
            self._known.append(key)
            inner = self.values.pop(key, {})
            if type(inner) is not dict:
                name = ".".join([*self._name, key])
                raise CourseError(f"{self._location(key)}: {key} must be a table, as in `[{name}]`")
            self._sections[key] = _Table(self._path, self._text, inner, (*self._name, key))
        return self._sections[key]

    def refuse_unread_keys(self) -> None:
        """Raise `CourseError` if a key was not read, in this table or in a table inside it."""
        known = ", ".join(self._known)
        for key in self.values:
            raise CourseError(
                f"{self._location(key)}: {key} is not known here (known: {known}). "
                "Correct it, or delete it."
            )
        for inner in self._sections.values():
            inner.refuse_unread_keys()

    def _location(self, key: str) -> str:
        """Return the file and the line number of a key, for a message.

        tomllib reports no line numbers. So the first line of the text is parsed, then the first two
        lines and so on, until the result has the key.
        """
        lines = self._text.splitlines()
        first = 1  # the first line of the value that is read
        for count in range(1, len(lines) + 1):
            try:
                table: Any = tomllib.loads("\n".join(lines[:count]))
            except tomllib.TOMLDecodeError:  # The value continues in the next line.
                continue
            for part in self._name:
                table = table.get(part, {})
            if key in table:
                return f"{self._path}, line {first}"
            first = count + 1
        return str(self._path)
