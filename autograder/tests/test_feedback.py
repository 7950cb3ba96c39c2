"""A student's feedback page has the right content, is self-contained, and runs no script."""

from __future__ import annotations

import time
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades
from schools import COURSE, grade, released, run, solutions

from autograder.commands.demo import hand_in
from autograder.course_folder.course import COURSE as COURSE_KEY
from autograder.course_folder.course import Course
from autograder.errors import CourseError
from autograder.judging.explaining import definition
from autograder.nbgrader_plugins.autograde import HideTests
from autograder.notebook.sanitizing import safe_html
from autograder.pages.feedback import FeedbackExporter, ReadMarks
from autograder.pages.feedback.exporter import feedback_page, parts
from autograder.pages.feedback.summary import summary
from autograder.pages.markdown import comment_html, markdown_html
from autograder.pages.mathml import MAX_LENGTH, mathml
from autograder.records import ADVICE, ExerciseResult, Report

CHECKPOINT = COURSE.assignment("checkpoint")
VALUE = COURSE.assignment("value")
MISTAKE = next(m for m in VALUE.exercises["mul"].mistakes if m.id == "mul.own_data")
RIGHT = solutions("value")
ANSWERS = {
    "all_right": RIGHT,
    "one_mistake": {**RIGHT, "mul": MISTAKE.source},
    "by_hand": {**RIGHT, "mul": MISTAKE.source},
    "not_started": {},
}
WRITTEN = next(exercise for exercise in CHECKPOINT.exercises.values() if exercise.manual)


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    """Return a graded class, with feedback made by nbgrader's own command."""
    folder = released(tmp_path_factory.mktemp("school"), "value", "checkpoint")
    hand_in(Course(folder), VALUE, ANSWERS)
    quizzed = {**solutions("checkpoint"), WRITTEN.id: "By the chain rule, $y = x^2$."}
    hand_in(Course(folder), CHECKPOINT, {"quizzed": quizzed})
    for name in ("value", "checkpoint"):
        grade(folder, name)
    run(folder, "nbgrader", "generate_feedback", "value")
    return folder


def page_of(school: Path, student: str) -> BeautifulSoup:
    path = school / "feedback" / student / "value" / "value.html"
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def made_anew(school: Path, student: str, name: str) -> BeautifulSoup:
    exporter = FeedbackExporter()
    exporter.register_preprocessor(ReadMarks(), enabled=True)
    exporter.register_preprocessor(HideTests(), enabled=True)
    path = school / "autograded" / student / name / f"{name}.ipynb"
    html, _ = exporter.from_filename(str(path), _resources(school, student, name))
    return BeautifulSoup(html, "html.parser")


def _resources(school: Path, student: str, name: str) -> dict:
    about = {"student": student, "assignment": name, "notebook": name}
    about["db_url"] = f"sqlite:///{school}/gradebook.db"
    return {"nbgrader": about, COURSE_KEY: Course(school)}


def rows(page: BeautifulSoup) -> dict[str, list[str]]:
    """Return the summary's sign, points and message, by exercise."""
    found = {}
    for row in page.select(".summary tbody tr"):
        cells = row.find_all("td")
        found[row.a["href"].removeprefix("#")] = [
            " ".join(cell.get_text(" ", strip=True).split()) for cell in cells[1:]
        ]
    return found


def test_the_summary_has_a_line_for_each_exercise(school):
    table = rows(page_of(school, "one_mistake"))
    assert list(table) == list(VALUE.exercises)
    assert table["add"][0] == "✓ right"
    assert table["add"][1] == "4 of 4"

    went, points, found = table["mul"]
    assert went in ("✗ not right yet", "◐ partly right")
    assert points != "4 of 4"
    assert MISTAKE.says.replace("`", "").split(".")[0] in found.replace(" ,", ",")


def test_exercises_keep_their_titles_if_the_headings_are_gone():
    results = [
        ExerciseResult(exercise.id, exercise.title, 4.0) for exercise in VALUE.exercises.values()
    ]
    cells = [nbformat.v4.new_markdown_cell("## Exercise 4 · Powers")]
    for result in results:
        cells.append(nbformat.v4.new_code_cell())
        cells[-1].metadata["nbgrader"] = {
            "grade_id": f"test_{result.id}", "grade": True, "score": 0, "points": 4, "waits": False,
            "by_hand": False,
        }  # fmt: skip
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["autograder"] = {"report": Report("value", results).as_json()}
    titles = [exercise.title for exercise in VALUE.exercises.values()]

    assert [line.title for line in summary(notebook)] == titles


