"""The visible checks: right answers pass, mistakes are named, and nothing is slow to import."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product

import pytest
from campaigns import drawn

from autograder.authoring.audit.cases import all_cases
from autograder.authoring.audit.mutation import merged
from autograder.course_folder.course import find_course
from course import check
from coursecheck.cards import example_table
from coursecheck.check import CheckFailed, diagnose, fitting_mistakes, load_table
from coursecheck.messages import FailedExample, Row
from namespaces import namespace

COURSE = find_course()
VALUE = COURSE.assignment("value")


TRAININGS = COURSE.settings.limits.trainings
# Right solutions, written in truly different ways; most of their trainings wait for a campaign.
RIGHT = [
    pytest.param(
        case,
        trains,
        id=f"{case.id}{trains:d}",
        marks=[*drawn(case.id, 7, 7), pytest.mark.full] if trains else [],
    )
    for name in COURSE.assignment_names()
    for case in all_cases(COURSE, COURSE.assignment(name), "", ["variant"])
    for trains in (False, True)
    if not trains or {*TRAININGS} & {*COURSE.assignment(name).exercises}
]

# On public examples these behave like another mistake, which is named in their place.
ALIKE = {"zero_grad.new_nodes", "four_points.rate_too_small"}
# The audit compares each name in the sandbox, and `test_generated` the tables that it comes from.
MISTAKES = [
    pytest.param(name, exercise.id, mistake, id=mistake.id, marks=drawn(mistake.id, 12, 12))
    for name in COURSE.assignment_names()
    for exercise in COURSE.assignment(name).exercises.values()
    for mistake in exercise.mistakes
    if exercise.examples and not mistake.hidden and mistake.id not in ALIKE
]


@pytest.mark.parametrize("exercise", list(VALUE.exercises))
def test_the_solution_of_each_exercise_passes_its_check(exercise, capsys):
    check(exercise, namespace(VALUE))
    assert "come out right" in capsys.readouterr().out


@pytest.fixture
def recursion_limit():
    """Restore the recursion limit after the test: a solution may have raised it, and then endless
    recursion would end the process."""
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.parametrize(("case", "trains"), RIGHT)
def test_right_answers_in_every_style_pass_their_checks(case, trains, recursion_limit):
    assignment = COURSE.assignment(case.assignment)
    scope = namespace(assignment, **case.answers)
    for exercise in assignment.exercises.values():
        if exercise.examples and (exercise.id in TRAININGS) == trains:
            check(exercise.id, scope)


@pytest.mark.parametrize(("name", "exercise", "mistake"), MISTAKES)
def test_the_check_names_mistakes_as_the_grader_does(name, exercise, mistake, capsys):
    scope = namespace(COURSE.assignment(name), **{exercise: mistake.source})
    try:
        check(exercise, scope)
    except CheckFailed as failed:
        shown = str(failed)
    else:
        shown = capsys.readouterr().out
        assert "The extra part is open" in shown
    assert mistake.says in shown


@pytest.mark.parametrize(
    ("name", "exercise", "edit", "says"),
    [
        ("value", "pow", ("local * out.grad", "local * self.grad"), "Your code says `x.grad` is"),
        ("value", "div", ("self.data / other.data**2", "self.data / 2"), "`y.grad` is -14.0"),
        ("backward", "deep", ("(self, False)", "(self, True)"), "Your code says"),
    ],
)
def test_a_mistake_that_agrees_on_the_examples_and_not_on_the_sweeps_is_not_named(
    name, exercise, edit, says
):
    assignment = COURSE.assignment(name)
    source = assignment.exercises[exercise].solution
    assert edit[0] in source
    with pytest.raises(CheckFailed, match=re.escape(says)):
        check(exercise, namespace(assignment, **{exercise: source.replace(*edit)}))


def test_the_check_names_a_stub_even_if_another_error_comes_first():
    assignment = COURSE.assignment("mlp")
    source = assignment.exercises["layer"].solution
    for edit in (
        ("len(answers) == 1", "len(x) == 1"),
        ("return [parameter", "raise NotImplementedError\n        return [parameter"),
    ):
        assert edit[0] in source
        source = source.replace(*edit)
    with pytest.raises(CheckFailed, match="Not finished yet"):
        check("layer", namespace(assignment, layer=source))


@pytest.mark.parametrize("exercise", ["sgd", "train"])
def test_a_mistake_in_the_core_is_named_even_if_the_extra_part_is_wrong_too(exercise):
    """Join each mistake that shows in the core with each that spoils the extra part alone."""
    assignment = COURSE.assignment("mlp")
    entry = load_table(assignment.table)["exercises"][exercise]
    assert any(example.get("extra") for example in entry["examples"])
    in_core, in_extra = [], []
    mistakes = {each.id: each for each in assignment.exercises[exercise].mistakes}
    for known in entry["mistakes"]:
        mistake = mistakes[known["id"]]
        is_in_core = fitting_mistakes(entry, known["results"], in_core=True)
        (in_core if is_in_core else in_extra).append(mistake)
    solution, joined = assignment.exercises[exercise].solution, 0
    for mistake, other in product(in_core, in_extra):
        if mistake.id == "train.a_step_for_each_sample":
            continue  # the other mistakes change the batches of its sweeps
        if source := merged(solution, mistake.source, other.source):
            found = diagnose(entry, namespace(assignment, **{exercise: source}))
            assert found is not None and found.says == mistake.says and not found.only_extra
            joined += 1
    assert joined >= 2 * len(in_core)


def test_a_mistake_is_named_even_if_another_function_is_still_a_stub():
    assignment = COURSE.assignment("mlp")
    sgd = assignment.exercises["sgd"]
    uphill = sgd.mistakes[0].source.replace("p.grad = 0.0", "raise NotImplementedError()")
    with pytest.raises(CheckFailed) as caught:
        check("sgd", namespace(assignment, sgd=in_a_notebook(uphill)))
    assert sgd.mistakes[0].says in str(caught.value)
    assert "Not finished yet: `zero_grad` still raises" in str(caught.value)


BEGUN = """
def bce(logits, targets):
    total = Value(0.0)
    for z, t in zip(logits, targets):
        if z.data >= 0:
            raise NotImplementedError
        total = total + (1 + z.exp()).log() - t * z.data
    return total / len(logits)
