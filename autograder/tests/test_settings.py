"""Valid settings in course.toml are read; invalid ones are reported with file, line and remedy."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from settings_keys import HEAD, KEYS, load, value_of, written

from autograder.course_folder.course import Course
from autograder.course_folder.modules import course_object
from autograder.course_folder.settings import (
    NAME,
    AssignmentSettings,
    Settings,
    load_settings,
    may_be_data,
)
from autograder.errors import CourseError
from autograder.records import VisibleFiles
from autograder.sandbox import bubblewrap

RIGHT = [(table, key, right) for table, keys in KEYS.items() for key, (right, _) in keys.items()]
WRONG = [
    (table, key, wrong)
    for table, keys in KEYS.items()
    for key, (_, wrongs) in keys.items()
    for wrong in wrongs
]


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


@pytest.mark.parametrize(("table", "key", "value"), RIGHT)
def test_a_valid_value_in_course_toml_is_read(tmp_path, table, key, value):
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
def test_a_value_in_place_of_a_table_is_reported(tmp_path, table):
    seen = refused(tmp_path, f"{HEAD}{table} = 3\n")
    key = table.rpartition(".")[2]

    assert f"{NAME}, line 3: {key} must be a table, as in `[{table}]`" in seen


def test_a_dotted_or_inline_key_is_reported_with_its_line(tmp_path):
    assert f"{NAME}, line 3: seconds must be" in refused(tmp_path, HEAD + "limits.seconds = 0\n")
    assert f"{NAME}, line 3: seconds must be" in refused(
        tmp_path, HEAD + "limits = {seconds = 0}\n"
    )


def test_an_error_after_a_list_of_several_lines_is_reported_with_its_own_line(tmp_path):
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
    assert seen.startswith(f"{tmp_path / NAME}: ")
    assert seen.endswith("Mend it there.")
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


def test_without_course_toml_the_course_is_named_after_its_folder(tmp_path):
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
TABLE = "helpers/tables/first.json"


def test_settings_give_the_paths_of_data_and_the_pattern_of_headings(tmp_path):
    found = load(tmp_path, HEAD + DERIVED)
    data = str(tmp_path / "source" / "first" / "points.csv")
    assert found.visible.data == (("first", "points.csv", data),)
    assert found.of("second") == found.of("third") == AssignmentSettings()
    assert found.heading.findall("## Frage 3 · Warum?\n## Exercise 4 · No") == ["Warum?"]


@pytest.mark.parametrize(
    ("name", "may"),
    [("a.csv", True), ("in/a.csv", True), (".", True), ("../common", True), ("../../data/a", True),
     ("/srv/data/a.csv", True), ("/tmp/a", False), ("/", False), ("..", False), ("../..", False),
     ("../../../a", False), ("", False), ("../../grading_tests", False),
     ("../../gradebook.db", False), ("x/../../..", False)],
)  # fmt: skip
def test_data_is_in_the_course_folder_but_not_in_its_private_parts(name, may):
    assert may_be_data(name) == may


@pytest.mark.parametrize(
    ("text", "table"), [(HEAD, "source/first/checks.json"), (HEAD + DERIVED, TABLE)]
)
def test_a_table_is_beside_its_notebook_or_in_the_folder_that_is_set(tmp_path, text, table):
    (tmp_path / TABLE).parent.mkdir(parents=True)
    load(tmp_path, text)

    assert Course(tmp_path).table_of("first") == tmp_path / table


def test_a_changed_course_toml_is_read_again(tmp_path):
    assert load(tmp_path, HEAD).title == "Statistics"
    (tmp_path / NAME).write_text(HEAD.replace("Statistics", "Sums"), "utf-8")
    os.utime(tmp_path / NAME, ns=(1, 1))
    assert load_settings(tmp_path).title == "Sums"


@pytest.mark.subprocess
@pytest.mark.parametrize(
    "visible",
    [
        VisibleFiles(packages=("no-such-package",)),
        VisibleFiles(modules=("no_such_package",)),
        VisibleFiles(modules=("no_such_package.inner",)),
    ],
)
def test_a_package_that_is_not_installed_is_reported(visible):
    with pytest.raises(CourseError, match=r"the package no.such.package.*, which course.toml lets"):
        bubblewrap.command([], visible)


@pytest.mark.subprocess
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
            course_object(Course(tmp_path), place)