def test_exercises_below_one_heading_have_different_titles():
    own = {"grade": True, "score": 0, "points": 1, "waits": False, "by_hand": False}
    cells = [nbformat.v4.new_markdown_cell("## Loops")]
    for name in ("evens_1", "evens_2"):
        marks = {"nbgrader": {**own, "grade_id": name}}
        cells.append(nbformat.v4.new_code_cell(metadata=marks))
    notebook = nbformat.v4.new_notebook(cells=cells)

    assert [line.title for line in summary(notebook)] == ["Loops (evens_1)", "Loops (evens_2)"]


def test_searches_in_student_text_take_linear_time():
    spaces, lines = "# x" + " " * 200_000 + "y", "u = 1" + "\n" * 200_000 + "v = 1"
    started = time.thread_time()
    [(title, _)] = parts([nbformat.v4.new_markdown_cell(spaces)])

    assert title.startswith("x ")
    assert title.endswith("y (1 cell of the notebook)")
    assert not definition("f", indent="[ \t]*").search(lines)
    assert "<h1" in markdown_html(spaces[:19_000] + "y", {}, {})
    # With the square of the length it is minutes.
    assert time.thread_time() - started < 10


def test_nested_svg_cannot_bypass_the_limits_of_drawings():
    content = b64encode(b"<svg><rect/></svg>").decode()
    assert "svg" not in safe_html(f'<img src="data:image/svg+xml;base64,{content}">')

    rebuilt = safe_html("<svg><rect/></svg>")
    assert "svg" in rebuilt
    assert safe_html(rebuilt) == rebuilt


@pytest.mark.parametrize(
    ("student", "says"),
    [
        ("one_mistake", "begin with Products"),
        ("not_started", "begin with A number with a memory"),
        ("all_right", "Everything is right"),
    ],
)
def test_a_feedback_page_names_the_exercise_to_begin_with(school, student, says):
    page = page_of(school, student)
    seen = " ".join(page.select_one(".next").get_text(" ", strip=True).split())

    assert says in seen

    for link in page.select("header a[href]"):
        assert page.find(id=link["href"].removeprefix("#")) is not None


@pytest.mark.parametrize(
    ("status", "message", "points", "went", "advice"),
    [
        ("timeout", "It ran out of time.", 0.0, "✗ not right yet", ADVICE["timeout"]),
        ("timeout", f"Out of time. {ADVICE['timeout']}", 0.0, "✗ not right yet", ""),
        ("missing", "", 0.0, "○ not started", "Write your answer, then run the check below it."),
        ("failed", "Wrong.\n\n    x = 1", 0.0, "✗ not right yet", "Compare the public example"),
        ("failed", "Wrong.", 1.0, "◐ partly right", "Read what the tests found"),
        ("passed", "", 4.0, "✓ right", ""),
        ("manual", "A person reads this.", 1.0, "◐ partly right", ""),
    ],
)
def test_the_advice_for_an_exercise_depends_on_status_and_points(
    status, message, points, went, advice
):
    own = {"grade": True, "grade_id": "test_pow", "score": points, "points": 4.0}
    cell = nbformat.v4.new_code_cell(metadata={"nbgrader": {**own, "by_hand": 0, "waits": 0}})
    verdict = {"id": "pow", "status": status, "message": message}
    about = {"autograder": {"report": {"exercises": [verdict]}}}
    [line] = summary(nbformat.v4.new_notebook(cells=[cell], metadata=about))

    assert " ".join(line.went) == went
    assert status != "manual" or line.says == ""
    assert line.advice.startswith(advice) if advice else line.advice == ""


def test_the_total_on_a_feedback_page_is_the_gradebook_s(school):
    with Gradebook(f"sqlite:///{school}/gradebook.db") as gradebook:
        submission = gradebook.find_submission("value", "one_mistake")
        expected = f"{submission.score:g} of {submission.max_score:g} points"
    total = page_of(school, "one_mistake").select_one(".total b").get_text()

    assert total == expected


