"""Reads an assignment from a course folder: its exercises, tests and misconceptions.

The source notebook is the truth for exercises, points and solutions, the release notebook for the
student's version, and `grading_tests/misconceptions/NAME/EXERCISE.py` for mistakes and public
probes.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from coursecheck.inference import sample_probes
from coursecheck.probes import Probe

from ..errors import CourseError
from ..model import IN_NOTEBOOK
from .misconceptions import (
    Mistake,
    PercentCell,
    Unnamed,
    as_its_like,
    edited,
    percent_cells,
)
from .nbgrader_settings import Marks, NbgraderSettings, nbgrader_settings
from .own_notebooks import exercises_of, read_cells, release_command, source_cells, source_files
from .samples import Behaviour, Sample, read_behaviour, read_sample
from .settings import NAME as SETTINGS
from .settings import Settings, load_settings

_ABOUT = re.compile(r"^.* points?(?: · (core|extra))?$", re.MULTILINE)
"""Matches the line below an exercise's heading."""
_BONUS = re.compile(r"([\d.]+) bonus points?")

_NO_TESTS = ("misconceptions", "__pycache__")
"""Folders beside the hidden tests that are no part of them."""


@dataclass
class Exercise:
    """One graded unit: a solution cell and its test cell, a written answer, or a task.

    Attributes:
        form: the kind of answer to a question, such as "one of a b c d" or "a number"; "" for an
            exercise that is solved with code.
        manual: whether a person reads and marks the answer.
        extra: whether the course can be finished without it.
        bonus: whether its points come on top of the total. In nbgrader, its cell has 0 points.
        released_points: its points in the release notebook; None if it is missing there.
        solution_marks: the texts around the answer in the source notebook.
    """

    id: str
    title: str
    max_points: float
    solution: str = ""
    stub: str = ""
    probes: list[Probe] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    unnamed: list[Unnamed] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    behaviours: list[Behaviour] = field(default_factory=list)
    form: str = ""
    manual: bool = False
    extra: bool = False
    bonus: bool = False
    released_points: float | None = None
    solution_marks: Marks = ("BEGIN SOLUTION", "END SOLUTION")

    @property
    def total_points(self) -> float:
        """Points that it adds to the total of its assignment, and that its cell has in nbgrader."""
        return 0.0 if self.bonus else self.max_points

    @property
    def sample_probes(self) -> list[Probe]:
        """Probes that run the samples at all their points."""
        return sample_probes([sample.as_table for sample in self.samples])

    @property
    def marking_guide(self) -> str:
        """The source notebook's text for the person who marks: a model answer and how to mark."""
        begin, end = map(re.escape, self.solution_marks)
        found = re.search(rf"{begin}.*\n((?:.*\n)*?).*{end}", self.solution)
        return found.group(1).strip() if self.manual and found else ""


@dataclass
class Assignment:
    """An assignment's exercises in the order of the notebook, and its locked cells.

    Attributes:
        setup: the sources of locked code cells that are not graded, by grade_id.
        tests: the module with the hidden tests.
        table: the path of the table of the visible checks.
        nbgrader: the settings of nbgrader's own steps.
        hints: the course's advice on errors, as `coursecheck.messages.Hints`.
        drawing: the function that draws a public example, as in course.toml.
        data_folder: the folder that holds its data files; None if it has none.
        in_notebook: whether the notebook's own test cells give the points, and no hidden tests.
        core_only: whether tests of extra parts are left out.
    """

    name: str
    exercises: dict[str, Exercise]
    setup: dict[str, str]
    tests: Path
    table: Path
    nbgrader: NbgraderSettings
    hints: tuple[tuple[str, str], ...] = ()
    drawing: str = ""
    data_folder: Path | None = None
    in_notebook: bool = False
    core_only: bool = False


def find_course(start: Path | None = None) -> Path:
    """Return the course folder: the nearest one upwards from `start` that has a course.toml.

    Without `start`, search from the current folder, then in the clone that the autograder is
    installed from.
    """
    others: list[Path] = [] if start else [Path(__file__).resolve().parents[2]]
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents, *others):
        if (folder / SETTINGS).exists() and (folder / "source").is_dir():
            return folder
    raise CourseError(
        f"{start} is not in a course folder (one with {SETTINGS} and source/). "
        "Change to the course folder, or name it with --course."
    )


def test_files(tests: Path) -> list[Path]:
    """Return the files of a module of hidden tests: the module, `conftest.py`, and the files that
    these may import or send to students' processes."""
    folder = tests.parent
    return sorted([
        tests,
        *(path for path in folder.glob("*.py") if not path.name.startswith("test_")),
        *(
            path
            for inner in folder.iterdir()
            if inner.is_dir() and inner.name not in _NO_TESTS
            for path in inner.rglob("*.py")
        ),
    ])  # fmt: skip


