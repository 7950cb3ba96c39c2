"""The course folder: its settings and key, its assignments and the paths of their files."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CourseError
from ..files import course_lock
from ..packages import module_folder
from ..records import IN_NOTEBOOK
from ..texts import toml_table
from .assignments import Assignment, AssignmentFiles, read_assignment
from .key import course_key
from .nbgrader_settings import NbgraderSettings, nbgrader_settings
from .own_notebooks import read_cells, release_command
from .settings import NAME as SETTINGS
from .settings import Settings, load_settings

_SUBMISSION_FOLDERS = ("submitted", "autograded", "feedback", "attempts", "imported", "withdrawn")
"""Folders that hold submissions, or files made from them."""


@dataclass(frozen=True)
class Course:
    """A course folder as its files are now: what is slow to read is cached until a file changes.

    In the methods, the `name` of an assignment may be FOLDER or, for a part, FOLDER/NOTEBOOK.

    Attributes:
        root: the path of the folder.
    """

    root: Path

    def __str__(self) -> str:
        return str(self.root)

    @property
    def source(self) -> Path:
        return self.root / "source"

    @property
    def release(self) -> Path:
        return self.root / "release"

    @property
    def grading_tests(self) -> Path:
        return self.root / "grading_tests"

    @property
    def package_home(self) -> Path:
        """The folder of the students' package and of the lesson's texts.

        Normally this is the course folder. In a copy of the course without the package, it is the
        folder from which the package was installed.
        """
        for name in self.settings.visible.modules:
            if not (self.root / name).is_dir():
                return module_folder(name).parent
        return self.root

    @property
    def settings(self) -> Settings:
        """The settings in `course.toml`. Reading an invalid file raises `CourseError`."""
        return load_settings(self.root)

    @property
    def nbgrader(self) -> NbgraderSettings:
        """The settings of nbgrader's own steps. Reading an invalid file raises `CourseError`."""
        return nbgrader_settings(self.root)

    @property
    def key(self) -> bytes:
        """The secret key, which is made if it is missing. An invalid one raises `CourseError`."""
        return course_key(self.root)

    def lock(self) -> AbstractContextManager[None]:
        """Return a context manager that holds the course's lock, as `course_lock` does."""
        return course_lock(self.root)

    # Names of assignments and notebooks.

    def source_names(self) -> list[str]:
        """Return the assignments that have a source notebook."""
        return sorted({path.parent.name for path in self.source.glob("*/*.ipynb")})

    def assignment_names(self) -> list[str]:
        """Return the assignments that have a source notebook and are graded here."""
        return [name for name in self.source_names() if not self.is_ordinary(name)]

    def part_names(self) -> list[str]:
        """Return the names of all graded notebooks: assignments, or parts if there are any."""
        return [part for name in self.assignment_names() for part in self.parts_of(name)]

    def names_with_hidden_tests(self) -> list[str]:
        """Return the assignments that are graded by hidden tests."""
        return [name for name in self.assignment_names() if self.has_hidden_tests(name)]

    def require_hidden_tests(self, chosen: Iterable[str]) -> list[str]:
        """Return the chosen assignments, by default all with hidden tests.

        Raises `CourseError` if a chosen assignment does not exist or has no hidden tests, or if
        nothing is chosen and the course has no hidden tests.
        """
        names = list(chosen) or self.names_with_hidden_tests()
        without = [name for name in names if not self.has_hidden_tests(name)]
        for name in without:
            if not self.notebooks_of(name):
                self.source_of(name)  # raises an error that lists the existing assignments
        if without or not names:
            raise CourseError(
                f"{', '.join(without) or self} has no hidden tests, and this is about them: "
                "nothing was done. docs/authors.md shows how to write some."
            )
        return names

    def notebooks_of(self, folder: str) -> list[str]:
        """Return the file names, without suffix, of an assignment's source notebooks."""
        return sorted(path.stem for path in (self.source / folder).glob("*.ipynb"))

    def notebook_path(self, name: str) -> NotebookPath:
        """Return the notebook path of an assignment or of a part.

        FOLDER means the only notebook in the folder or, if there are several or none, the notebook
        with the folder's name.
        """
        folder, _, notebook = name.partition("/")
        notebooks = self.notebooks_of(folder)
        return NotebookPath(folder, notebook or (notebooks[0] if len(notebooks) == 1 else folder))

    def parts_of(self, name: str) -> list[str]:
        """Return the names FOLDER/NOTEBOOK of an assignment's parts; if it has no parts, its own
        name."""
        notebooks = self.notebooks_of(name)
        if len(notebooks) < 2 or self.settings.of(name).tests != IN_NOTEBOOK:
            return [name]
        return [f"{name}/{notebook}" for notebook in notebooks]

    def graded_notebooks(self, name: str) -> list[str]:
        """Return the file names, without suffix, of an assignment's graded notebooks."""
        return [self.notebook_path(part).notebook for part in self.parts_of(name)]

    def name_of(self, folder: str, notebook: str) -> str:
        """Return the name by which a notebook is graded: the assignment's name, or the part's if
        the assignment has parts."""
        return folder if len(self.parts_of(folder)) == 1 else f"{folder}/{notebook}"

    def has_hidden_tests(self, name: str) -> bool:
        return self.tests_of(name).exists()

    def is_ordinary(self, name: str) -> bool:
        """Return whether an assignment is not graded here: it has no hidden tests, and course.toml
        does not ask for the notebook's own test cells."""
        in_notebook = self.settings.of(name).tests == IN_NOTEBOOK
        return not in_notebook and not self.has_hidden_tests(name)

    # Files of an assignment.

    def source_of(self, name: str) -> Path:
        """Return the path of the source notebook.

        Raises `CourseError` if the course has no such notebook.
        """
        path = self.notebook_path(name)
        source = path.under(self.source)
        if not source.exists() or name not in (path.folder, *self.parts_of(path.folder)):
            if several := self.notebooks_of(name):
                raise CourseError(
                    f"source/{name} holds {', '.join(several)}, and this is for one notebook: name "
                    f"one, as in {shlex.quote(f'{name}/{several[0]}')}"
                )
            known = ", ".join(self.assignment_names()) or "none"
            raise CourseError(f"there is no assignment {name!r} in {self} (there are: {known})")
        return source

    def source_files(self, name: str) -> list[Path]:
        """Return the existing notebooks among those of which nbgrader makes a release: header,
        source and footer."""
        header, footer = self.nbgrader.around
        source = self.notebook_path(name).under(self.source)
        return [path for path in (header, source, footer) if path and path.exists()]

    def release_of(self, name: str) -> Path:
        """Return the path of the release notebook, which may be missing."""
        return self.notebook_path(name).under(self.release)

    def tests_of(self, name: str) -> Path:
        """Return the path of the module with the hidden tests, which may be missing."""
        return self.grading_tests / f"test_{name}.py"

    def misconceptions_of(self, name: str, exercise: str) -> Path:
        """Return the path of an exercise's file of misconceptions, which may be missing."""
        return self.grading_tests / "misconceptions" / name / f"{exercise}.py"

    def misconception_files(self, name: str) -> list[Path]:
        """Return the files of misconceptions and public examples of all exercises."""
        return sorted(self.misconceptions_of(name, "*").parent.glob("*.py"))

    def rubrics_of(self, name: str) -> Path:
        """Return the path of the rubrics of an assignment or part, which may be missing."""
        return self.grading_tests / "rubrics" / f"{name}.toml"

    def table_of(self, name: str) -> Path:
        """Return the path of the table of the visible checks."""
        if not (tables := self.settings.tables):
            return self.source / name / "checks.json"
        return self.package_home / tables / f"{name}.json"

    def assignment(self, name: str) -> Assignment:
        """Return an assignment with its exercises.

        Raises `CourseError` if the course has no such assignment, or it cannot be graded.
        """
        source, sources = self.source_of(name), self.source_files(name)
        # Raises if the source cannot be read: that error must come before one about the release.
        read_cells(*sources)
        release = self.release_of(name)
        folder = release.parent.name
        if not release.exists():
            raise CourseError(f"{release} is missing: run {release_command(folder)} first")
        if self.settings.of(folder).tests == IN_NOTEBOOK and self.has_hidden_tests(folder):
            raise CourseError(
                f"{self.root / SETTINGS}: {toml_table('assignments', folder)} says "
                f'tests = "{IN_NOTEBOOK}", and '
                f"grading_tests/test_{folder}.py is there as well. Hidden tests are the stronger "
                "kind: take that line out, or delete the file."
            )
        files = AssignmentFiles(
            source,
            tuple(sources),
            release,
            tuple(self.misconception_files(name)),
            tuple(self.grading_tests.glob("misconceptions/hints.toml")),
            self.tests_of(name),
            self.table_of(name),
        )
        return read_assignment(name, files, files.stamps(), self.settings, self.nbgrader)


