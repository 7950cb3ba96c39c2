"""The log follows a mark from the file's bytes to the gradebook."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest
from click.testing import CliRunner
from programs import run_program
from small_school import KEY, make_school

from autograder import log
from autograder.commands.main import main
from autograder.course_folder.course import Course
from autograder.course_folder.settings import load_settings
from autograder.judging.grader import Grader
from autograder.pipeline.classroom import Classroom
from autograder.pipeline.one_submission import grade_file
from autograder.pipeline.workers import ManyProcesses

pytestmark = pytest.mark.subprocess

LINE = re.compile(r"[\d-]+ [\d:,]+ (\d+) (DEBUG|INFO) (autograder\.[\w.]+): (.*)")


ENDLESS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass\n"
"""A cell that cannot be interrupted."""


@pytest.fixture(scope="module")
def grader(course) -> Iterator[Grader]:
    """Return a grader with a limit of one second for a cell."""
    settings = load_settings(course)
    with Grader(Course(course), KEY, replace(settings.limits, cell_seconds=1.0)) as warm:
        yield warm


@pytest.fixture
def answers(course) -> dict[str, str]:
    """Return one exercise with a known mistake, on which another builds; and a cell that never
    ends."""
    exercises = Course(course).assignment("value").exercises
    right = {each.id: each.solution for each in exercises.values()}
    return {
        **right,
        "add": exercises["add"].mistakes[0].source,
        "mul": f"SECRET_OF_A_STUDENT = 1\n{ENDLESS}",
    }


@pytest.fixture
def lines(grader, submission, answers, caplog) -> list[tuple[str, str]]:
    """Return the log of the grading of a notebook: the logger's last name, and the message."""
    path = submission(answers)
    with caplog.at_level(logging.DEBUG, "autograder"):
        grade_file(grader, path, "value")
    return [(each.name.rpartition(".")[2], each.getMessage()) for each in caplog.records]


def position(lines: list[tuple[str, str]], module: str, pattern: str) -> int:
    """Return the number of a line; fail if there is none."""
    for number, (name, message) in enumerate(lines):
        if name == module and re.search(pattern, message):
            return number
    raise AssertionError(f"{module}: {pattern}\n" + "\n".join(map(str, lines)))


def test_the_log_has_a_line_for_each_stage_in_order(lines):
    stages = [
        ("one_submission", r"value\.ipynb: read \d+ bytes in \d\.\d+ s; mended: nothing"),
        ("notebook_session", r"own session: started, 2 cells"),
        ("notebook_session", r"own session: cell \d+ \(add\) ran in \d\.\d+ s"),
        ("public_examples", r"add: \d public examples observed"),
        ("notebook_session", r"own session: cell \d+ \(mul\) lost after \d+\.\d+ s: timeout"),
        ("suite_runs", r"add: test test_\S+ did not pass in \d\.\d+ s, as submitted"),
        ("suite_runs", r"mul: test test_\S+ not run: timeout"),
        ("suite_runs", r"trace: next failed ones replaced, since earlier exercises "),
        ("notebook_session", r"session with add, mul: solution of mul ran"),
        ("suite_runs", r"trace: failed ones replaced \(replaced: add, mul\): (\d+) of \1 tests"),
        ("one_notebook", r"add: graded as submitted: "),
        ("diagnosis", r"add: played add\.\w+: fits"),
        ("explaining", r"add: diagnosis: add\.\w+"),
        ("one_notebook", r"add: (partial|failed), [\d.]+ points of \d"),
        ("grader", r"value: judged, with \d+\.\d of 60 s left"),
    ]
    found = [position(lines, *stage) for stage in stages]
    assert found == sorted(found)


def test_the_log_has_a_line_for_every_hidden_test(lines, grader):
    suite = grader.prepare("value").suite
    for exercise in suite.exercises:
        for verdict in suite.criteria(exercise):
            position(lines, "suite_runs", f"^{exercise}: test {re.escape(verdict.test)} ")


def test_no_line_of_the_log_holds_a_student_s_text_or_the_seed(lines, grader, submission, answers):
    _, report = grade_file(grader, submission(answers), "value")
    seen = "\n".join(message for _, message in lines)
    assert "SECRET_OF_A_STUDENT" not in seen
    assert "while True" not in seen
    assert report.seed not in seen


def test_the_log_is_off_by_default(grader, submission, answers, caplog):
    grade_file(grader, submission(answers), "value")
    assert not [each for each in caplog.records if each.name.startswith("autograder")]


def test_the_command_logs_to_stderr_and_prints_to_stdout(course, submission, answers):
    command = [sys.executable, "-m", "autograder", "--log-level", "debug", "check", "--json"]
    done = run_program([*command, "--course", course, submission(answers)])
    assert '"score"' in done.stdout
    assert "autograder." not in done.stdout
    found = [LINE.fullmatch(line) for line in done.stderr.splitlines()]
    assert len([line for line in found if line]) > 50
    assert {line[2] for line in found if line} == {"DEBUG", "INFO"}


@pytest.fixture
def level():
    """Restore the package's logger."""
    logger = logging.getLogger("autograder")
    before, handlers = logger.level, logger.handlers[:]
    yield
    logger.setLevel(before)
    logger.handlers[:] = handlers


@pytest.mark.full
def test_workers_log_to_stderr_in_the_same_format_as_the_command(tmp_path, capfd, level):
    school = make_school(tmp_path)
    log.set_level("info")
    with ManyProcesses(Course(school), KEY, 1) as many, Classroom(Course(school), many) as room:
        list(room.grade([("value", "student_1")]))
    lines = [line for line in map(LINE.fullmatch, capfd.readouterr().err.splitlines()) if line]
    assert {line[2] for line in lines} == {"INFO"}
    seen = {(line[3].rpartition(".")[2], line[4]): line[1] for line in lines}
    [graded] = [seen[key] for key in seen if key[1].startswith("value of student_1: taken up")]
    assert seen["one_notebook", "add: passed, 4 points of 4"] == graded
    assert seen["classroom", "value of student_1: stored"] != graded


def test_control_characters_in_a_name_are_escaped_in_the_log(capsys, level, monkeypatch):
    # pytest would keep the line as it is, which cannot be sent from one process to another.
    monkeypatch.setattr(logging.getLogger("autograder"), "propagate", False)
    log.set_level("info")
    logging.getLogger("autograder.test").info("%s: read", "a\nb\x1b[2J\udcff")
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith("a\\nb\\x1b[2J\\xff: read")
    assert log.level() == "info"


def test_an_unknown_log_level_is_refused(level):
    done = CliRunner().invoke(main, ["--log-level", "loud", "doctor"])
    assert done.exit_code == 2
    assert "'loud' is not one of" in done.output
