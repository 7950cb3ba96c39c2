"""Master notebooks of otter-assign become sources that give the points that otter gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader_courses import python_notebook
from schools import run

from autograder.authoring.otter import take_masters
from autograder.course_folder.course import Course
from autograder.judging.grader import Grader
from autograder.pipeline.one_submission import grade_content

SQUARES = """
raw
# ASSIGNMENT CONFIG
files:
  - words.txt
--
text
# Squares
--
raw
# BEGIN QUESTION
name: q1
points: 4
--
text
**Question 1.** Define `square` and `nine`.
--
raw
# BEGIN SOLUTION
--
code
def square(x):
    y = x * x # SOLUTION NO PROMPT
    # BEGIN IGNORE
    return 1 / 0
    # END IGNORE
    return y # SOLUTION

nine = square(3) # SOLUTION
--
raw
# END SOLUTION
--
raw
# BEGIN TESTS
--
code
nine == 9
=> True
--
code
square(2)
=> 4
--
code
# HIDDEN
[square(n) for n in (0, -1)]
=> [0, 1]
--
code
assert square(0.5) == 0.25
--
raw
# END TESTS
--
raw
# END QUESTION
--
raw
# BEGIN QUESTION
name: q2
manual: true
points: 3
--
raw
# BEGIN SOLUTION
--
text
Because a product of equal signs is positive.
--
raw
# END SOLUTION
--
raw
# END QUESTION
--
raw
# BEGIN QUESTION
name: q3
--
raw
# BEGIN SOLUTION
--
code
with open("words.txt") as file:
    words = file.read().split() # SOLUTION
