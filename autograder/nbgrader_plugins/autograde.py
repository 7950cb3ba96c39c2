"""The nbgrader and nbconvert plugins that `nbgrader_config.py` names, one class for each step."""

from __future__ import annotations

import atexit
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    DeduplicateIds,
    NbGraderPreprocessor,
    OverwriteCells,
    SaveAutoGrades,
)
from nbgrader.utils import is_grade, is_locked, is_task

from ..course_folder.assignments import find_course, is_ordinary, name_of, place_of
from ..course_folder.key import course_key
from ..course_folder.nbgrader_settings import nbgrader_settings
from ..course_folder.versions import versions
from ..errors import UnreadableNotebook
from ..gradebook import history
from ..gradebook.marks_of_notebook import marks_of
from ..gradebook.writing import Result, patiently, record, set_time
from ..judging.grader import Grader
from ..judging.ordinary import copy_own_files, run_ordinary
from ..model import IN_NOTEBOOK, UNJUDGED
from ..notebook.intake import (
    copy_receipts,
    leave_out_broken_names,
    read_plain_file,
    refuse_links,
    refuse_shared_file,
    submitted_at,
)
from ..notebook.reading import NOTES, read_notebook
from ..notebook.recognising import refuse_another
from ..notebook.restoring import (
    Restored,
    blank,
    restore,
    template,
)
from ..notebook.verdicts import without_marking_guides
from ..pipeline.classroom import stamp_of
from ..pipeline.one_submission import grade_restored

Resources = dict[str, Any]
_STAMP = "autograder_submission"
_UNREADABLE = "autograder_unreadable"
_GRADING = "autograder_grading"
COURSE = "autograder_course"
"""Key of the resources that holds the course folder; without it, the course is searched for."""
_UNJUDGED_CELLS = (
    "%(assignment)s/%(notebook)s.ipynb of %(student)s: the test cells %(cells)s give no points by "
    "themselves, since there is no grading_tests/test_%(assignment)s.py: they ran in the student's "
    "own process, which can claim anything. Mark them in the formgrader, write hidden tests as "
    'docs/authors.md shows, or have course.toml say tests = "in-notebook" for the assignment, as '
    "docs/nbgrader.md explains it."
)


@cache
def shared_grader(course: Path) -> Grader:
    """Return the grader of this process: kept warm, and ended with the process."""
    grader = Grader(course, course_key(course))
    atexit.register(grader.close)
    return grader


@cache
def flaws_of(course: Path, name: str) -> list[str]:
    """Return the hidden tests that the model solution does not pass; rehearsed once in this
    process."""
    return shared_grader(course).rehearse(name)


class SubmissionFolders(CourseDirectory):
    """nbgrader's view of the course while it grades: of a submission, the notebook alone.

    nbgrader itself copies every file beside the notebook, through links as well, and would return
    the copies with the feedback. The exchange's own files are copied by `copy_receipts`.
    """

    def get_existing_timestamp(self, dest_path: str) -> datetime | None:
        return submitted_at(Path(dest_path))


class SubmissionExporter(NotebookExporter):
    """Reads a notebook in any state; one that cannot be graded becomes an empty notebook."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        converter = self.parent
        if isinstance(converter, Autograde):
            folders = converter.coursedir
            traits = {name: getattr(folders, name) for name in folders.trait_names(config=True)}
            traits["ignore"] = ["*", ".*"]
            leave_out_broken_names(converter.assignments, self.log)
            converter.coursedir = SubmissionFolders(parent=folders.parent, **traits)
            self._ignored = [*folders.ignore, "*.ipynb"]

    def from_filename(
        self, filename: str, resources: Resources | None = None, **keywords: Any
    ) -> tuple[Any, Resources]:
        resources = resources or {}
        path = Path(filename)
        output: tuple[Any, Resources]
        if isinstance(self.parent, Autograde) and not self.parent._sanitizing:
            # The first pass's output, with its notes.
            output = super().from_filename(filename, resources, **keywords)
            return output
        try:
            refuse_links(path.parent)
            refuse_shared_file(path, find_course())
            content = read_plain_file(path, levels=2)
            resources["submission"] = stamp_of(content)
            notebook = read_notebook(content, str(path))
        except UnreadableNotebook as error:
            self.log.error(str(error))
            resources["unreadable"] = str(error).replace(f"{path.parent}/", "")
            resources.setdefault("submission", stamp_of(resources["unreadable"].encode()))
            notebook = nbformat.v4.new_notebook()
        if isinstance(self.parent, Autograde):
            about = resources["nbgrader"]
            target = Path(self.parent._format_dest(about["assignment"], about["student"]))
            target.mkdir(parents=True, exist_ok=True)
            copy_receipts(path.parent, target)
            if submitted_at(path.parent) is None:
                # nbgrader itself leaves the time of an earlier submission there.
                with Gradebook(about["db_url"]) as gradebook:
                    set_time(gradebook, about["assignment"], about["student"], None)
            if is_ordinary(find_course(), about["assignment"]):
                folders = self.parent.coursedir
                own = folders.format_path(folders.source_directory, ".", about["assignment"])
                copy_own_files(Path(own), target, self._ignored)
        output = self.from_notebook_node(notebook, resources, **keywords)
        return output


class RestoreCells(OverwriteCells):
    """Puts the course's own cells back: each once, in its place, locked ones unedited.

    An ordinary notebook is left to nbgrader's own step.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        course, about = find_course(), resources["nbgrader"]
        if is_ordinary(course, about["assignment"]):
            if "unreadable" in resources:
                raise UnreadableNotebook(resources["unreadable"])
            nb, resources = DeduplicateIds(parent=self.parent).preprocess(nb, resources)
            overwritten: tuple[NotebookNode, Resources] = super().preprocess(nb, resources)
            return overwritten
        name = name_of(course, about["assignment"], about["notebook"])
        known = template(course, name)
        where = f"{resources['nbgrader']['notebook']}.ipynb"
        try:
            refuse_another(course, nb, where, name)
            restored = restore(nb, known, where)
        except UnreadableNotebook as error:
            reason = resources.get("unreadable") or str(error)
            self.log.error(reason)
            restored = blank(known, reason)
            restored.notebook.metadata[_UNREADABLE] = reason
        for notes in restored.notes.values():
            for note in notes:
                self.log.warning("%s: %s", where, note)
        restored.notebook.metadata[NOTES] = restored.notes
        restored.notebook.metadata[_STAMP] = resources.get("submission", "")
        return restored.notebook, resources


