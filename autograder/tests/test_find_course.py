"""Commands never use a course folder that a student may have written."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from programs import run_program
from tested_course import COURSE

from autograder.authoring.new_course import make_course
from autograder.commands.main import main
from autograder.course_folder.course import find_course
from autograder.errors import CourseError


def looks_like_course(folder: Path) -> Path:
    (folder / "source").mkdir(parents=True)
    (folder / "course.toml").write_text('id = "x"\n')
    return folder


@pytest.mark.parametrize(
    "place",
    ["submitted/s1/value", "autograded/s1/value", "feedback/s1/value", "attempts/files/0a",
     "imported/value/replaced/s1/1", "withdrawn/s1/submitted/value", "downloads/value/s1", "zoo"],
)  # fmt: skip
def test_a_course_inside_another_course_is_refused_unless_a_person_names_it(
    tmp_path, monkeypatch, place
):
    course = looks_like_course(tmp_path / "course")
    inner = looks_like_course(course / place)
    for here in (inner, inner / "source"):
        monkeypatch.chdir(here)
        with pytest.raises(CourseError) as refused:
            find_course()
        assert str(inner) in str(refused.value)
        assert "--course" in str(refused.value)
    with pytest.raises(CourseError, match="is no course of its own"):
        find_course(inner / "source")
    assert find_course(inner).root == inner, "a person has named it"
    (course / "course.toml").unlink()  # A course of nbgrader's alone.
    if place not in ("zoo", "downloads/value/s1"):
        with pytest.raises(CourseError, match="is no course of its own"):
            find_course()


def test_a_new_course_is_not_made_inside_another(tmp_path):
    with pytest.raises(CourseError, match="a course of yours belongs outside"):
        make_course(looks_like_course(tmp_path / "course") / "zoo", "Zoo")
    assert not (tmp_path / "course" / "zoo").exists()


def verbs(
    group: click.Group = main, *before: str
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from verbs(command, *before, name)
        else:
            yield (*before, name), command


def arguments(command: click.Command, folder: Path) -> Iterator[str]:
    """Yield a value for each argument and required option that the command's types accept."""
    for each in command.params:
        if not each.required and each.name != "notebook":
            continue
        if isinstance(each, click.Option):
            yield each.opts[0]
        if isinstance(each.type, click.Choice):
            yield str(each.type.choices[0])
        elif isinstance(each.type, click.Path) and not each.type.file_okay:
            yield str(folder / "not there")
        elif isinstance(each.type, click.Path):
            yield str(folder / ("new.tar.gz" if command.name == "backup" else "value.ipynb"))
        else:
            yield "1" if each.type in (click.INT, click.FLOAT) else "value"


@pytest.mark.full
@pytest.mark.subprocess
def test_new_processes_import_nothing_from_the_current_folder(tmp_path):
    """Use the name of a module for a file in a submission."""
    for name in ("multiprocessing", "random", "pickle", "os"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a')\n")
    code = (
        "import os; from concurrent.futures import ProcessPoolExecutor\n"
        "from autograder.pipeline.workers import spawning\n"
        "before = dict(os.environ)\n"
        "print(ProcessPoolExecutor(1, spawning()).submit(os.getpid).result() > 0)\n"
        "print(os.environ == before)"
    )
    done = run_program([sys.executable, "-P", "-c", code], cwd=tmp_path)

    assert done.stdout.split() == ["True", "True"]
    assert not (tmp_path / "ran").exists()


WITHOUT_COURSE = {"new", "adopt"}
"""Commands that need no existing course: one creates a course, the other takes its folder as an
argument."""


@pytest.mark.subprocess
@pytest.mark.parametrize("verb", [each for each, _ in verbs()], ids=" ".join)
def test_no_command_runs_code_of_a_course_that_a_student_handed_in(tmp_path, monkeypatch, verb):
    outer = looks_like_course(tmp_path / "course")
    submission = outer / "submitted" / "mallory" / "value"
    marker = tmp_path / "ran"
    hostile = f"open({str(marker)!r}, 'a').write('her code ran')\n"
    for folder in ("source/value", "release/value"):
        (submission / folder).mkdir(parents=True)
        shutil.copy(COURSE.root / folder / "value.ipynb", submission / folder)
    shutil.copy(COURSE.root / "release/value/value.ipynb", submission)
    shutil.copy(COURSE.root / "course.toml", submission)
    (submission / "grading_tests").mkdir()
    for name in ("nbgrader_config.py", "grading_tests/test_value.py", "grading_tests/conftest.py"):
        (submission / name).write_text(hostile)
    monkeypatch.chdir(submission)
    [command] = [command for each, command in verbs() if each == verb]
    before = {*tmp_path.rglob("*")}
    done = CliRunner().invoke(main, [*verb, *arguments(command, submission)])
    assert not marker.exists(), done.output
    if verb[0] not in WITHOUT_COURSE:
        assert done.exit_code in (1, 2), done.output
        said = "".join(done.output.split())
        assert f"{submission}isnocourseofitsown,sinceitliesin{outer}" in said, done.output
    assert {*tmp_path.rglob("*")} == before
