"""The commands of the guide for one's own notebooks grade a course of nbgrader as written."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from nbgrader_courses import read_text
from programs import run_program

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "nbgrader.md").read_text("utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
WEEK = """%% notebook week
%% solution half
half = 0.5
%% test test_half 2
assert half == 0.5
"""


@pytest.mark.full
@pytest.mark.subprocess
def test_the_commands_of_the_page_grade_a_course_of_nbgrader(tmp_path):
    (tmp_path / "week.txt").write_text(WEEK)
    week = read_text(tmp_path / "week.txt")
    week.write(tmp_path / "source" / "week")
    week.write(tmp_path / "submitted" / "ada" / "week")
    bin_folder = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}

    [block] = COMMANDS
    line = ["bash", "-euo", "pipefail", "-c", block.replace("ASSIGNMENT", "week")]
    done = run_program(line, cwd=tmp_path, env=environment)

    assert "ada: 2 / 2" in done.stdout + done.stderr
    assert (tmp_path / "feedback/ada/week/week.html").is_file()
