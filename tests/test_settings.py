"""course.toml: invalid settings are reported with file, line and remedy; valid ones hold."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from autograder.course_folder.assignments import find_course
from autograder.course_folder.modules import course_object
from autograder.course_folder.settings import (
    IN_NOTEBOOK,
    NAME,
    AssignmentSettings,
    Settings,
    load_settings,
)
from autograder.errors import CourseError
from autograder.model import Limits, Visible
from autograder.wall import bubblewrap

ROOT = Path(__file__).resolve().parents[1]
HEAD = 'id = "statistics-1"\ntitle = "Statistics"\n'

# A right value and wrong ones of each key, by its table, as they are written in TOML.
TEXTS = ("3", '"one"', '["one", 2]')
PLACE = ("3", '"drawing"', '"drawing:"', '"a b:c"', '["drawing:draw"]')
NUMBER = ('"3"', "0", "-1", "true", "nan", "inf", "[3]")
WHOLE = (*NUMBER, "2.5")
FILES = (*TEXTS, '["/etc/passwd"]', '["../secret.csv"]', '["a/../../b"]', '[""]')
LIMITS = {int: ("7", WHOLE), float: ("7", NUMBER), tuple: ('["fit"]', TEXTS)}
KEYS: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
    "": {
        "id": ('"other"', ("3", '""', '"a/b"', '"../up"', '".hidden"', '["a"]')),
        "title": ('"A title"', ("3", '"  "', "true")),
        "headings": ('["Task"]', TEXTS),
    },
    "sandbox": {"kind": ('"landlock"', ("3", '""', '"none"', '["auto"]'))},
    "student_code": {
        "packages": ('["ipython"]', TEXTS),
        "modules": ("[]", TEXTS),
        "preload": ('["numpy"]', TEXTS),
    },
    "limits": {
        "submission_seconds": ("60", NUMBER),
        **{each.name: LIMITS[type(each.default)] for each in fields(Limits)},
    },
    "checks": {"tables": ('"tables"', ("3", '""', '["tables"]'))},
    "grading": {
        "drawing": ('"drawing:draw"', PLACE),
        "core_only": ("true", ("1", '"yes"', "[]")),
        "counts": ('"in-time"', ('"first"', "3")),
    },
    "audit": {
        "attributes": ('[["data", "grad"]]', ("3", '["data"]', '[["data"]]', '[["data", 3]]')),
        "edges": ('"misconceptions.edges:edges"', PLACE),
        "misconceptions": ("3", ("-1", '"3"', "true", "2.5")),
    },
    "lesson": {"folder": ('"course"', ("3", '""')), "names": ('"lesson:names"', PLACE)},
    "service": {
        "attempts": ("0", ("-1", '"3"', "true", "2.5")),
        "attempts_a_day": ("3", ("-1", '"3"', "true", "2.5")),
        "before_due": ('"nothing"', ('"all"', "3", "[]")),
        "counts": ('"best"', ('"first"', "3")),
        "address": ('"https://grades.example.org/"', ("3", '""', '"grades.example.org"')),
    },
    "bundle": {
        "wheel": ('["pyproject.toml", "package"]', FILES),
        "extra": ('["extra/more.ipynb"]', FILES),
        "browser": ('"https://courses.example.org/"', ("3", '""', '"courses.example.org"')),
    },
    "assignments.first": {
        "tests": (f'"{IN_NOTEBOOK}"', ('"both"', "3", "[]")),
        "data": ('["points.csv"]', FILES),
    },
}  # fmt: skip
RIGHT = [(table, key, right) for table, keys in KEYS.items() for key, (right, _) in keys.items()]
WRONG = [
    (table, key, wrong)
    for table, keys in KEYS.items()
    for key, (_, wrongs) in keys.items()
    for wrong in wrongs
]


def load(folder: Path, text: str) -> Settings:
    (folder / NAME).write_text(text, "utf-8")
    return load_settings(folder)


def with_key(table: str, key: str, value: str) -> tuple[str, int]:
    """Return a file that is right but for this key at most, and the line of the key."""
    head = [line for line in HEAD.splitlines() if table or not line.startswith(f"{key} =")]
    lines = ["# Comments and empty lines count.", "", *head]
    lines += [f"[{table}]"] if table else []
    lines += [f"{key} = {value}"]
    return "\n".join(lines) + "\n", len(lines)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(CourseError) as caught:
        load(folder, text)
    return str(caught.value)


def value_of(found: Settings, table: str, key: str) -> Any:
    """Return a setting by its table and key in the file."""
    parts = {
        "student_code": found.visible, "limits": found.limits, "audit": found.audit,
        "lesson": found.lesson, "service": found.service, "assignments.first": found.of("first"),
    }  # fmt: skip
    if (table, key) == ("sandbox", "kind"):
        return found.sandbox
    return getattr(found if key == "submission_seconds" else parts.get(table, found), key)


def written(value: str) -> Any:
    """Return a value that is written in TOML, with tuples for lists."""

    def frozen(item: Any) -> Any:
        return tuple(map(frozen, item)) if isinstance(item, list) else item

    return frozen(tomllib.loads(f"x = {value}")["x"])


@pytest.mark.parametrize(("table", "key", "value"), RIGHT)
def test_a_right_value_holds(tmp_path, table, key, value):
    text, _ = with_key(table, key, value)
    assert value_of(load(tmp_path, text), table, key) == written(value)


@pytest.mark.parametrize(("table", "key", "value"), WRONG)
def test_a_wrong_value_is_reported_with_its_line_and_the_valid_ones(tmp_path, table, key, value):
    text, line = with_key(table, key, value)
    seen = refused(tmp_path, text)
    assert seen.startswith(f"{tmp_path / NAME}, line {line}: {key} must be ")


@pytest.mark.parametrize("table", KEYS)
def test_an_unknown_key_is_reported_with_its_line_and_the_known_ones(tmp_path, table):
    text, line = with_key(table, "colour", '"red"')
    seen = refused(tmp_path, text)
    assert seen.startswith(f"{tmp_path / NAME}, line {line}: colour is not known here (known: ")
    assert seen.endswith("Correct it, or delete it.")
    assert set(KEYS[table]) <= set(known_keys(seen))


def known_keys(seen: str) -> list[str]:
    found = re.search(r"\(known: (.*)\)", seen)
    assert found is not None
    return found[1].split(", ")


def test_an_unknown_table_is_reported_with_its_line(tmp_path):
    seen = refused(tmp_path, HEAD + "\n[limit]\nmemory = 1\n")
    assert f"{NAME}, line 4: limit is not known here (known: id, title, headings, stud" in seen


@pytest.mark.parametrize("table", [table for table in KEYS if table])
def test_a_value_in_the_place_of_a_table_is_reported(tmp_path, table):
    seen = refused(tmp_path, f"{HEAD}{table} = 3\n")
    key = table.rpartition(".")[2]
    assert f"{NAME}, line 3: {key} must be a table, as in `[{table}]`" in seen


def test_a_dotted_or_inline_key_is_reported_with_its_line(tmp_path):
    assert f"{NAME}, line 3: seconds must be" in refused(tmp_path, HEAD + "limits.seconds = 0\n")
    assert f"{NAME}, line 3: seconds must be" in refused(
        tmp_path, HEAD + "limits = {seconds = 0}\n"
    )


def test_lists_of_many_lines_do_not_move_the_line(tmp_path):
    text = HEAD + '[limits]\ntrainings = [\n  "a",\n  "b"\n]\n# more\nseconds = [\n 3\n]\n'
    assert f"{NAME}, line 9: seconds must be" in refused(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (HEAD + "[limits\n", 3),
        (HEAD + "\nheadings = [\n", 4),
        (HEAD + 'id = "again"\n', 3),
        ('id = "a\n', 1),
        ("id: a\n", 1),
    ],
)
def test_invalid_toml_is_reported_with_its_line(tmp_path, text, line):
    seen = refused(tmp_path, text)
    assert seen.startswith(f"{tmp_path / NAME}: ") and seen.endswith("Mend it there.")
    assert f"line {line}" in seen or "end of document" in seen


def test_an_encoding_other_than_utf_8_is_reported_with_its_line(tmp_path):
    (tmp_path / NAME).write_bytes(HEAD.encode() + 'headings = ["Übung"]\n'.encode("latin-1"))
    with pytest.raises(CourseError, match=r"course\.toml, line 3: it is not in UTF-8\. Save it"):
        load_settings(tmp_path)


@pytest.mark.parametrize("key", ["id", "title"])
def test_a_missing_id_or_title_is_reported_with_the_line_to_add(tmp_path, key):
    text = "".join(line for line in HEAD.splitlines(True) if not line.startswith(key))
    seen = refused(tmp_path, text)
    assert seen == f'{tmp_path / NAME}: it says no {key}. Add a line `{key} = "…"` at its top.'


def test_without_the_file_the_course_has_its_folder_s_name(tmp_path):
    assert load_settings(tmp_path) == Settings(tmp_path.name, tmp_path.name)


DERIVED = """
headings = ["Aufgabe", "Frage"]
[student_code]
modules = ["helpers"]
[checks]
tables = "helpers/tables"
[assignments.first]
data = ["points.csv"]
[assignments.second]
data = []
"""


def test_paths_of_data_and_tables_and_the_pattern_of_headings(tmp_path):
    plain, found = load(tmp_path, HEAD), load(tmp_path, HEAD + DERIVED)
    data = str(tmp_path / "source" / "first" / "points.csv")
    assert found.visible.data == (("first", "points.csv", data),)
    assert found.of("second") == found.of("third") == AssignmentSettings()
    assert found.heading.findall("## Frage 3 · Warum?\n## Exercise 4 · No") == ["Warum?"]
    (tmp_path / "helpers" / "tables").mkdir(parents=True)
    assert found.table_of(tmp_path, "first") == tmp_path / "helpers/tables/first.json"
    assert plain.table_of(tmp_path, "first") == tmp_path / "source/first/checks.json"


def test_a_changed_file_is_read_again(tmp_path):
    assert load(tmp_path, HEAD).title == "Statistics"
    (tmp_path / NAME).write_text(HEAD.replace("Statistics", "Sums"), "utf-8")
    os.utime(tmp_path / NAME, ns=(1, 1))
    assert load_settings(tmp_path).title == "Sums"


@pytest.mark.parametrize(
    "visible",
    [
        Visible(packages=("no-such-package",)),
        Visible(modules=("no_such_package",)),
        Visible(modules=("no_such_package.inner",)),
    ],
)
def test_a_package_that_is_not_installed_is_reported(visible):
    with pytest.raises(CourseError, match=r"the package no.such.package.*, which course.toml lets"):
        bubblewrap.command([], visible)


def test_a_missing_data_file_is_reported(tmp_path):
    text = HEAD + '[assignments.first]\ndata = ["points.csv"]\n'
    with pytest.raises(CourseError, match=r"points\.csv is missing, which course\.toml names as"):
        bubblewrap.command([], load(tmp_path, text).visible)


def test_a_missing_module_or_name_is_reported(tmp_path):
    folder = tmp_path / "grading_tests"
    folder.mkdir()
    (folder / "drawing.py").write_text("import no_such_package\n")
    (folder / "pictures.py").write_text("")
    for place, why in (
        ("nothing:draw", "ModuleNotFoundError"),
        ("drawing:draw", "no_such_package"),
        ("pictures:draw", "AttributeError"),
    ):
        with pytest.raises(CourseError, match=f"course.toml names {place}, .*{why}"):
            course_object(tmp_path, place)


# docs/settings.md


def documented() -> dict[str, tuple[str, str]]:
    """Return the guide's entry on each key: its type and its default."""
    text = (ROOT / "docs" / "settings.md").read_text("utf-8")
    text = text.partition("\n## course.toml\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| (.+?) \| (.+?) \|", text, re.MULTILINE)
    return {key: (kind, default) for key, kind, default in rows}


def test_the_guide_lists_every_key_and_no_other():
    keys = {f"{table}.{key}".lstrip(".") for table, known in KEYS.items() for key in known}
    assert {key.replace(".NAME.", ".first.") for key in documented()} == keys


def test_the_guide_lists_the_right_defaults(tmp_path):
    found = load(tmp_path, HEAD)
    for name, (_, default) in documented().items():
        table, _, key = name.replace(".NAME.", ".first.").rpartition(".")
        if name in ("id", "title"):
            assert default == "has to be there"
        else:
            said = "" if default == "none" else written(default.strip("`"))
            assert said == value_of(found, table, key), name


def test_this_course_s_file_is_right():
    course = find_course(ROOT)
    settings = load_settings(course)
    assert settings.id == "autograd"
    assert course_object(course, settings.lesson.names)
    module = settings.drawing.partition(":")[0]
    assert (course / "grading_tests" / "inside" / f"{module}.py").exists()