class GradeBehindWall(NbGraderPreprocessor):
    """Runs the cells in the sandbox and writes each verdict into the cell that `StoreMarks`
    reads."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        about = resources["nbgrader"]
        course = find_course()
        if is_ordinary(course, about["assignment"]):
            if unjudged := run_ordinary(course, nb, about["assignment"]):
                self.log.warning(_UNJUDGED_CELLS, {**about, "cells": ", ".join(unjudged)})
            return nb, resources
        name = name_of(course, about["assignment"], about["notebook"])
        restored = Restored(nb, nb.metadata.pop(NOTES, {}))
        stamp = nb.metadata.pop(_STAMP, "")
        # By these `autograder grade` recognises graded submissions, and skips them.
        graded = {"graded": stamp}
        if reason := nb.metadata.pop(_UNREADABLE, ""):
            graded["unreadable"] = reason
        flaws = flaws_of(course, name)
        report = grade_restored(shared_grader(course), restored, name)
        depends_on = versions(course, course_key(course), name)
        nb.metadata["autograder"] = {
            **graded,
            "versions": depends_on,
            "report": report.as_json(),
        }
        resources[_GRADING] = history.entry_of(name, about["student"], stamp, report, depends_on)
        for flaw in dict.fromkeys([*flaws, *report.flaws]):
            self.log.error(flaw)
        self.log.info("%s: %g of %g points", name, report.score, report.max_score)
        return nb, resources


class StoreMarks(SaveAutoGrades):
    """Stores marks and the line of the record as `autograder grade` does, by the same writer.

    An ordinary notebook's marks are a person's: nbgrader stores them, without a line of the record.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        entry: history.Entry | None = resources.pop(_GRADING, None)
        if entry is None:
            stored: tuple[NotebookNode, Resources] = super().preprocess(nb, resources)
            return stored
        when = submitted_at(Path(resources["metadata"]["path"]))
        place = place_of(find_course(), entry.assignment)
        result = Result(place.folder, entry.student, marks_of(nb), when, entry, place.notebook)
        with Gradebook(resources["nbgrader"]["db_url"]) as gradebook:
            patiently(gradebook, "the record of gradings", lambda: history.prepare(gradebook))
            record(gradebook, [result])
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: Resources) -> None:
        """Call nbgrader's own method, unless the test cell has no verdict and waits for a
        person."""
        if not cell.metadata.pop(UNJUDGED, False):
            super()._add_score(cell, resources)
            return
        where = (self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(cell.metadata.nbgrader.grade_id, *where)
        grade.auto_score, grade.needs_manual_grade = None, True
        self.gradebook.db.commit()


class HideTests(NbGraderPreprocessor):
    """Removes hidden tests, mark schemes and marking guides before a feedback page is made."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        without_marking_guides(nb)
        settings = nbgrader_settings(resources.get(COURSE) or find_course())
        report = nb.metadata.get("autograder", {}).get("report", {})
        for cell in nb.cells:
            if is_locked(cell) or is_task(cell):
                cell.source = settings.visible_part(cell.source)
                if report.get("tests") == IN_NOTEBOOK and is_grade(cell):
                    # After the verdict comes the test's output, which may quote its hidden part.
                    cell.outputs = cell.get("outputs", [])[:1]
        return nb, resources
