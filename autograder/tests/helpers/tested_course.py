"""Names the course that the grader's tests use: the small one in `autograder/tests/course`."""

from __future__ import annotations

from pathlib import Path

from autograder.course_folder.course import Course

COURSE = Course(Path(__file__).resolve().parents[1] / "course")