"""


def test_no_mistake_is_named_if_only_one_result_is_known_beside_a_stub():
    with pytest.raises(CheckFailed, match=r"✗ Binary cross-entropy\. Not finished yet"):
        check("bce", namespace(COURSE.assignment("mlp"), bce=BEGUN))


@pytest.mark.parametrize("exercise", list(VALUE.exercises))
def test_a_stub_is_called_unfinished(exercise):
    with pytest.raises(CheckFailed, match=r"Not finished yet: `.+` still raises"):
        check(
            exercise, namespace(VALUE, **{exercise: in_a_notebook(VALUE.exercises[exercise].stub)})
        )


def test_a_wrong_number_is_reported_before_an_error_in_a_later_example():
    backward = COURSE.assignment("backward")
    third = in_a_notebook("def zero_grad(parameters):\n    parameters[2].grad = 0.0\n")
    with pytest.raises(CheckFailed) as caught:
        check("zero_grad", namespace(backward, zero_grad=third))
    assert "a.grad  is 4.0, expected 0.0" in str(caught.value)
    assert "Error" not in str(caught.value)


def in_a_notebook(source: str) -> str:
    """Return the same code, compiled under a name such as a notebook's cells have."""
    return f"exec(compile({source!r}, '<ipython-input-1>', 'exec'), globals())\n"


@pytest.mark.parametrize(
    ("right", "slip", "hint"),
    [
        ("Value.__add__ = add", "", "Python found no method that can do this"),
        ("out._backward = _backward", "out._backward = _backward()", "parentheses"),
        ("self.grad +=", "grad +=", "say whose: `self.grad`"),
        ("self.data + other", "data + other", "Write `self.data`."),
        ("(self, other),", "(self),", "A single Value stands where several are expected"),
        ("self.data +", "self.data ^", "In Python `^` is not a power"),
        ("self.data + other", "self.date + other", "No line that ran has put it there"),
        ("self.data + other.data", "math.fsum([self, other])", "plain numbers only"),
    ],
)
def test_the_check_gives_a_hint_for_common_python_mistakes(right, slip, hint):
    solution = VALUE.exercises["add"].solution
    assert solution.count(right) == 1
    source = in_a_notebook(solution.replace(right, slip))
    with pytest.raises(CheckFailed) as caught:
        check("add", namespace(VALUE, add=source))
    assert hint in str(caught.value)