def misconception_files(course: Path, name: str) -> list[Path]:
    """Return the files with the misconceptions and probes of an assignment, one for each
    exercise."""
    return sorted(misconceptions_of(course, name, "*").parent.glob("*.py"))


def misconceptions_of(course: Path, name: str, exercise: str) -> Path:
    """Return the path of an exercise's misconceptions and probes, whether it exists or not."""
    return course / "grading_tests" / "misconceptions" / name / f"{exercise}.py"


def stamps_of_tests(tests: Path) -> tuple[int, ...]:
    """Return the modification times of these files, which differ once one has changed."""
    return tuple(path.stat().st_mtime_ns for path in test_files(tests) if path.exists())


def has_hidden_tests(course: Path, name: str) -> bool:
    """Return whether the course has grading tests for the assignment."""
    return (course / "grading_tests" / f"test_{name}.py").exists()


@dataclass(frozen=True)
class Place:
    """The folder and the name of an assignment's notebook, the same in source/, release/ and so on.

    If an assignment has several notebooks, each is a part of it, which is graded by itself and has
    the name FOLDER/NOTEBOOK.
    """

    folder: str
    notebook: str

    def inside(self, step: Path) -> Path:
        """Return the notebook's path in a folder that holds those of the assignments."""
        return step / self.folder / f"{self.notebook}.ipynb"


def place_of(course: Path, name: str) -> Place:
    """Return the place of an assignment's notebook, or of a part of one: if `name` has no notebook
    in it, the folder's only one, or the one with the folder's name."""
    folder, _, notebook = name.partition("/")
    there = notebooks_of(course, folder)
    return Place(folder, notebook or (there[0] if len(there) == 1 else folder))


def parts_of(course: Path, name: str) -> list[str]:
    """Return the names of an assignment's parts; its own if it has no parts."""
    there = notebooks_of(course, name)
    if len(there) < 2 or load_settings(course).of(name).tests != IN_NOTEBOOK:
        return [name]
    return [f"{name}/{notebook}" for notebook in there]


def graded_notebooks(course: Path, name: str) -> list[str]:
    """Return the names of the notebooks of an assignment's parts, or of its own one."""
    return [place_of(course, part).notebook for part in parts_of(course, name)]


def name_of(course: Path, folder: str, notebook: str) -> str:
    """Return the name of an assignment, or of the part of it that a notebook is."""
    return folder if len(parts_of(course, folder)) == 1 else f"{folder}/{notebook}"


def notebooks_of(course: Path, folder: str) -> list[str]:
    """Return the names of an assignment's source notebooks."""
    return sorted(path.stem for path in (course / "source" / folder).glob("*.ipynb"))


def is_ordinary(course: Path, name: str) -> bool:
    """Return whether a person gives the assignment's points: it has no grading tests, and
    course.toml does not ask for the notebook's own tests."""
    in_notebook = load_settings(course).of(name).tests == IN_NOTEBOOK
    return not in_notebook and not has_hidden_tests(course, name)


def assignment_names(course: Path) -> list[str]:
    """Return the assignments that the course has notebooks for, and tests that give points."""
    names = {path.parent.name for path in (course / "source").glob("*/*.ipynb")}
    return sorted(name for name in names if not is_ordinary(course, name))


def part_names(course: Path) -> list[str]:
    """Return these assignments, with each part of those that have several notebooks."""
    return [part for name in assignment_names(course) for part in parts_of(course, name)]


def names_with_hidden_tests(course: Path) -> list[str]:
    """Return those of these assignments that are graded by grading tests."""
    return [name for name in assignment_names(course) if has_hidden_tests(course, name)]


def require_hidden_tests(course: Path, chosen: Iterable[str]) -> list[str]:
    """Return the chosen assignments, by default those with hidden tests. Raises `CourseError` if
    there is none, or if a chosen one has none."""
    names = list(chosen) or names_with_hidden_tests(course)
    without = [name for name in names if not has_hidden_tests(course, name)]
    for name in without:
        if not notebooks_of(course, name):
            source_of(course, name)  # It says which assignments there are.
    if without or not names:
        raise CourseError(
            f"{', '.join(without) or course} has no hidden tests, and this is about them: nothing "
            "was done. docs/authors.md shows how to write some."
        )
    return names


