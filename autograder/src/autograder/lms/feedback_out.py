"""Packs feedback pages into zips that a learning management system distributes to students.

Moodle's *Upload multiple feedback files in a zip* finds a page's student by the name that the
student's folder had in the download, Canvas's *Upload Submissions* by the two numbers in the name
of the submitted file.
"""

from __future__ import annotations

import zipfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from ..authoring.release import run_nbgrader_for_each
from ..course_folder.course import Course
from ..errors import CourseError
from ..isolation import isolated_errors
from ..pipeline.classroom import course_directory
from ..texts import command
from .importing import read_record, stamp_in


@dataclass
class FeedbackZips:
    """The result of exporting feedback.

    Attributes:
        zips: by path of a written zip: the number of pages in it.
        notes: sentences on pages that are missing or outdated.
    """

    zips: dict[Path, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def export_feedback(course: Course, name: str, output: Path) -> FeedbackZips:
    """Write a zip of feedback pages for each system from which submissions were imported.

    Pages that do not show the present marks are rendered again. In a zip, a page has the name by
    which the system finds the page's student.

    Args:
        name: the assignment.
        output: the folder for the zips, created if missing.

    Raises `CourseError` if no submission was imported, or none is graded.
    """
    record = read_record(course, name)
    if not record:
        raise CourseError(
            f"nothing was imported for {name}, so nobody knows where its feedback goes: run "
            f"{command('autograder', 'import', name, 'DOWNLOAD')} first. Pages for students are "
            "also what `nbgrader generate_feedback` writes."
        )
    failed = run_nbgrader_for_each(course.root, "generate_feedback", name)
    folders, notebooks = course_directory(course), course.graded_notebooks(name)
    result = FeedbackZips()
    by_form: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for student, origin in sorted(record.items()):
        if student in failed:
            result.notes.append(f"{student}: without a page: {failed[student]}")
            continue
        with isolated_errors(student) as fault:
            submitted = Path(folders.format_path(folders.submitted_directory, student, name))
            folder = Path(folders.format_path(folders.feedback_directory, student, name))
            paths = [folder / f"{notebook}.html" for notebook in notebooks]
            pages = [path for path in paths if path.exists()]
            if not pages:
                result.notes.append(f"{student}: not graded yet, so without a page")
                continue
            prefix = origin["prefix"] or f"{student}/"
            by_form[origin["form"]] += [(prefix + page.name, page.read_bytes()) for page in pages]
            if stamp_in(submitted, notebooks) != origin["stamp"]:
                note = "what was graded is not what was imported; the page is about that"
                result.notes.append(f"{student}: {note}")
        if fault.reason:
            result.notes.append(f"{student}: {fault.reason}")
    if not by_form:
        raise CourseError(
            f"no feedback page was made for what was imported: run "
            f"{command('autograder', 'grade', name)} first"
        )
    output.mkdir(parents=True, exist_ok=True)
    for form, pages_of_form in by_form.items():
        path = output / f"feedback_{name}_{form}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for inner, content in pages_of_form:
                archive.writestr(inner, content)
        result.zips[path] = len(pages_of_form)
    return result
