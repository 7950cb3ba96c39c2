"""Copies the courses in `courses`, as folders that nbgrader works in."""

from __future__ import annotations

import shutil
from pathlib import Path

from autograder.course_folder.assignments import find_course

COURSES = Path(__file__).parent / "courses"


def copy_other(name: str, folder: Path) -> Path:
    """Copy a course into a folder, with this course's settings of nbgrader."""
    unwanted = shutil.ignore_patterns(".auto*", "*.db", "__pycache__", "answers")
    shutil.copytree(COURSES / name, folder, dirs_exist_ok=True, ignore=unwanted)
    text = (find_course(COURSES) / "nbgrader_config.py").read_text("utf-8")
    (folder / "nbgrader_config.py").write_text(text.replace('"autograd"', f'"{name}"'), "utf-8")
    return folder
