"""In courses with tests in the notebook, the course's own cells are restored and run once."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader_courses import Text, make_course, marked_cell, python_notebook
from schools import append, run

from autograder.authoring.new_exercise import add_exercise
from autograder.course_folder.course import Course
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_content
from autograder.records import Report

pytestmark = [pytest.mark.subprocess, pytest.mark.full]
KEY = bytes(32)
HIDDEN = """
c.ClearHiddenTests.begin_test_delimeter = "ANFANG"
c.ClearHiddenTests.end_test_delimeter = "ENDE"
c.ClearMarkScheme.begin_mark_scheme_delimeter = "HINWEIS"
c.ClearMarkScheme.end_mark_scheme_delimeter = "SCHLUSS"
c.ClearSolutions.begin_solution_delimeter = "MUSTER"
c.ClearSolutions.end_solution_delimeter = "FERTIG"
"""


def course_with(folder: Path, *notebooks: NotebookNode, config: str = "") -> Path:
    """Make a course of one assignment, `small`."""
    names = ["small", *(f"small{number}" for number in range(2, len(notebooks) + 1))]
    text = Text("small", dict(zip(names, notebooks, strict=True)))
    return make_course(folder, [text], config=config)


def checking(name: str, source: str, **marks: object) -> NotebookNode:
    return marked_cell(name, source, grade=True, points=1, **{"locked": True, **marks})


def answer(name: str, source: str) -> NotebookNode:
    return marked_cell(name, f"### BEGIN SOLUTION\n{source}\n### END SOLUTION", solution=True)


def answered(folder: Path, **answers: str) -> NotebookNode:
    """Return the release with these answers."""
    made = nbformat.read(folder / "release/small/small.ipynb", as_version=4)
    for name, source in answers.items():
        cell_of(made, name).source = source
    return made


def cell_of(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def graded(folder: Path, made: NotebookNode) -> tuple[NotebookNode, Report]:
    with Grader(Course(folder), KEY) as grader:
        return grade_content(grader, nbformat.v4.writes(made).encode(), "a file", "small")


def points(report: Report) -> list[float | None]:
    return [result.points for result in report.exercises]


def test_a_test_cell_that_is_not_marked_as_locked_is_restored(tmp_path):
    """nbgrader locks each test cell, whatever its metadata say."""
    test = "assert abs(half) == 0.5\n### BEGIN HIDDEN TESTS\nassert half > 0\n### END HIDDEN TESTS"
    cells = [answer("half", "half = 0.5"), checking("test_half", test, locked=False)]
    folder = course_with(tmp_path, python_notebook(cells))
    deleted, edited = (answered(folder, half="half = -0.5") for _ in range(2))
    deleted.cells.pop()
    edited.cells[-1].source = "pass"
    for made in (deleted, edited, answered(folder, half="half = -0.5")):
        assert points(graded(folder, made)[1]) == [0]

    assert points(graded(folder, answered(folder, half="half = 0.5"))[1]) == [1]


TEST = "seen.append(twice(1))\nassert seen == [2]"
SETUP = "seen = []\nopen('log', 'a').write('x')"
LOG = "assert open('log').read() == 'x'"


def with_state() -> NotebookNode:
    """Return a notebook with cells that must run only once."""
    setup = marked_cell("setup", SETUP, locked=True)
    cells = [
        setup,
        answer("twice", "def twice(x):\n    return 2 * x"),
        checking("test_twice", TEST),
        checking("test_log", LOG),
    ]
    return python_notebook(cells)


def rewritten(name: str, source: str) -> object:
    def change(made: NotebookNode) -> None:
        cell_of(made, name).source = source

    return change


def copied(made: NotebookNode) -> None:
    copy = deepcopy(cell_of(made, "test_twice"))
    copy.id, copy.source = "again", f"{TEST}\nprint(1)"
    made.cells.append(copy)


def merged(made: NotebookNode) -> None:
    cell_of(made, "twice").source += f"\n\n{TEST}\nprint(1)"
    made.cells.remove(cell_of(made, "test_twice"))


def unnamed(made: NotebookNode) -> None:
    for number, cell in enumerate(made.cells):
        cell.metadata, cell.id = NotebookNode(), f"cell{number}"
    made.cells[2].source = f"# I looked at this: print(1)\n{TEST}"


def answered_in_the_test(made: NotebookNode) -> None:
    cell_of(made, "test_twice").source = "def twice(x):\n    return 2 * x  # print(1)"
    cell_of(made, "twice").source = "# see below"


EDITED = {
    "a comment": rewritten("test_twice", f"# print(1)\n{TEST}"),
    "a line within": rewritten("test_twice", TEST.replace("\n", "\nprint(1)\n")),
    "a line below": rewritten("test_twice", f"{TEST}\nprint(1)"),
    "set-up": rewritten("setup", SETUP.replace("\n", "\nseen.append(5)  # print(1)\n")),
    "a changed copy": copied,
    "merged into the answer": merged,
    "without metadata": unnamed,
    "an answer": answered_in_the_test,
}


@pytest.mark.parametrize("kind", EDITED)
def test_an_edited_locked_cell_is_kept_beside_the_course_s_own_and_only_one_runs(tmp_path, kind):
    folder = course_with(tmp_path, with_state())
    made = answered(folder, twice="def twice(x):\n    return 2 * x")
    EDITED[kind](made)
    notebook, report = graded(folder, made)

    assert points(report) == [1, 1], report.as_json()
    assert "print(1)" in "\n".join(cell.source for cell in notebook.cells)


def test_configured_delimiters_of_hidden_tests_and_solutions_are_used(tmp_path):
    """A cell that prints the source of all cells shows no hidden test to students."""
    test = "assert twice(1) == 2\n### ANFANG\nassert twice(2) == 4, 'geheim'\n# ENDE"
    solved = "### MUSTER\ndef twice(x):\n    return 2 * x\n### FERTIG"
    task = nbformat.v4.new_markdown_cell("Draw it.\n\nHINWEIS\na point each\nSCHLUSS")
    task.metadata = marked_cell("draw", "", task=True, locked=True, points=1).metadata
    essay = nbformat.v4.new_markdown_cell("MUSTER\nthe model\nFERTIG")
    essay.metadata = marked_cell("why", "", grade=True, solution=True, points=1).metadata
    cells = [marked_cell("twice", solved, solution=True), checking("test_twice", test), task, essay]
    folder = course_with(tmp_path, python_notebook(cells), config=HIDDEN)
    made = answered(folder, twice="def twice(x):\n    return 2 * x")
    made.cells.append(nbformat.v4.new_code_cell("print(In)"))
    target = folder / "submitted/ada/small/small.ipynb"
    target.parent.mkdir(parents=True)
    nbformat.write(made, target)
    run(folder, "autograder", "grade", "small", "--workers", "1")
    run(folder, "nbgrader", "generate_feedback", "small")
    page = (folder / "feedback/ada/small/small.html").read_text("utf-8")

    assert "1 of 1 points" in page
    assert "was edited" not in page
    assert "The task" in page
    assert not [text for text in ("geheim", "ANFANG", "HINWEIS", "a point each", "the model")
                if text in page]  # fmt: skip
    assert "the model" in (folder / "autograded/ada/small/small.ipynb").read_text("utf-8")

    add_exercise(Course(folder), "small", "new", "## Exercise", "# MUSTER\nx = 1\n# FERTIG", 1.0)
    source = (folder / "source/small/small.ipynb").read_text("utf-8")

    assert "BEGIN HIDDEN" not in source
    assert source.count("ANFANG") == 2


def handed_in(folder: Path, notebooks: dict[str, NotebookNode], status: int = 0) -> str:
    """Hand notebooks in for one student, and grade them; return what was printed."""
    for name, made in notebooks.items():
        target = folder / "submitted/ada/small" / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(made, target)
    return run(folder, "autograder", "grade", "small", "--workers", "1", status=status)


def half() -> NotebookNode:
    return python_notebook([answer("half", "half = 0.5"), checking("test_half", "assert half")])


def third() -> NotebookNode:
    return python_notebook([answer("third", "third = 3"), checking("test_third", "assert third")])


def test_a_notebook_without_exercises_is_graded_without_an_error(tmp_path):
    words = nbformat.v4.new_markdown_cell("Read me first.")
    folder = course_with(tmp_path, half(), python_notebook([words]))
    seen = handed_in(folder, {"small": half(), "small2": python_notebook([words])})

    assert "ada: 1 / 1" in seen
    assert "ada: 0 / 0" in seen
    assert "another notebook" not in seen


def test_a_renamed_notebook_of_an_assignment_is_recognised_by_its_cells(tmp_path):
    folder = course_with(tmp_path, half(), third())
    seen = handed_in(folder, {"my (1)": third()}, status=1)
    assert "ada: 1 / 1" in seen
    assert "small.ipynb: there is no such file; the folder holds nothing else. The file has" in seen


def test_solution_check_includes_the_configured_header(tmp_path):
    header = python_notebook([nbformat.v4.new_code_cell("import math as m")])
    (tmp_path / "source").mkdir()
    nbformat.write(header, tmp_path / "source/header.ipynb")
    test = checking("test_root", "assert root == 2")
    own = python_notebook([answer("root", "root = m.sqrt(4)"), test])
    config = 'c.IncludeHeaderFooter.header = "source/header.ipynb"\n'
    folder = course_with(tmp_path, own, config=config)
    with Grader(Course(folder), KEY) as grader:
        assert grader.check_solution("small") == []

    assert points(graded(folder, answered(folder, root="root = m.sqrt(4)"))[1]) == [1]


def test_a_test_defect_suggests_to_add_files_that_are_not_declared_as_data(tmp_path):
    tests = [answer("x", "import glob"), checking("files", "assert len(glob.glob('in/*')) == 2")]
    folder = course_with(tmp_path, python_notebook(tests))
    for name in ("a.csv", "b.csv", "more/c.csv", ".hidden"):
        (folder / "source/small/in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "source/small/in" / name).touch()
    with Grader(Course(folder), KEY) as grader:
        [defect] = grader.check_solution("small")

    assert "source/small also holds in: if the code reads it, add it to data under" in defect

    test = "assert len(glob.glob('in/*')) == 3 and glob.glob('in/more/c.csv')"
    [path] = (folder / "source").glob("*/*.ipynb")
    path.write_text(path.read_text("utf-8").replace("assert len(glob.glob('in/*')) == 2", test))
    append(folder / "course.toml", '\ndata = ["in"]\n')
    with Grader(Course(folder), KEY) as grader:
        assert grader.check_solution("small") == []
