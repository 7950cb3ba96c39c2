"""A student's engine as a module: written from the cells that pass, used if all of it passes."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from autograder.commands.demo import filled_notebook
from autograder.course_folder.assignments import Assignment
from autograder.course_folder.course import find_course
from autograder.pipeline.one_submission import grade_file
from course.export_engine import FILE, PARTS, code_lines

COURSE = find_course(Path(__file__).parent)
EXERCISES = {name: COURSE.assignment(name).exercises for name in PARTS}


class Notebook:
    """A notebook of the course in a shell of its own, as a student runs it in the folder `name`."""

    def __init__(self, name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._shell = InteractiveShell(user_ns={"__name__": "__main__"})
        self._assignment: Assignment = COURSE.assignment(name)
        (home / name).mkdir(exist_ok=True)
        monkeypatch.chdir(home / name)
        for cell in self._assignment.setup.values():
            self.run(cell)

    def run(self, cell: str) -> None:
        self._shell.run_cell(cell).raise_error()

    def solve(self, **others: str) -> None:
        """Run the cells of all exercises: the solutions, or others by exercise."""
        for exercise in self._assignment.exercises.values():
            if not exercise.manual:
                self.run(others.get(exercise.id, exercise.solution))

    def __getitem__(self, name: str) -> Any:
        return self._shell.user_ns[name]


@pytest.fixture
def open_notebook(tmp_path, monkeypatch):
    return lambda name: Notebook(name, tmp_path, monkeypatch)


def wrong(notebook: str, mistake: str) -> dict[str, str]:
    """Return the cell of a known mistake, by its exercise."""
    exercise = mistake.partition(".")[0]
    found = next(each for each in EXERCISES[notebook][exercise].mistakes if each.id == mistake)
    return {exercise: found.source}


def bound(source: str) -> set[str]:
    """Return the names that a solution cell gives to the engine."""
    found = set()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found.add(ast.unparse(node.targets[0]))
    return found


@pytest.mark.parametrize("name", PARTS)
def test_each_exercise_defines_the_names_that_its_export_needs(name):
    for exercise in EXERCISES[name].values():
        if exercise.manual or exercise.id == "memory":
            continue
        assert set(PARTS[name][exercise.id]) <= bound(exercise.solution), exercise.id
    assert set(PARTS[name]) <= set(EXERCISES[name])


def test_the_exported_engine_is_a_module_that_can_be_imported(open_notebook, tmp_path, capsys):
    value = open_notebook("value")
    value.solve()
    value.run('from course import export\nexport("value", by="Ada")')
    text = (tmp_path / FILE).read_text("utf-8")
    said = capsys.readouterr().out
    assert f"is written: {code_lines(text)} lines of code. Ada's, every one" in said
    assert text.startswith('"""A scalar autograd engine by Ada.')
    backward = open_notebook("backward")
    backward.solve()
    backward.run('from course import export\nexport("backward", by="Ada")')
    own: dict[str, Any] = {}
    exec(compile((tmp_path / FILE).read_text("utf-8"), FILE, "exec"), own)
    x, y = own["Value"](2.0), own["Value"](3.0)
    out = (x * y + x).tanh()
    out.backward()
    assert out.data == pytest.approx(0.99999977, abs=1e-8) and x.grad > y.grad > 0
    assert "check(" not in text and "course" not in own


def test_lines_of_code_are_counted_without_comments_and_docstrings():
    text = '"""One."""\n\n# Two.\nx = 1\n\n\ndef f():\n    """Three\n    four."""\n    return 1\n'
    assert code_lines(text) == 3


def test_only_passing_exercises_are_exported(open_notebook, tmp_path, capsys):
    value = open_notebook("value")
    value.solve(**wrong("value", "mul.own_data"))
    value.run('from course import export\nexport("value")')
    said = capsys.readouterr().out
    assert "does not pass yet: mul" in said and "Yours, every one" in said
    assert "Value.__mul__" not in (tmp_path / FILE).read_text("utf-8")