def test_an_interrupted_check_names_the_running_line():
    """Interrupt the kernel, as a student does in an endless loop."""
    source = in_a_notebook("def trace(root):\n    raise KeyboardInterrupt\n")
    with pytest.raises(
        CheckFailed, match="You stopped this check while your code was still running"
    ):
        check("trace", namespace(VALUE, trace=source))


@pytest.mark.subprocess
def test_the_check_warns_if_the_cell_s_last_run_failed():
    """Warn of a cell that did not run: the check would judge an earlier run of it."""
    cells = ["from course import check", "q1 = 'a'", "q1 = 'b", "check('q1')", "check('q1')"]
    code = f"""
from IPython.core.interactiveshell import InteractiveShell
for cell in {cells}:
    InteractiveShell.instance().run_cell(cell)
"""
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.count("✎ What the chain rule is for: noted.") == 2
    assert shown.count("The cell that you ran last could not be read by Python (SyntaxError)") == 1


def test_the_check_points_to_an_earlier_exercise_that_fails_too():
    """Break `mul`, so that `neg_sub`, which is composed of it, fails in a way that has no name."""
    scope = namespace(VALUE, mul="def mul(self, other):\n    return None\nValue.__mul__ = mul\n")
    with pytest.raises(CheckFailed, match="The check of `mul` fails too"):
        check("neg_sub", scope)


def test_the_check_of_an_unknown_exercise_raises_a_value_error():
    with pytest.raises(ValueError, match="no exercise called 'adding'"):
        check("adding", {})


@pytest.mark.subprocess
def test_importing_the_course_imports_no_heavy_module():
    code = "import sys, course; print(*sorted(m.partition('.')[0] for m in sys.modules))"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"autograder", "nbgrader", "IPython", "matplotlib", "numpy", "nbformat"} & set(
        loaded
    )


def test_check_all_prints_progress_and_the_exercise_to_do_next(capsys):
    solved = {each.id: each.solution for each in VALUE.exercises.values()}
    check.all("value", namespace(VALUE))
    said = capsys.readouterr().out
    assert said.startswith("Checks that pass: 7 of 7 core, 3 of 3 extra\n✓\u00a0Nudging, ✓\u00a0A")
    assert said.endswith("When you hand in, hidden tests try other numbers and cases.\n")
    broken = solved["mul"].replace("+= other.data", "= other.data")
    assert broken != solved["mul"]
    check.all("value", namespace(VALUE, mul=broken))
    said = capsys.readouterr().out
    assert "of 7 core" in said and "○\u00a0Multiplication" in said
    assert "Go on with: Multiplication." in said
    assert "noted" not in said
    check.all("value", {})
    assert "0 of 7 core, 0 of 3 extra" in (said := capsys.readouterr().out)
    assert "Go on with: Nudging." in said
    with pytest.raises(ValueError, match="no notebook called 'values'"):
        check.all("values", {})


def test_check_all_counts_answers_to_questions_that_have_a_valid_form(capsys):
    check.all("checkpoint", {"q1": "A", "q2": "seven"})
    said = capsys.readouterr().out
    assert "✎\u00a0What the chain rule is for, ○\u00a0" in said
    assert "Answered: 1 of 12 core, 0 of 9 extra" in said
    assert said.endswith("an answer is noted; only the grader knows whether it is right.\n")


def test_an_example_shows_imports_that_it_uses_and_folds_if_it_is_long():
    rows = [Row("y", 1, 2)]
    code = "from a import x  # one\nfrom b import z as w\nfrom c import y\n\ny(w)\n"
    assert FailedExample(code, rows).shown == "from b import z as w\nfrom c import y\n\ny(w)"
    assert "<details" not in example_table(FailedExample(code, rows))
    assert "<pre" not in example_table(FailedExample("", rows))
    long = example_table(FailedExample("y = 1\n" * 17, rows))
    folded = long[long.index("<details") : long.index("</details>")]
    assert "17 lines" in folded and folded.count("y = 1") == 17


def test_without_a_name_for_a_mistake_the_first_public_example_is_shown():
    source = (
        "def trace(root):\n"
        "    operands = [*root._prev]\n"
        "    return operands, [(each, root) for each in operands]\n"
    )
    entry = load_table(VALUE.table)["exercises"]["trace"]
    found = diagnose(entry, namespace(VALUE, trace=source))
    assert found is not None and found.failed_example is not None
    assert found.failed_example.code == entry["examples"][0]["code"]
    assert found.says == "Your code says `len(nodes)` is 2. It should be 5."