def test_a_feedback_page_is_self_contained_and_runs_no_script(school):
    page = page_of(school, "one_mistake")
    assert not page.find_all(["script", "link", "iframe", "object", "embed", "form"])
    assert all(image["src"].startswith("data:image/") for image in page.find_all("img"))

    policy = page.find("meta", attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none'")
    assert "script" not in policy
    assert "HIDDEN TESTS" not in str(page)
    assert "run_hidden_tests" not in str(page)


COMPARISONS = "You need x<y and y>z; see p < 0.05, List\\<int> and $n<5$."


@pytest.fixture(scope="module")
def marked_by_hand(school: Path) -> Path:
    """Return the class with marks, a comment and a penalty for one student."""
    with Gradebook(f"sqlite:///{school}/gradebook.db") as gradebook:
        gradebook.find_grade("test_add", "value", "value", "by_hand").manual_score = 1.5
        gradebook.find_grade("test_node", "value", "value", "by_hand").extra_credit = 0.5
        comment = gradebook.find_comment("add", "value", "value", "by_hand")
        comment.manual_comment = "Nearly **there**. <script>alert(1)</script>"
        gradebook.find_comment("node", "value", "value", "by_hand").manual_comment = COMPARISONS
        notebook = gradebook.find_submission_notebook("value", "value", "by_hand")
        notebook.late_submission_penalty = 2.0
        gradebook.db.commit()
    return school


KEPT = ("score", "points", "comment", "grade_id")
TOTALS = ("score", "max_score", "late_penalty")


def test_marks_and_comments_are_read_as_by_nbgrader(marked_by_hand):
    path = marked_by_hand / "autograded" / "by_hand" / "value" / "value.ipynb"
    outcomes = []
    for reader in (GetGrades(), ReadMarks()):
        notebook = nbformat.read(path, as_version=4)
        resources = _resources(marked_by_hand, "by_hand", "value")
        reader.preprocess(notebook, resources)
        cells = [
            {name: cell.metadata.get("nbgrader", {}).get(name) for name in KEPT}
            for cell in notebook.cells
        ]
        outcomes.append((cells, {name: resources["nbgrader"][name] for name in TOTALS}))

    assert outcomes[0] == outcomes[1]
    assert outcomes[1][1]["late_penalty"] == 2.0


def test_a_feedback_page_shows_marks_comments_and_penalties(marked_by_hand):
    page = made_anew(marked_by_hand, "by_hand", "value")
    assert rows(page)["add"][1] == "1.5 of 4 *"
    assert page.find(id="comment-add").strong.get_text() == "there"
    assert "<script>alert(1)</script>" in page.find(id="comment-add").get_text()
    assert not page.find_all("script")
    shown = "You need x<y and y>z; see p < 0.05, List<int> and n<5."
    assert shown in page.find(id="comment-node").get_text()
    assert page.find(id="comment-node").math.get_text() == "n<5"
    assert "2 points were taken off for being late" in page.header.get_text()


@pytest.mark.parametrize(
    "comment",
    [
        "You need x<y and y>z.", "<b>bold</b> <!-- and --> &lt;", "2*x*y, x**2 + y**2, __init__",
        "[1]: here", "#3 is wrong", "> 5 is right", "- [x] done", "f[i](x), ![a](b), <std::vector>",
        "See https://a.b/c?x=1&y=2.", "a\n===\nb", "Line\n: two",
    ],
)  # fmt: skip
def test_no_character_of_a_comment_is_lost(comment):
    shown = BeautifulSoup(comment_html(comment, {}), "html.parser").get_text()
    assert shown.split() == comment.removeprefix("- ").split()


def test_an_answer_that_waits_for_a_person_is_marked_so_and_later_shows_the_mark(school):
    page = made_anew(school, "quizzed", "checkpoint")
    went, points, _ = rows(page)[WRITTEN.id]

    assert went == "✎ waits for a person"
    assert points.startswith("—")
    assert "wait for a person" in page.header.get_text()
    assert WRITTEN.marking_guide.split("\n")[0] not in page.get_text()

    answer = page.find(id=WRITTEN.id)
    assert answer.find("math") is not None

    with Gradebook(f"sqlite:///{school}/gradebook.db") as gradebook:
        grade = gradebook.find_grade(WRITTEN.id, "checkpoint", "checkpoint", "quizzed")
        grade.manual_score, grade.needs_manual_grade = WRITTEN.max_points, False
        gradebook.db.commit()
    table = rows(made_anew(school, "quizzed", "checkpoint"))

    assert table[WRITTEN.id][0] == "✓ right"
    assert table[WRITTEN.id][1].endswith("*")


@pytest.mark.parametrize(
    ("days", "extension", "is_shown"), [(-1, 0, True), (-1, 2, False), (1, 0, False)]
)
def test_why_other_answers_are_wrong_is_shown_after_the_due_date(school, days, extension, is_shown):
    with Gradebook(f"sqlite:///{school}/gradebook.db") as gradebook:
        now = datetime.now(UTC).replace(tzinfo=None)
        gradebook.find_assignment("checkpoint").duedate = now + timedelta(days=days)
        submission = gradebook.find_submission("checkpoint", "quizzed")
        submission.extension = timedelta(days=extension)
        gradebook.db.commit()
    question = next(each for each in CHECKPOINT.exercises.values() if each.form)

    page = made_anew(school, "quizzed", "checkpoint").get_text()

    assert [mistake.says in page for mistake in question.mistakes] == [is_shown, is_shown]


def test_feedback_on_a_submission_that_the_gradebook_lacks_is_refused_with_a_message(school):
    with pytest.raises(CourseError, match="autograder grade value"):
        ReadMarks().preprocess(nbformat.v4.new_notebook(), _resources(school, "nobody", "value"))


@pytest.mark.parametrize(
    ("latex", "kept"),
    [
        (r"\frac{\partial L}{\partial a}", "mfrac"),
        (r"\sum_{i=1}^{n} w_i x_i", "msubsup"),
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "mtr"),
        (r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}", "mtable"),
        (r"\tanh'(x) = 1 - \tanh^2 x", "msup"),
    ],
)
def test_formulas_are_still_shown_after_sanitizing(latex, kept):
    shown = BeautifulSoup(safe_html(mathml(latex)), "html.parser")
    assert shown.find("math") is not None
    assert shown.find(kept) is not None


