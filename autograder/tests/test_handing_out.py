"""Students get a release only as the source gives it, and the course is tried in a copy."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader_courses import TEXTS, make_course, read_text
from other_courses import copy_other
from schools import append, run

from autograder.authoring.release import write
from autograder.commands.doctor import _course
from autograder.course_folder.course import Course
from autograder.course_folder.release import current_release
from autograder.errors import CourseError
from autograder.judging.grader import Grader
from autograder.publishing.lab import update_lab

NAME = "tokenizer"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return copy_other(NAME, tmp_path / "course")


def notebook(course: Path, kind: str = "release", name: str = NAME) -> Path:
    return course / kind / name / f"{name}.ipynb"


def edit(path: Path, change: Callable[[NotebookNode], object]) -> None:
    made = nbformat.read(path, as_version=4)
    change(made)
    nbformat.write(made, path)


def answer(made: NotebookNode) -> NotebookNode:
    """Return the first solution cell."""
    return next(each for each in made.cells if each.metadata.get("nbgrader", {}).get("solution"))


def solve(made: NotebookNode) -> None:
    answer(made).source = "solved = True"


def show(made: NotebookNode) -> None:
    answer(made).outputs = [nbformat.v4.new_output("stream", text="42")]


CELL = r"cell \d+ \(\S+\)"
EDITS: dict[str, tuple[Callable[[NotebookNode], object], str]] = {
    "solved": (solve, CELL),
    "output": (show, CELL),
    "run": (lambda made: answer(made).update(execution_count=1), CELL),
    "more": (lambda made: made.cells.append(nbformat.v4.new_markdown_cell("mine")), CELL),
    "less": (lambda made: made.cells.pop(), CELL),
    "text": (lambda made: made.cells[0].update(source="# Mine"), CELL),
    "points": (lambda made: answer(made).metadata.nbgrader.update(locked=True), CELL),
    "picture": (lambda made: made.cells[0].update(attachments={"a.png": {"image/png": ""}}),
                CELL),
    "widgets": (lambda made: made.metadata.update(widgets={"state": {}}), "its metadata"),
}  # fmt: skip


@pytest.mark.parametrize("kind", EDITS)
def test_an_edited_release_is_refused_with_file_cell_and_remedy(course, kind):
    change, where = EDITS[kind]
    edit(notebook(course), change)
    with pytest.raises(CourseError) as caught:
        current_release(Course(course), NAME)
    remedy = f"`autograder release {NAME}`"
    assert re.search(f"{re.escape(str(notebook(course)))}, {where}: .*{remedy}", str(caught.value))
    write(Course(course), "release", NAME)
    assert current_release(Course(course), NAME) == course / "release" / NAME


def test_a_release_older_than_its_source_is_refused(course):
    edit(notebook(course, "source"), lambda made: made.cells[0].update(source="# New"))
    with pytest.raises(CourseError, match=r"cell 1 .* the source has changed since"):
        current_release(Course(course), NAME)


@pytest.mark.parametrize(
    "line",
    [
        "### BEGIN HIDDEN TEST",
        "# BEGIN HIDDEN TEST:",
        "    ###BEGIN_SOLUTION",
        "# begin solution",
        "#End solutions",
        "=== BEGIN MARKSCHEME ===",
        "<!-- BEGIN MARKSCHEME -->",
    ],
)
def test_a_line_that_is_almost_a_mark_of_nbgrader_stops_the_release(course, line):
    former = notebook(course).read_bytes()
    edit(notebook(course, "source"), lambda made: made.cells[-1].update(source=f"x = 1\n{line}\ny"))
    with pytest.raises(CourseError, match=re.escape(repr(line.strip()))):
        current_release(Course(course), NAME)
    said = run(course, "nbgrader", "generate_assignment", NAME, "--force", status=1)
    assert "students would get what it should hide" in said
    assert notebook(course).read_bytes() == former


def test_the_pictures_of_a_mark_scheme_are_not_released(course):
    text = "![a](attachment:a.png)\n=== BEGIN MARK SCHEME ===\n<img src='attachment:b.png'>"
    picture = {"image/png": "AAAA"}
    cell = nbformat.v4.new_markdown_cell(f"{text}\n=== END MARK SCHEME ===")
    cell.attachments = {"a.png": picture, "b.png": picture}
    marks = {"grade_id": "draw", "task": True, "locked": True, "points": 1, "schema_version": 3}
    cell.metadata["nbgrader"] = {**marks, "grade": False, "solution": False}
    edit(notebook(course, "source"), lambda made: made.cells.append(cell))
    write(Course(course), "release", NAME)

    assert nbformat.read(notebook(course), as_version=4).cells[-1].attachments == {"a.png": picture}


@pytest.mark.parametrize("file", ["my_answer.py", f"{NAME}-Copy1.ipynb", "data/notes.txt"])
def test_a_file_in_the_release_that_the_source_lacks_is_refused(course, file):
    path = course / "release" / NAME / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("solved")
    with pytest.raises(CourseError, match=f"{re.escape(str(path))} does not come from "):
        current_release(Course(course), NAME)


def test_a_changed_data_file_is_refused(course):
    append(course / "release" / NAME / "corpus.txt", "more")
    with pytest.raises(CourseError, match=r"corpus\.txt: this is not what source/tokenizer gives"):
        current_release(Course(course), NAME)


def test_a_release_without_a_source_is_refused(course):
    shutil.copytree(course / "release" / NAME, course / "release" / "other")
    with pytest.raises(CourseError, match=r"other holds no notebook, .*`autograder release other`"):
        run_publish(course, "other")


def run_publish(course: Path, *arguments: str) -> None:
    from autograder.publishing.bundle.make import publish

    publish(Course(course), arguments, course / "out")


def test_opening_a_release_in_jupyterlab_does_not_count_as_an_edit(course):
    """A kernel that starts writes its version, an old notebook gets ids, and checkpoints appear."""

    def opened(made: NotebookNode) -> None:
        made.metadata["language_info"] = {"name": "python", "version": "3.99"}
        for number, cell in enumerate(made.cells):
            cell.id = f"other-{number}"

    edit(notebook(course), opened)
    (course / "release" / NAME / ".ipynb_checkpoints").mkdir()
    (course / "release" / NAME / ".ipynb_checkpoints" / "a-checkpoint.ipynb").write_text("solved")

    assert current_release(Course(course), NAME)


@pytest.fixture(scope="module")
def solved(tmp_path_factory) -> Path:
    """Return a course in whose release somebody has solved exercises."""
    course = copy_other(NAME, tmp_path_factory.mktemp("solved") / "course")
    edit(notebook(course), solve)
    return course


WAYS = {
    "publish": ["publish", "--output", "{out}"],
    "self-study": ["publish", "--self-study", "--output", "{out}"],
    "browser": ["publish", "--browser", "--output", "{out}/site"],
    "gradescope": ["package", "gradescope", NAME, "--output", "{out}/zip"],
    "lab": ["lab", "--folder", "{out}"],
    "exchange": ["release_assignment", NAME, "--Exchange.root={out}"],
}


@pytest.mark.parametrize("way", WAYS)
def test_no_command_that_hands_out_accepts_an_edited_release(solved, tmp_path, way):
    program = "nbgrader" if way == "exchange" else "autograder"
    line = [word.format(out=tmp_path) for word in WAYS[way]]
    said = " ".join(run(solved, program, *line, status=1 if way == "exchange" else 2).split())

    assert f"{NAME}.ipynb, cell" in said
    assert f"autograder release {NAME}" in said
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_exchange_gets_only_files_that_come_from_the_source(course, tmp_path):
    (course / "release" / NAME / ".virtual_documents").mkdir()
    (course / "release" / NAME / ".virtual_documents" / "a.ipynb").write_text("solved")
    run(course, "nbgrader", "release_assignment", NAME, f"--Exchange.root={tmp_path / 'exchange'}")
    given = tmp_path / "exchange" / NAME / "outbound" / NAME
    release, held = course / "release" / NAME, {"checks.json", "corpus.txt", f"{NAME}.ipynb"}

    assert {path.relative_to(given).as_posix() for path in given.rglob("*")} == held
    assert all((given / each).read_bytes() == (release / each).read_bytes() for each in held)


def test_a_solution_in_the_release_stops_grading_and_is_reported_by_doctor(solved):
    with Grader(Course(solved), bytes(32)) as grader, pytest.raises(CourseError) as caught:
        grader.check_solution(NAME)
    assert "this is not what source/tokenizer gives" in str(caught.value)
    [found] = [each for each in _course(solved) if each.what == f"assignment {NAME}"]
    assert not found.fine
    assert "this is not what source/tokenizer gives" in found.found


OWN_STEPS = """
c.IncludeHeaderFooter.header = "source/header.ipynb"
c.IncludeHeaderFooter.footer = "source/footer.ipynb"
c.ClearSolutions.begin_solution_delimeter = "VVV"
c.ClearSolutions.end_solution_delimeter = "AAA"
c.ClearSolutions.code_stub = {"python": "..."}
"""


@pytest.mark.full
@pytest.mark.subprocess
def test_the_release_of_a_course_with_its_own_preprocessors_is_that_of_nbgrader(tmp_path):
    """With several notebooks, files beside them and an old format."""
    texts = [read_text(TEXTS / f"{name}.txt") for name in ("beside", "loops", "parts")]
    for cell in (cell for text in texts for each in text.notebooks.values() for cell in each.cells):
        cell.source = cell.source.replace("BEGIN SOLUTION", "VVV").replace("END SOLUTION", "AAA")
    (tmp_path / "source").mkdir()
    for name in ("header", "footer"):
        around = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(name)])
        nbformat.write(around, tmp_path / "source" / f"{name}.ipynb")
    course = make_course(tmp_path, texts, config=OWN_STEPS)
    before = {path: path.read_bytes() for path in (course / "release").rglob("*.*")}
    for text in texts:
        assert current_release(Course(course), text.name)
        for name in text.notebooks:
            made = write(Course(course), "release", f"{text.name}/{name}").read_text("utf-8")
            assert '"header"' in made
            assert '"footer"' in made
            assert "AAA" not in made

    assert {path: path.read_bytes() for path in before} == before


# The copy in which the course is tried.


def test_make_lab_keeps_the_student_s_work_and_puts_a_newer_release_beside_it(course, tmp_path):
    lab = tmp_path / "lab"
    assert update_lab(Course(course), lab) == []
    tried, table = lab / NAME / f"{NAME}.ipynb", lab / NAME / "checks.json"
    assert tried.read_bytes() == notebook(course).read_bytes()
    edit(tried, solve)
    mine, old = tried.read_bytes(), table.read_bytes()
    assert update_lab(Course(course), lab) == []
    assert tried.read_bytes() == mine

    edit(notebook(course, "source"), lambda made: made.cells[0].update(source="# New"))
    write(Course(course), "release", NAME)
    [newer] = update_lab(Course(course), lab)
    assert newer == tried.with_stem(f"{NAME} (2)")
    assert newer.read_bytes() == notebook(course).read_bytes()
    assert tried.read_bytes() == mine
    assert update_lab(Course(course), lab) == []
    assert table.read_bytes() == old

    edit(newer, solve)
    edit(notebook(course, "source"), lambda made: made.cells[0].update(source="# Newer"))
    write(Course(course), "release", NAME)
    [newest] = update_lab(Course(course), lab)
    assert newest == tried.with_stem(f"{NAME} (3)")
    assert tried.read_bytes() == mine


def test_make_lab_replaces_unchanged_notebooks_and_adds_new_ones(course, tmp_path):
    lab = tmp_path / "lab"
    update_lab(Course(course), lab)
    edit(notebook(course, "source"), lambda made: made.cells[0].update(source="# New"))
    run(course, "autograder", "new-assignment", "later")
    for name in (NAME, "later"):
        write(Course(course), "release", name)
    (course / "grading_tests" / "test_later.py").unlink()
    assert update_lab(Course(course), lab) == []
    for name in (NAME, "later"):
        placed = (lab / name / f"{name}.ipynb").read_bytes()
        assert placed == notebook(course, name=name).read_bytes()
