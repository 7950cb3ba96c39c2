"""Plugins for nbgrader: one class for each step of `nbgrader autograde`, and one for feedback."""

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

from ..course_folder.course import Course, course_of, find_course
from ..course_folder.versions import versions
from ..errors import UnreadableNotebook
from ..gradebook import history
from ..gradebook.marks_of_notebook import marks_of
from ..gradebook.writing import SubmissionMarks, record, retry_while_locked, set_time
from ..judging.grader import Grader
from ..judging.ordinary import copy_own_files, run_ordinary
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
    RestoredNotebook,
    blank_notebook,
    load_template,
    restore,
)
from ..notebook.verdict_outputs import without_marking_guides
from ..pipeline.classroom import stamp_of
from ..pipeline.one_submission import grade_restored
from ..records import IN_NOTEBOOK, UNJUDGED

Resources = dict[str, Any]
_STAMP = "autograder_submission"
_UNREADABLE = "autograder_unreadable"
_GRADING = "autograder_grading"
_UNJUDGED_CELLS = (
    "%(assignment)s/%(notebook)s.ipynb of %(student)s: the test cells %(cells)s give no points by "
    "themselves, since there is no grading_tests/test_%(assignment)s.py: they ran in the student's "
    "own process, which can claim anything. Mark them in the formgrader, write hidden tests as "
    'docs/authors.md shows, or have course.toml say tests = "in-notebook" for the assignment, as '
    "docs/nbgrader.md explains it."
)


@cache
def shared_grader(course: Course) -> Grader:
    """Return the grader that grades all submissions in this process; it is closed at exit."""
    grader = Grader(course, course.key)
    atexit.register(grader.close)
    return grader


@cache
def defects_of(course: Course, name: str) -> list[str]:
    """Return the solution check's messages on test defects; the check runs once in a process."""
    return shared_grader(course).check_solution(name)


class SubmissionFolders(CourseDirectory):
    """nbgrader's course directory, set so that nbgrader copies no files of submissions.

    By default, nbgrader copies every file in a submission's folder, follows links, and would return
    the copies with the feedback. With this class, only `copy_receipts` copies files.
    """

    def get_existing_timestamp(self, dest_path: str) -> datetime | None:
        return submitted_at(Path(dest_path))


class SubmissionExporter(NotebookExporter):
    """Exporter that also reads damaged notebooks; an unreadable one becomes an empty notebook."""

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
            # nbgrader's second pass reads the notebook that the first, sanitizing pass wrote.
            output = super().from_filename(filename, resources, **keywords)
            return output
        try:
            refuse_links(path.parent)
            refuse_shared_file(path, find_course(Path.cwd()))
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
                # Without this, nbgrader would keep an earlier submission's time in the gradebook.
                with Gradebook(about["db_url"]) as gradebook:
                    set_time(gradebook, about["assignment"], about["student"], None)
            if find_course(Path.cwd()).is_ordinary(about["assignment"]):
                folders = self.parent.coursedir
                source = folders.format_path(folders.source_directory, ".", about["assignment"])
                copy_own_files(Path(source), target, self._ignored)
        output = self.from_notebook_node(notebook, resources, **keywords)
        return output