@dataclass(frozen=True)
class NotebookPath:
    """The folder and name of an assignment's notebook, the same in source/, release/ and so on.

    If an assignment has several notebooks, each notebook is a part of the assignment, is graded by
    itself, and has the name FOLDER/NOTEBOOK.
    """

    folder: str
    notebook: str

    def under(self, step: Path) -> Path:
        """Return the notebook's path below a folder of one step, such as source/ or release/."""
        return step / self.folder / f"{self.notebook}.ipynb"


COURSE = "autograder_course"
"""Key, in nbconvert's resources, of the course. Without it, the current folder tells the course."""


def course_of(resources: dict[str, Any]) -> Course:
    """Return the course to which nbconvert's resources belong."""
    found: Course = resources.get(COURSE) or find_course(Path.cwd())
    return found


def find_course(named: Path | None = None) -> Course:
    """Return the course: the nearest folder, from `named` upwards, that has a course.toml.

    Without `named`, the search starts in the current folder. Commands run a course's code. So a
    folder that students may have written is accepted only if `named` is this very folder.

    Raises `CourseError` if there is no course folder, or students may have written it.
    """
    start = (named or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if _looks_like_course(folder):
            if named is None or folder != start:
                refuse_inner_course(folder)
            return Course(folder)
    raise CourseError(
        f"{start} is not in a course folder (one with {SETTINGS} and source/). "
        "Change to the course folder, or name it with --course."
    )


def refuse_inner_course(folder: Path) -> None:
    """Raise `CourseError` if the folder lies in another course, or in a folder of submissions."""
    for above in folder.parents:
        if _looks_like_course(above) or above.name in _SUBMISSION_FOLDERS:
            raise CourseError(
                f"{folder} is no course of its own, since it lies in {above}: a submission may "
                "hold files as a course does. Nothing of it was read. Change to the course that "
                "you mean, or name it with --course; a course of yours belongs outside."
            )


def _looks_like_course(folder: Path) -> bool:
    return (folder / SETTINGS).exists() and (folder / "source").is_dir()
