"""Names the course that tests are run on: the autograd course."""

from __future__ import annotations

from pathlib import Path

from autograder.course_folder.course import Course

COURSE = Course(Path(__file__).resolve().parents[1])