class RestoreCells(OverwriteCells):
    """Restores the course's cells: replaces nbgrader's step, which only overwrites cells' sources.

    For assignments without hidden tests, nbgrader's own step runs.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        course, about = find_course(Path.cwd()), resources["nbgrader"]
        if course.is_ordinary(about["assignment"]):
            if "unreadable" in resources:
                raise UnreadableNotebook(resources["unreadable"])
            nb, resources = DeduplicateIds(parent=self.parent).preprocess(nb, resources)
            overwritten: tuple[NotebookNode, Resources] = super().preprocess(nb, resources)
            return overwritten
        name = course.name_of(about["assignment"], about["notebook"])
        template = load_template(course, name)
        where = f"{resources['nbgrader']['notebook']}.ipynb"
        try:
            refuse_another(course, nb, where, name)
            restored = restore(nb, template, where)
        except UnreadableNotebook as error:
            reason = resources.get("unreadable") or str(error)
            self.log.error(reason)
            restored = blank_notebook(template, reason)
            restored.notebook.metadata[_UNREADABLE] = reason
        for notes in restored.notes.values():
            for note in notes:
                self.log.warning("%s: %s", where, note)
        restored.notebook.metadata[NOTES] = restored.notes
        restored.notebook.metadata[_STAMP] = resources.get("submission", "")
        return restored.notebook, resources


class GradeInSandbox(NbGraderPreprocessor):
    """Grades a notebook in the sandbox, and writes each verdict into the exercise's test cell.

    `StoreMarks` reads the verdicts there.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        about = resources["nbgrader"]
        course = find_course(Path.cwd())
        if course.is_ordinary(about["assignment"]):
            if unjudged := run_ordinary(course, nb, about["assignment"]):
                self.log.warning(_UNJUDGED_CELLS, {**about, "cells": ", ".join(unjudged)})
            return nb, resources
        name = course.name_of(about["assignment"], about["notebook"])
        reason = nb.metadata.pop(_UNREADABLE, "")
        restored = RestoredNotebook(nb, nb.metadata.pop(NOTES, {}), is_blank=bool(reason))
        stamp = nb.metadata.pop(_STAMP, "")
        # `autograder grade` skips submissions that this metadata says are graded.
        graded = {"graded": stamp}
        if reason:
            graded["unreadable"] = reason
        defects = defects_of(course, name)
        report = grade_restored(shared_grader(course), restored, name)
        depends_on = versions(course, course.key, name)
        nb.metadata["autograder"] = {
            **graded,
            "versions": depends_on,
            "report": report.as_json(),
        }
        resources[_GRADING] = history.entry_of(name, about["student"], stamp, report, depends_on)
        for defect in dict.fromkeys([*defects, *report.defects]):
            self.log.error(defect)
        self.log.info("%s: %g of %g points", name, report.score, report.max_score)
        return nb, resources


class StoreMarks(SaveAutoGrades):
    """Stores marks and an entry in the record of gradings, as `autograder grade` does.

    For assignments without hidden tests, nbgrader's own step stores the marks.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        entry: history.Entry | None = resources.pop(_GRADING, None)
        if entry is None:
            stored: tuple[NotebookNode, Resources] = super().preprocess(nb, resources)
            return stored
        when = submitted_at(Path(resources["metadata"]["path"]))
        path = find_course(Path.cwd()).notebook_path(entry.assignment)
        result = SubmissionMarks(
            path.folder, entry.student, marks_of(nb), when, entry, path.notebook
        )
        with Gradebook(resources["nbgrader"]["db_url"]) as gradebook:
            retry_while_locked(
                gradebook, "the record of gradings", lambda: history.prepare(gradebook)
            )
            record(gradebook, [result])
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: Resources) -> None:
        """Store a cell's points; a test cell without a verdict gets none and waits for a person."""
        if not cell.metadata.pop(UNJUDGED, False):
            super()._add_score(cell, resources)
            return
        where = (self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(cell.metadata.nbgrader.grade_id, *where)
        grade.auto_score, grade.needs_manual_grade = None, True
        self.gradebook.db.commit()


class HideTests(NbGraderPreprocessor):
    """Removes hidden tests, mark schemes and marking guides from a notebook before feedback."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        without_marking_guides(nb)
        settings = course_of(resources).nbgrader
        report = nb.metadata.get("autograder", {}).get("report", {})
        for cell in nb.cells:
            if is_locked(cell) or is_task(cell):
                cell.source = settings.visible_part(cell.source)
                if report.get("tests") == IN_NOTEBOOK and is_grade(cell):
                    # Keep only the first output, the verdict: the others are the test cell's own,
                    # and may quote hidden parts.
                    cell.outputs = cell.get("outputs", [])[:1]
        return nb, resources