@pytest.mark.parametrize(
    "latex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\style{position:fixed}{x}",
        r"\class{score}{x} \text{<img src=x onerror=alert(1)>}",
        r"\text{</math><script>alert(1)</script>}",
        r"\hspace{9999em} x",
        "<img src=x onerror=alert(1)>",
    ],
)
def test_a_formula_cannot_run_code_or_load_files(latex):
    shown = BeautifulSoup(safe_html(mathml(latex)), "html.parser")
    assert not shown.find_all(["script", "img", "a"])

    for element in shown.find_all(True):
        assert not set(element.attrs) & {"href", "class", "onerror", "id"}
        assert "fixed" not in element.get("style", "")
        assert "9999" not in element.get("width", "")


def test_invalid_formulas_are_shown_as_written():
    bomb = r"\def\a{xxxxxxxxxx}\def\b{\a\a\a\a\a\a\a\a}\b\b\b\b"
    for latex in (bomb, "x" * (MAX_LENGTH + 1), r"\left( x", "{" * 1500):
        assert mathml(latex) == f"<code>{latex}</code>"


def test_feedback_on_the_longest_notebook_takes_bounded_time():
    output = nbformat.v4.new_output("stream", name="stdout", text="\x1b[31mx" * 250_000)
    cells = [nbformat.v4.new_code_cell("x = [1, 2, 3]\n" * 3500) for _ in range(100)]
    cells.append(nbformat.v4.new_code_cell("print(1)", outputs=[output]))
    about = {"student": "ada", "notebook": "value", "score": 0.0, "max_score": 40.0}
    resources = {"nbgrader": {**about, "late_penalty": 0.0}}
    started = time.thread_time()
    html = feedback_page(nbformat.v4.new_notebook(cells=cells), resources)

    assert time.thread_time() - started < 10
    assert html.count("x = [1, 2, 3]") > 350_000 * 0.9
    assert "\x1b" not in html


def test_cells_of_a_feedback_page_except_answers_and_verdicts_can_be_folded():
    new = nbformat.v4
    cells = [
        new.new_markdown_cell("Some words\n\n## A product <b>\n"),
        new.new_code_cell("# a comment"),
        new.new_code_cell("x = 1", metadata={"nbgrader": {"solution": True, "grade_id": "x"}}),
        new.new_code_cell("", metadata={"nbgrader": {"grade": True, "grade_id": "test_x"}}),
        new.new_code_cell("# another"),
    ]
    titles = [title for title, _ in parts(cells)]

    assert titles == ["A product <b> (2 cells of the notebook)", "", "1 cell of the notebook"]