def source_of(course: Path, name: str) -> Path:
    """Return an assignment's source notebook. Raises `CourseError` if the course has none."""
    place = place_of(course, name)
    source = place.inside(course / "source")
    if not source.exists() or name not in (place.folder, *parts_of(course, place.folder)):
        if several := notebooks_of(course, name):
            raise CourseError(
                f"source/{name} holds {', '.join(several)}, and this is for one notebook: name "
                f"one, as in {shlex.quote(f'{name}/{several[0]}')}"
            )
        known = ", ".join(assignment_names(course)) or "none"
        raise CourseError(f"there is no assignment {name!r} in {course} (there are: {known})")
    return source


def load_assignment(course: Path, name: str) -> Assignment:
    """Return the assignment `name`. Raises `CourseError` if the course has no such assignment."""
    source = source_of(course, name)
    source_cells(course, source)
    place = place_of(course, name)
    release = place.inside(course / "release")
    if not release.exists():
        raise CourseError(f"{release} is missing: run {release_command(place.folder)} first")
    files = [
        release,
        *source_files(course, source),
        *misconception_files(course, name),
        *_hint_files(course),
    ]
    stamps = tuple(path.stat().st_mtime_ns for path in files)
    _require_one_kind_of_tests(course, name)
    nbgrader = nbgrader_settings(course)
    return _load(course, name, source, release, stamps, load_settings(course), nbgrader)


def _require_one_kind_of_tests(course: Path, name: str) -> None:
    """Raise `CourseError` if course.toml asks for the notebook's own tests, but the assignment has
    hidden ones."""
    name = name.partition("/")[0]
    if load_settings(course).of(name).tests == IN_NOTEBOOK and has_hidden_tests(course, name):
        raise CourseError(
            f'{course / SETTINGS}: [assignments.{name}] says tests = "{IN_NOTEBOOK}", and '
            f"grading_tests/test_{name}.py is there as well. Hidden tests are the stronger "
            "kind: take that line out, or delete the file."
        )


@lru_cache
def _load(
    course: Path,
    name: str,
    source: Path,
    release: Path,
    stamps: tuple[int, ...],
    settings: Settings,
    nbgrader: NbgraderSettings,
) -> Assignment:
    exercises: dict[str, Exercise] = {}
    setup: dict[str, str] = {}
    solutions: dict[str, str] = {}
    heading = about = ""
    own = source_cells(course, source)
    ids = exercises_of(own)
    for cell in own:
        if cell.cell_type == "markdown":
            found = settings.heading.search(cell.source)
            if found:
                heading, about = (
                    found.group(1).strip(),
                    line_below_heading(cell.source[found.end() :]),
                )
        marks = cell.metadata.get("nbgrader") or {}
        grade_id = marks.get("grade_id", "")
        if each := ids.get(grade_id):
            is_manual = bool(marks.get("solution") or marks.get("task"))
            text = cell.source if is_manual else ""
            exercises[each] = Exercise(
                each, heading, _points(source, marks), text, manual=is_manual
            )
            _weigh(exercises[each], about, settings)
        elif marks.get("solution"):
            solutions[grade_id] = cell.source
        elif marks.get("locked") and cell.cell_type == "code":
            setup[grade_id] = cell.source
    stubs: dict[str, str] = {}
    released: dict[str, float] = {}
    released_ids = exercises_of(read_cells(release, stamps[0]))
    for cell in read_cells(release, stamps[0]):
        marks = cell.metadata.get("nbgrader") or {}
        if marks.get("solution"):
            stubs[marks["grade_id"]] = cell.source
        if each := released_ids.get(marks.get("grade_id", "")):
            released[each] = _points(release, marks)
    titles = distinct_titles({each.id: each.title for each in exercises.values()})
    for exercise in exercises.values():
        exercise.title = titles[exercise.id]
        exercise.solution = solutions.get(exercise.id, exercise.solution)
        exercise.stub = stubs.get(exercise.id, "")
        exercise.released_points = released.get(exercise.id)
        exercise.solution_marks = nbgrader.solution
    _read_misconceptions(misconception_files(course, name), exercises)
    return Assignment(
        name,
        exercises,
        setup,
        course / "grading_tests" / f"test_{name}.py",
        settings.table_of(course, name),
        nbgrader,
        tuple(hint for path in _hint_files(course) for hint in _read_hints(path)),
        settings.drawing,
        source.parent if settings.of(name).data else None,
        settings.of(name).tests == IN_NOTEBOOK,
        settings.core_only,
    )


def distinct_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Return exercises' titles by id, each that several share with the id behind it."""
    uses = Counter(filter(None, titles.values()))
    return {id: f"{title} ({id})" if uses[title] > 1 else title for id, title in titles.items()}


def _hint_files(course: Path) -> list[Path]:
    path = course / "grading_tests" / "misconceptions" / "hints.toml"
    return [path] if path.exists() else []


