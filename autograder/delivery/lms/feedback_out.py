"""Writes feedback pages into zips that a learning management system hands out.

Moodle's *Upload multiple feedback files in a zip* finds a student by the folder's name in the
download. Canvas's *Upload Submissions* finds the student and the file of a comment by the two
numbers in the file's name.
"""

from __future__ import annotations

import zipfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from ...authoring.release import run_nbgrader_for_each
from ...course_folder.assignments import graded_notebooks
from ...errors import CourseError
from ...faults import kept_at
from ...pipeline.classroom import course_directory
from ...texts import command
from .importing import read_record, stamp_in


@dataclass
class FeedbackOut:
    """The zips that were made, with the number of pages in each, and notes for a person."""

    zips: dict[Path, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def feedback_out(course: Path, name: str, output: Path) -> FeedbackOut:
    """Make the pages again, and put each under the name by which its system finds the student.

    Args:
        output: the folder for the zips, one for each system.

    Raises `CourseError` if no submission was imported, or none is graded.
    """
    record = read_record(course, name)
    if not record:
        raise CourseError(
            f"nothing was imported for {name}, so nobody knows where its feedback goes: run "
            f"{command('autograder', 'import', name, 'DOWNLOAD')} first. Pages for students are "
            "also what `nbgrader generate_feedback` writes."
        )
    failed = run_nbgrader_for_each(course, "generate_feedback", name, "--force")
    folders, notebooks = course_directory(course), graded_notebooks(course, name)
    made = FeedbackOut()
    by_form: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for student, origin in sorted(record.items()):
        if student in failed:
            made.notes.append(f"{student}: without a page: {failed[student]}")
            continue
        with kept_at(student) as fault:
            submitted = Path(folders.format_path(folders.submitted_directory, student, name))
            folder = Path(folders.format_path(folders.feedback_directory, student, name))
            paths = [folder / f"{notebook}.html" for notebook in notebooks]
            pages = [path for path in paths if path.exists()]
            if not pages:
                made.notes.append(f"{student}: not graded yet, so without a page")
                continue
            prefix = origin["prefix"] or f"{student}/"
            by_form[origin["form"]] += [(prefix + page.name, page.read_bytes()) for page in pages]
            if stamp_in(submitted, notebooks) != origin["stamp"]:
                note = "what was graded is not what was imported; the page is about that"
                made.notes.append(f"{student}: {note}")
        if fault.reason:
            made.notes.append(f"{student}: {fault.reason}")
    if not by_form:
        raise CourseError(
            f"no feedback page was made for what was imported: run "
            f"{command('autograder', 'grade', name)} first"
        )
    output.mkdir(parents=True, exist_ok=True)
    for form, of_all in by_form.items():
        path = output / f"feedback_{name}_{form}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for inner, content in of_all:
                archive.writestr(inner, content)
        made.zips[path] = len(of_all)
    return made