def test_an_engine_exported_with_deep_works_backward_through_deep_graphs(open_notebook, tmp_path):
    for name in ("value", "backward"):
        notebook = open_notebook(name)
        notebook.solve()
        notebook.run(f'from course import export\nexport("{name}")')
    own: dict[str, Any] = {}
    exec((tmp_path / FILE).read_text("utf-8"), own)
    deep = x = own["Value"](2.0)
    for _ in range(3_000):
        deep = deep + 1
    deep.backward()
    assert x.grad == 1


def test_helper_functions_and_imports_are_exported_with_the_engine(open_notebook, tmp_path):
    value = open_notebook("value")
    value.run("import itertools as its\nfrom math import fsum")
    value.run("def added(*numbers):\n    return fsum(its.chain(numbers))")
    solution = EXERCISES["value"]["add"].solution.replace(
        "self.data + other.data", "added(self.data, other.data)"
    )
    value.solve(add=solution)
    value.run('from course import export\nexport("value")')
    own: dict[str, Any] = {}
    exec((tmp_path / FILE).read_text("utf-8"), own)
    assert (own["Value"](2) + 3).data == 5


def test_a_later_notebook_uses_the_student_s_engine_and_prints_so(open_notebook, tmp_path, capsys):
    value = open_notebook("value")
    value.solve()
    value.run('from course import export\nexport("value")')
    backward = open_notebook("backward")
    given = backward["Value"]
    backward.run("from course import own_engine\nown_engine()")
    assert "runs on your own engine now: my_engine.py" in capsys.readouterr().out
    assert backward["Value"] is not given and backward["trace"].__code__.co_filename.endswith(FILE)
    backward.solve()
    backward.run('from course import export\nexport("backward")')
    mlp = open_notebook("mlp")
    given = mlp["Value"]
    mlp.run("from course import own_engine\nown_engine()")
    assert mlp["Value"] is not given and mlp["Value"](0.0).sigmoid().data == 0.5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "There is no my_engine.py"),
        ("class Value(:\n", "cannot be run (SyntaxError"),
        ("raise SystemExit", "cannot be run (SystemExit"),
        ("class Value:\n    pass\n", "no class Value that passes its check"),
    ],
)
def test_a_missing_or_broken_file_of_the_student_s_engine_leaves_the_given_engine(
    open_notebook, tmp_path, capsys, text, said
):
    if text is not None:
        (tmp_path / FILE).write_text(text)
    backward = open_notebook("backward")
    given = backward["Value"]
    backward.run("from course import own_engine\nown_engine()")
    out = capsys.readouterr().out
    assert said in out and "given engine stays" in out and backward["Value"] is given


def test_the_given_engine_stands_in_for_what_is_missing_or_no_longer_passes(
    open_notebook, tmp_path, capsys
):
    value = open_notebook("value")
    value.solve(**wrong("value", "pow.rule_for_squares"))
    value.run('from course import export\nexport("value")')
    path = tmp_path / FILE
    path.write_text(path.read_text("utf-8").replace("self.data * other.data", "self.data", 1))
    mlp = open_notebook("mlp")
    given = mlp["Value"]
    mlp.run("from course import own_engine\nown_engine()")
    said = capsys.readouterr().out
    assert "runs on your own engine now" in said
    assert "stands in for what does not pass its check yet: mul, pow, " in said
    own = mlp["Value"]
    assert own is not given and own.__mul__ is given.__mul__ and own.__add__ is not given.__add__
    x, y = own(2.0), own(3.0)
    ((x * y) ** 2 + x.sigmoid()).backward()
    assert x.grad == pytest.approx(36.105, abs=1e-3) and type(x * y) is own


NETWORK = '"MLP", "cross_entropy", "SGD"'


