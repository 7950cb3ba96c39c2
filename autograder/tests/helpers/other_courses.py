"""Copies the courses in `courses`, as folders that nbgrader works in."""

from __future__ import annotations

import shutil
from pathlib import Path

from autograder.packages import module_folder

COURSES = Path(__file__).resolve().parents[1] / "courses"
TEMPLATE = module_folder("autograder") / "authoring" / "template" / "nbgrader_config.py"


def copy_other(name: str, folder: Path) -> Path:
    """Copy a course of `courses` into a folder, with the nbgrader configuration of a new course."""
    unwanted = shutil.ignore_patterns(".auto*", "*.db", "__pycache__", "answers")
    shutil.copytree(COURSES / name, folder, dirs_exist_ok=True, ignore=unwanted)
    text = TEMPLATE.read_text("utf-8").replace("COURSE_ID", name)
    (folder / "nbgrader_config.py").write_text(text, "utf-8")
    return folder