def _read_hints(path: Path) -> list[tuple[str, str]]:
    """Return pairs of a pattern and the sentence for errors that match it."""
    try:
        given = tomllib.loads(path.read_text("utf-8"))["hint"]
        hints = [(each["pattern"], each["says"]) for each in given]
        for pattern, _ in hints:
            re.compile(pattern)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, re.error) as error:
        raise CourseError(
            f"{path}: {type(error).__name__}: {error}. Each hint is a table `[[hint]]` with a "
            "`pattern`, a regular expression, and what it `says`."
        ) from error
    return hints


def _points(path: Path, marks: dict[str, Any]) -> float:
    """Return the points of a graded cell, from nbgrader's metadata."""
    try:
        return float(marks["points"])
    except (KeyError, TypeError, ValueError) as error:
        raise CourseError(
            f"{path}: the cell {marks.get('grade_id')!r} is graded and says no points: give it "
            "some in JupyterLab, under Create Assignment"
        ) from error


def line_below_heading(text: str) -> str:
    """Return the line with an exercise's points below its heading; "" if there is none."""
    found = _ABOUT.search(text.lstrip().partition("\n\n")[0])
    return found.group() if found else ""


def is_extra(about: str) -> bool:
    """Return whether the line below a heading marks the exercise as extra."""
    return about.endswith("· extra")


def _weigh(exercise: Exercise, about: str, settings: Settings) -> None:
    """Set an exercise's weight by the line below its heading."""
    exercise.extra = is_extra(about)
    if found := _BONUS.search(about):
        exercise.bonus, exercise.max_points = True, float(found.group(1))
    if exercise.extra and settings.core_only:
        exercise.max_points = 0.0


def _read_misconceptions(paths: Iterable[Path], exercises: dict[str, Exercise]) -> None:
    """Fill in the misconceptions and probes of exercises from their files."""
    for path in paths:
        exercise = exercises.get(path.stem)
        if exercise is None:
            known = ", ".join(exercises)
            raise CourseError(
                f"{path} is about an exercise that the notebook does not have: "
                f"name it after one that it has ({known}), or delete it"
            )
        for cell in percent_cells(path):
            _read_cell(as_its_like(path, cell), exercise)


_NEEDED = {"probe": "observe", "form": "answer", "mistake": "says"}
"""The header that a cell must have, by kind of cell."""


def _read_cell(cell: PercentCell, exercise: Exercise) -> None:
    """Add the content of a cell to its exercise."""
    name, kind, headers, source = cell.name, cell.kind, cell.headers, cell.source
    if name.partition(".")[0] != exercise.id:
        raise CourseError(
            f"{cell.where} is about another exercise: "
            "move it to the file that has that exercise's name"
        )
    needed = _NEEDED.get(kind)
    if needed and needed not in headers:
        raise CourseError(f"{cell.where} lacks its line `# {needed}: …`")
    match kind:
        case "probe":
            probe = Probe(code=source, observe=_top_level_parts(headers["observe"]))
            if headers.get("part") == "extra":
                probe["extra"] = True
            if "tells" in headers:
                probe["tells"] = headers["tells"]
                if probe["tells"] not in probe["observe"]:
                    raise CourseError(f"{cell.where}: observe {probe['tells']} as well")
            exercise.probes.append(probe)
        case "sample":
            exercise.samples.append(read_sample(cell.where, headers, source))
        case "behaviour":
            exercise.behaviours.append(read_behaviour(cell.where, headers, source))
        case "form":
            exercise.form = headers["answer"]
        case "mistake":
            answer = cell.answer(exercise.solution)
            endless, check = headers.get("outcome") == "timeout", headers.get("check")
            exercise.mistakes.append(
                Mistake(name, headers["says"], answer, endless, check == "none", check == "probes")
            )
        case "edge" | "cheat" if cell.alternatives:
            for each, edit in cell.alternatives.items():
                answer = edited(f"{cell.where}.{each}", exercise.solution, [edit])
                exercise.unnamed.append(Unnamed(f"{name}.{each}", kind, answer))
        case "edge" | "cheat":
            known = [each.source for each in exercise.mistakes if each.id == name]
            answer = known[0] if known and not cell.has_answer else cell.answer(exercise.solution)
            worthless = headers.get("earns") == "nothing"
            exercise.unnamed.append(Unnamed(name, kind, answer, worthless))
        case _:
            raise CourseError(
                f"{cell.where} is of no kind that is known: make it a probe, form, sample, "
                "behaviour, mistake, edge or cheat"
            )


def _top_level_parts(text: str) -> list[str]:
    """Return the expressions of a comma-separated list, split outside brackets."""
    parts, depth, part = [], 0, ""
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    return [*parts, part.strip()]