--
raw
# END SOLUTION
--
raw
# BEGIN TESTS
--
code
len(words)
=> 2
--
code
print(*words)
>> a b
--
raw
# END TESTS
--
raw
# END QUESTION
"""
SCORES = '''
raw
# ASSIGNMENT CONFIG
tests:
    ok_format: false
--
code
base = 10
--
raw
# BEGIN QUESTION
name: mean of scores
points: 5
--
raw
# BEGIN SOLUTION
--
code
def mean(scores):
    # BEGIN SOLUTION
    total = sum(scores)
    return total / len(scores)
    # END SOLUTION
--
raw
# END SOLUTION
--
raw
# BEGIN TESTS
--
code
""" # BEGIN TEST CONFIG
points: 2
""" # END TEST CONFIG
def test_mean(mean):
    assert mean([1, 2]) == 1.5

test_mean(mean) # IGNORE
--
code
""" # BEGIN TEST CONFIG
hidden: true
""" # END TEST CONFIG
def test_base(env):
    assert env["mean"]([env["base"]]) == 10
--
code
def test_zero(mean):
    assert mean([0]) == 0
--
raw
# END TESTS
--
raw
# END QUESTION
'''
FENCED = '''
text
Some words.

```otter
# BEGIN QUESTION
name: q1
points: 2
all_or_nothing: true
```

**Question 1**

```otter
# BEGIN SOLUTION
```
--
code
def greet(name):
    # BEGIN SOLUTION NO PROMPT
    return f"Hello, {name}"
    # END SOLUTION
    """ # BEGIN PROMPT
    # Greet by name.
    pass
    """; # END PROMPT
--
text
```otter
# END SOLUTION
```

```otter
# BEGIN TESTS
```
--
code
greet("Ada")
=> 'Hello, Ada'
--
code
x = greet("Bo")
print(x, len(x))
>> Hello, Bo 9
--
text
```otter
# END TESTS
```

```otter
# END QUESTION
```

The end.
'''
MASTERS = {"squares": SQUARES, "scores": SCORES, "fenced": FENCED}
HANDED_IN = {
    "squares": {
        "right": ({}, {"q1_1": 1, "q1_2": 1, "q1_3": 1, "q1_4": 1, "q3_1": 0.5, "q3_2": 0.5}),
        "half": ({"q1": "def square(x):\n    return abs(x) * 2\n\nnine = 9", "q3": "words = 'ab'"},
                 {"q1_1": 1, "q1_2": 1, "q1_3": 0, "q1_4": 0, "q3_1": 0.5, "q3_2": 0.5}),
        "error": ({"q1": "def square(x):\n    return x * x\n\nnine = square(3"},
                  {"q1_1": 0, "q1_2": 0, "q1_3": 0, "q1_4": 0, "q3_1": 0.5, "q3_2": 0.5}),
    },
    "scores": {
        "right": ({}, {"1": 2, "2": 1.5, "3": 1.5}),
        "half": ({"mean_of_scores": "def mean(scores):\n    return scores[0]"},
                 {"1": 0, "2": 1.5, "3": 1.5}),
    },
    "fenced": {
        "right": ({}, {"q1": 2}),
        "half": ({"q1": "def greet(name):\n    return 'Hello, Ada'"}, {"q1": 0}),
    },
}  # fmt: skip
"""By master notebook: hand-ins, each with changed answers, and the points that otter gives."""


def master(text: str) -> NotebookNode:
    """Return the master notebook of a text. `=>` and `>>` begin what a cell shows and prints."""
    cells = []
    for part in text.strip().split("\n--\n"):
        kind, _, source = part.partition("\n")
        outputs = []
        for line in source.splitlines() if kind == "code" else ():
            mark, _, shown = line.partition(" ")
            if mark == "=>":
                made = nbformat.v4.new_output("execute_result", {"text/plain": shown})
                outputs.append(made)
            elif mark == ">>":
                outputs.append(nbformat.v4.new_output("stream", text=f"{shown}\n"))
        lines = [line for line in source.splitlines() if line[:3] not in ("=> ", ">> ")]
        make = {"raw": nbformat.v4.new_raw_cell, "text": nbformat.v4.new_markdown_cell,
                "code": nbformat.v4.new_code_cell}[kind]  # fmt: skip
        cells.append(make("\n".join(lines), **({"outputs": outputs} if outputs else {})))
    return python_notebook(cells)


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / name).mkdir(parents=True)
        nbformat.write(master(text), folder / name / f"{name}.ipynb")
    (folder / "squares").mkdir(exist_ok=True)
    (folder / "squares/words.txt").write_text("a b")


def test_a_question_becomes_an_answer_cell_and_a_test_cell_for_each_test(tmp_path):
    write(tmp_path, **MASTERS)
    wrote, problems = take_masters(tmp_path)

    assert problems == []
    assert [path.stem for path in wrote] == ["fenced", "scores", "squares"]
    assert (tmp_path / "source/squares/words.txt").read_text() == "a b"

    cells = nbformat.read(wrote[2], as_version=4).cells
    marks = [each.metadata.nbgrader for each in cells if "nbgrader" in each.metadata]
    found = [(each.grade_id, each.get("points"), each.solution, each.grade) for each in marks]

    assert found == [
        ("q1", None, True, False), ("test_q1_1", 1, False, True), ("test_q1_2", 1, False, True),
        ("test_q1_3", 1, False, True), ("test_q1_4", 1, False, True), ("q2", 3, True, True),
        ("q3", None, True, False), ("test_q3_1", 0.5, False, True), ("test_q3_2", 0.5, False, True),
    ]  # fmt: skip
    assert "### BEGIN HIDDEN TESTS" in cells[5].source
    assert "# nine = ..." in cells[2].source


def test_masters_are_taken_once(tmp_path):
    write(tmp_path, fenced=FENCED)
    take_masters(tmp_path)
    assert take_masters(tmp_path) == ([], [])


PROBLEMS = {
    "# SEED": SQUARES.replace(
        "nine = square(3) # SOLUTION", "import random\nrandom.seed(1) # SEED"
    ),
    "sets seed": SQUARES.replace("files:", "seed: 3\nfiles:"),
    "shows nothing": SQUARES.replace("=> True\n", ""),
    "older form": "text\n```\nBEGIN QUESTION\nname: q1\n```",
    "no YAML": SQUARES.replace("points: 4", "points: [4"),
    "no # END QUESTION": "raw\n# BEGIN QUESTION\nname: q1",
    "a name": "raw\n# BEGIN QUESTION\npoints: 1\n--\nraw\n# END QUESTION",
    "no cell of it": SQUARES.replace("Because a product of equal signs is positive.", "# ignore"),
    "Python cannot read": SQUARES.replace("nine == 9", "nine =="),
    "no test function": SCORES.replace("def test_zero(mean):\n    assert", "assert"),
}


@pytest.mark.parametrize("says", PROBLEMS)
def test_a_cell_without_a_counterpart_is_named_and_nothing_is_written(tmp_path, says):
    write(tmp_path, one=PROBLEMS[says])
    wrote, [problem, *_] = take_masters(tmp_path)

    assert wrote == []
    assert problem.startswith(f"{tmp_path}/one/one.ipynb, cell ")
    assert says in problem


@pytest.fixture(scope="module")
def adopted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    folder = tmp_path_factory.mktemp("otter")
    write(folder, **MASTERS)
    assert "is in order" in run(folder, "autograder", "adopt", ".")
    for name in MASTERS:
        run(folder, "nbgrader", "generate_assignment", name)
    with Grader(Course(folder), bytes(32)) as grader:
        yield grader


@pytest.mark.full
@pytest.mark.subprocess
@pytest.mark.parametrize(
    ("name", "who"), [(name, who) for name, hands in HANDED_IN.items() for who in hands]
)
def test_an_adopted_master_gives_otter_s_points(adopted, name, who):
    changed, points = HANDED_IN[name][who]
    made = nbformat.read(adopted.course.root / f"source/{name}/{name}.ipynb", as_version=4)
    for cell in made.cells:
        cell.source = changed.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    _, report = grade_content(adopted, nbformat.writes(made).encode(), "a file", name)
    found = {each.id.removeprefix("mean_of_scores_"): each.points for each in report.exercises
             if each.status != "manual"}  # fmt: skip

    assert found == points