@pytest.mark.full
def test_a_network_is_exported_and_the_keepsake_page_shows_what_it_can_do(
    open_notebook, tmp_path, capsys
):
    value = open_notebook("value")
    value.solve()
    value.run('from course import export\nexport("value")')
    mlp = open_notebook("mlp")
    mlp.solve(**wrong("mlp", "hinge.no_margin"))
    mlp.run('from course import export\nexport("mlp")')
    assert "does not pass yet: hinge" in capsys.readouterr().out
    mlp.run('from course.keepsake import keepsake\npage = keepsake(by="Ada <3")')
    assert "It is in the folder above." in capsys.readouterr().out
    assert "max-width:none" not in mlp["page"].html(), "the pictures fit a phone"
    assert [each.picture is not None for each in mlp["page"].milestones] == [True] * 3 + [False] * 2
    assert "OR by this rule, in 8 times" in repr(mlp["page"])
    assert "has 4 of 4 right" in repr(mlp["page"]) and "with the notebook digits" in repr(
        mlp["page"]
    )
    page = (tmp_path / "built_by_me.html").read_text("utf-8")
    assert "Built by Ada &lt;3" in page and "<script" not in page and "src=" not in page
    later = open_notebook("mlp")
    later.run(f"from course import own_network\nown_network({NETWORK})")
    assert "runs on your own network now" in capsys.readouterr().out
    network = later["MLP"](2, [3, 1])
    assert type(network([1.0, 2.0])) is later["Value"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "There is no my_engine.py with a network, so the given one stays."),
        ("x = 1\n", "There is no my_engine.py with a network, so the given one stays."),
        ('# From the notebook "mlp".\n\nclass MLP(Module): pass\n', "cannot be run (NameError"),
        ('# From the notebook "mlp".\n\nclass SGD: pass\n', "stands in for MLP, cross_entropy."),
    ],
)
def test_the_given_network_stands_in_for_what_is_not_exported(
    open_notebook, tmp_path, capsys, text, said
):
    if text is not None:
        (tmp_path / FILE).write_text(text)
    notebook = open_notebook("backward")
    notebook.run("MLP = SGD = cross_entropy = 'given'")
    notebook.run(f"from course import own_network\nown_network({NETWORK})")
    assert said in capsys.readouterr().out
    assert notebook["MLP"] == notebook["cross_entropy"] == "given"


def test_the_keepsake_page_names_the_error_of_a_milestone_that_fails(open_notebook):
    mlp = open_notebook("mlp")
    mlp.run("def Neuron(n):\n    raise OSError(n)")
    mlp.run("def train_xor(inputs, targets, seed):\n    raise NotImplementedError()")
    mlp.run("from course.keepsake import keepsake\npage = keepsake()")
    runs = [each.today for each in mlp["page"].milestones]
    assert runs[0] == "It raised OSError (2). See the notebook mlp, exercise Neuron."
    assert runs[2] == "Still to come, with the notebook mlp, exercise XOR."


@pytest.mark.parametrize("name", ["backward", "mlp"])
def test_a_cell_that_loads_the_student_s_own_engine_is_tagged_demonstration(name):
    """Such a cell is not run for a mark."""
    release = json.loads((COURSE.release / name / f"{name}.ipynb").read_text("utf-8"))
    asking = [cell for cell in release["cells"] if "own_engine()" in "".join(cell["source"])]
    code = [cell for cell in asking if cell["cell_type"] == "code"]
    assert code and all("demonstration" in cell["metadata"]["tags"] for cell in code)


def test_a_broken_my_engine_file_beside_a_notebook_costs_no_points(grader, tmp_path):
    answers = {each.id: each.solution for each in EXERCISES["backward"].values()}
    path = tmp_path / "backward" / "backward.ipynb"
    path.parent.mkdir()
    path.write_text(filled_notebook(COURSE, "backward", answers), "utf-8")
    for folder in (tmp_path, path.parent):
        (folder / FILE).write_text("raise SystemExit")
    _, report = grade_file(grader, path)
    assert {each.status for each in report.exercises} <= {"passed", "manual"}
