"""Courses in the forms of real nbgrader courses get the points that nbgrader gives."""

from __future__ import annotations

import csv
import json
import shutil
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from campaigns import drawn
from downloads import zipped
from nbgrader.api import Gradebook
from nbgrader_courses import TEXTS, VARIANTS, Text, make_course, read_text, variant
from schools import run

from autograder.authoring.adopting import adopt
from autograder.course_folder.course import Course
from autograder.course_folder.release import current_release
from autograder.course_folder.settings import load_settings
from autograder.errors import CourseError
from autograder.judging.grader import Grader
from autograder.lms.importing import import_download
from autograder.marking.answers import Answers
from autograder.nbgrader_plugins.configuration import unsafe_settings
from autograder.pipeline.classroom import course_directory
from autograder.pipeline.one_submission import grade_content

pytestmark = pytest.mark.subprocess
KEY = bytes(32)
ALL = {path.stem: read_text(path) for path in sorted(TEXTS.glob("*.txt"))}
NAMES = [pytest.param(name, marks=drawn(name, 4)) for name in ALL]
PACKAGES = '[student_code]\npackages = ["numpy", "pandas", "pytest", "matplotlib"]'
HALF = "%% solution half\nhalf = 0.5\n%% test test_half 2\n"


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Iterator[tuple[Path, Grader]]:
    folder = make_course(tmp_path_factory.mktemp("found"), [*ALL.values()], PACKAGES)
    with Grader(Course(folder), KEY) as grader:
        yield folder, grader


def name_of(text: Text, notebook: str) -> str:
    """Return the name by which a notebook is graded."""
    return text.name if len(text.notebooks) == 1 else f"{text.name}/{notebook}"


def points_of(grader: Grader, name: str, made: nbformat.NotebookNode) -> dict[str, float | None]:
    _, report = grade_content(grader, nbformat.v4.writes(made).encode(), "a file", name)
    return {result.id: result.points for result in report.exercises}


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("name", NAMES)
def test_each_variant_of_a_notebook_gets_the_points_that_nbgrader_gives(found, name, kind):
    folder, grader = found
    for notebook, tests in ALL[name].points.items():
        made = variant(folder, ALL[name], notebook, kind)
        points = points_of(grader, name_of(ALL[name], notebook), made)
        place = VARIANTS.index(kind)
        for test, points_of_each in tests.items():
            assert points[test.removeprefix("test_")] == points_of_each[place]


@pytest.mark.parametrize("name", NAMES)
def test_only_test_cells_that_the_solution_fails_are_reported_as_defects(found, name):
    for notebook, tests in ALL[name].points.items():
        broken = [test for test, points in tests.items() if None in points]
        assert len(found[1].check_solution(name_of(ALL[name], notebook))) == len(broken)


@pytest.mark.parametrize("name", NAMES)
def test_the_release_that_nbgrader_made_is_accepted_as_current(found, name):
    assert current_release(Course(found[0]), name) == found[0] / "release" / name


def test_an_exercise_without_a_heading_has_its_name(found):
    exercises = Course(found[0]).assignment("loops").exercises
    assert [each.title for each in exercises.values()] == [*exercises]


def test_the_model_answer_is_the_cell_of_the_source(found):
    answers = Answers(Course(found[0]), "loops")
    solutions = {
        each: [cell.source for cell in answers.solution(each)] for each in ("why", "fizz_1")
    }
    answers.gradebook.close()
    assert solutions == {"why": ["Because they leave nothing."], "fizz_1": []}


def hand_in(folder: Path, *texts: Text) -> None:
    """Hand each variant in, as a student of that name."""
    for text in texts:
        for kind in VARIANTS:
            target = folder / "submitted" / kind / text.name
            target.mkdir(parents=True)
            for notebook in text.notebooks:
                nbformat.write(variant(folder, text, notebook, kind), target / f"{notebook}.ipynb")


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """Return a class in assignments of several notebooks and of one with a name of its own."""
    folder = make_course(tmp_path_factory.mktemp("class"), [ALL["parts"], ALL["renamed"]])
    hand_in(folder, ALL["parts"], ALL["renamed"])
    (folder / "submitted/stub/renamed/3-loops.ipynb").rename(
        folder / "submitted/stub/renamed/my loops.ipynb"
    )
    (folder / "submitted/half/parts/problem1.ipynb").unlink()
    run(folder, "autograder", "grade", "parts", "renamed", "--workers", "1", status=1)
    return folder


def marks(folder: Path) -> dict[tuple[str, ...], float | None]:
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        return {
            (submission.student.id, notebook.name, grade.name): grade.auto_score
            for assignment in gradebook.assignments
            for submission in assignment.submissions
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def download(folder: Path, hours: dict[str, int], **files: str) -> Path:
    """Make Moodle's download of one or more files of each student, handed in at these hours.

    Args:
        files: the variant that a file is, by its name.
    """
    text, entries = ALL["parts"], []
    for student, hour in hours.items():
        for file, kind in files.items():
            made = nbformat.v4.writes(variant(folder, text, file.partition(" ")[0], kind))
            place = f"{student}_7_assignsubmission_file/{file}.ipynb"
            entries.append((place, made.encode(), datetime(2030, 3, 1, hour)))
    return zipped(folder / "download.zip", entries)


@pytest.mark.full
def test_all_notebooks_of_an_assignment_are_imported_and_get_a_feedback_page(tmp_path):
    best = '[grading]\ncounts = "best"'
    folder = make_course(tmp_path / "course", [ALL["parts"]], best)
    with Gradebook(course_directory(Course(folder)).db_url) as gradebook:
        for name in ("Ada", "Bob", "Cy"):
            gradebook.add_student(name.lower(), first_name=name, last_name="Lee")
    first = download(folder, {"Ada Lee": 9, "Bob Lee": 11}, problem2="solution")
    import_download(Course(folder), "parts", first)
    files = {"problem1": "stub", "problem1 (1)": "solution", "problem2": "stub"}
    again = download(folder, {"Ada Lee": 14, "Cy Lee": 10}, **files)
    for states in ("newer", "new"), ("same", "same"):
        assert (
            tuple(each.state for each in import_download(Course(folder), "parts", again)) == states
        )
    seen = run(folder, "autograder", "grade", "parts", "--workers", "1", status=1)

    assert "ada: of 2 attempts, the one of 2030-03-01 09:00:00 UTC counts" in seen

    found = {(who, part): points for (who, part, test), points in marks(folder).items()
             if test == "test_answer"}  # fmt: skip
    earned = {who: [found[who, part] for part in ALL["parts"].notebooks] for who, _ in found}

    assert earned == {"ada": [0, 3], "bob": [0, 3], "cy": [2, 0]}

    run(folder, "autograder", "feedback", "parts", "--output", "out")
    names = zipfile.ZipFile(folder / "out/feedback_parts_moodle.zip").namelist()
    pages = [f"{place}/{part}.html" for place in ("Ada Lee_7", "Bob Lee_7", "Cy Lee_7")
             for part in ALL["parts"].notebooks]  # fmt: skip

    assert [name.replace("_assignsubmission_file", "") for name in names] == pages


PARTS = {
    ("solution", "problem1", "test_answer"): 2, ("solution", "problem2", "test_answer"): 3,
    ("stub", "problem1", "test_answer"): 0, ("stub", "problem2", "test_answer"): 0,
    ("half", "problem1", "test_answer"): 0, ("half", "problem2", "test_answer"): 3,
    ("solution", "3-loops", "test_loop"): 2, ("solution", "3-loops", "other_test"): 1,
    ("stub", "3-loops", "test_loop"): 0, ("stub", "3-loops", "other_test"): 0,
    ("half", "3-loops", "test_loop"): 2, ("half", "3-loops", "other_test"): 0,
}  # fmt: skip


def test_each_notebook_of_an_assignment_has_marks_of_its_own(graded):
    found = marks(graded)
    assert {key: found[key] for key in PARTS} == PARTS
    assert found["solution", "problem1", "why"] is None

    seen = run(graded, "autograder", "grade", "parts", "--student", "solution", "--workers", "1")
    assert seen.count("graded before, unchanged") == 2


def test_feedback_report_regrading_and_export_cover_each_notebook(graded):
    run(graded, "nbgrader", "generate_feedback", "parts")
    page = (graded / "feedback/solution/parts/problem2.html").read_text("utf-8")

    assert "3 of 3 points" in page
    assert "HIDDEN TESTS" not in page

    for place, more in (("class_report", []), ("both", ["--output", "both"])):
        run(graded, "autograder", "report", "parts", "renamed", *more)
        assert (graded / place / "parts/problem1/report.html").exists()
        assert (graded / place / "renamed/report.html").exists()
    seen = run(graded, "autograder", "regrade", "parts", "--json", "--workers", "1")
    lines = [json.loads(line) for line in seen.splitlines() if line.startswith("{")]

    assert {line["assignment"] for line in lines} == {"parts/problem1", "parts/problem2"}

    run(graded, "autograder", "export", "parts", "--partial", "--output", "marks.csv", status=1)
    rows = csv.DictReader((graded / "marks.csv").open())

    assert {row["student"]: row["max_score"] for row in rows}["solution"] == "6"


@pytest.mark.full
def test_nbgrader_autograde_gives_the_same_marks(graded, tmp_path):
    kept = shutil.ignore_patterns("autograded", "feedback", "my loops.ipynb")
    shutil.copytree(graded, tmp_path / "again", ignore=kept)
    run(tmp_path / "again", "nbgrader", "autograde", "parts", "--force")
    found = marks(tmp_path / "again")

    assert {key: found[key] for key in PARTS} == PARTS


def course_of(folder: Path, text: str, settings: str = "") -> Path:
    """Make a course of one assignment, `small`."""
    (folder / "small.txt").write_text(text)
    return make_course(folder / "course", [read_text(folder / "small.txt")], settings)


BROKEN = {
    "import lost_one": "source/small needs lost_one: install it, and add it to student_code",
    "import numpy": "source/small needs numpy: add it to student_code.packages",
    "import mine": 'needs mine.py: add "mine.py" to data under [assignments.small]',
    "open('notes.txt')": 'needs notes.txt: add "notes.txt" to data',
    "open('lost.txt')": "source/small does not hold it: put it there",
    "assert half == 2, 'no half'": "AssertionError: no half",
    "import sys; print('hm', file=sys.stderr)": "writes to stderr, which earns nothing: hm",
    "1.5": "its last line gives 1.5 of 2 points",
    "3": "its last line gives more than the 2 points that it is worth",
    "numpy.e": "No module named 'numpy' in the cell 1\nsource/small needs numpy",
    "while True: pass": "it ran out of time",
}


@pytest.mark.full
def test_test_cells_that_the_solution_fails_are_reported_and_cost_no_points(tmp_path):
    tests = "".join(f"%% test test_{i} 2\n{test}\n" for i, test in enumerate(BROKEN))
    text = f"%% file notes.txt\n%% file mine.py\n%% notebook small\n%% code\nhalf = 0.5\n{tests}"
    folder = course_of(tmp_path, text, "[limits]\ncell_seconds = 0.5")
    with Grader(Course(folder), KEY) as grader:
        defects = grader.check_solution("small")
        made = nbformat.read(folder / "release/small/small.ipynb", as_version=4)
        _, report = grade_content(grader, nbformat.v4.writes(made).encode(), "a file", "small")
    for place, (defect, says) in enumerate(zip(defects, BROKEN.values(), strict=True)):
        start = f"small: the test cell of {place}: its own solution does not pass it: "
        assert defect.startswith(start)
        assert says in defect

    assert {(exercise.points, exercise.status) for exercise in report.exercises} == {
        (None, "ungraded")
    }
    assert report.defects == defects


@pytest.mark.full
def test_a_notebook_in_another_language_is_refused_with_the_language_s_name(tmp_path):
    folder = course_of(tmp_path, f"%% kernel R ir\n%% notebook small\n{HALF}half\n")
    with pytest.raises(CourseError, match="is written in R, and only Python is graded here"):
        Course(folder).assignment("small")


@pytest.mark.full
def test_a_notebook_with_old_metadata_is_refused_with_the_command_that_updates_it(tmp_path):
    folder = course_of(tmp_path, f"%% notebook small\n{HALF}half\n")
    path = folder / "source/small/small.ipynb"
    path.write_text(path.read_text("utf-8").replace('"schema_version": 3', '"schema_version": 1'))
    with pytest.raises(CourseError, match=f"of version 1, .* run `nbgrader update {path}`"):
        Course(folder).assignment("small")


def sources(folder: Path, *texts: Text) -> dict[Path, bytes]:
    """Write the source folders of a new course; return their contents."""
    for text in texts:
        text.write(folder / "source" / text.name)
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.full
def test_adopting_a_course_without_problems_ends_with_a_line_that_says_so(tmp_path):
    before = sources(tmp_path, *(ALL[name] for name in ALL if name != "scores"))
    *_, last = run(tmp_path, "autograder", "adopt", ".").splitlines()
    cells = sum(len(each) for name in ALL if name != "scores" for each in ALL[name].points.values())

    assert last.endswith(
        f" is in order: each solution passes its {cells} test cells in the sandbox."
    )
    assert {path: path.read_bytes() for path in before} == before

    settings = load_settings(tmp_path)
    assert {*settings.visible.packages} >= {"numpy", "pandas", "pytest", "matplotlib"}
    assert settings.of("week").data == ("tools/means.py", "week.csv")
    assert settings.of("codebreaker").data == ("scoring.py",)
    assert all(settings.of(name).tests == "in-notebook" for name in ALL if name != "scores")


@pytest.mark.full
def test_adopting_lists_what_a_person_has_to_decide_or_install(tmp_path):
    sources(tmp_path, ALL["scores"], ALL["halves"], ALL["renamed"])
    for name, old, new in (("halves", "python", "R"), ("renamed", "return list(", "import lost #")):
        [path] = (tmp_path / "source" / name).glob("*.ipynb")
        path.write_text(path.read_text("utf-8").replace(old, new))
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.ClearSolutions.x = 1\n")
    seen = run(tmp_path, "autograder", "adopt", ".", status=1)

    assert "halves.ipynb is written in R, and only Python is graded here" in seen
    assert "scores: the test cell of noisy: its own solution does not pass it: it writes" in seen
    assert "source/renamed: 3-loops.ipynb; not installed: lost" in seen
    assert "source/renamed needs lost: install it" in seen

    config = (tmp_path / "nbgrader_config.py").read_text("utf-8")
    assert config.startswith('load_subconfig("autograder_config.py")')
    assert "x = 1" in config

    written = (tmp_path / "course.toml").read_bytes()
    run(tmp_path, "autograder", "adopt", ".", status=1)

    assert (tmp_path / "course.toml").read_bytes() == written
    assert (tmp_path / "nbgrader_config.py").read_text("utf-8") == config


CONFIG = '''"""The application saves the autograder's grades."""
from nbgrader.plugins import LateSubmissionPlugin
c = get_config()
c.CourseDirectory.course_id = "own"
c.CourseDirectory.student_id_exclude = "stub,nobody"
c.GenerateAssignment.preprocessors.remove("autograder.nbgrader_plugins.weights.CoreOnly")

class Half(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 2

c.AssignLatePenalties.plugin_class = Half
'''
OUTSIDE = 'c.Autograde.autograde_preprocessors = ["nbgrader.preprocessors.Execute"]\n'


SMALL = f"%% notebook small\n{HALF}half * 4\n"


def small(folder: Path, text: str = SMALL, config: str = "") -> Text:
    """Make a course of nbgrader's with one assignment, `small`."""
    (folder / "small.txt").write_text(text)
    made = read_text(folder / "small.txt")
    sources(folder, made)
    (folder / "nbgrader_config.py").write_text(config or "c = get_config()\n")
    return made


def configuration(folder: Path, status: int = 1) -> dict[str, object]:
    found = json.loads(run(folder, "autograder", "doctor", "--json", status=status))
    return {finding["what"]: finding for finding in found}["nbgrader's configuration"]


@pytest.mark.full
def test_adopting_keeps_a_course_s_own_nbgrader_settings(tmp_path):
    made = small(tmp_path, config=CONFIG.replace("c.Generate", "# c.Generate"))
    (tmp_path / "course.toml").write_text('id = "own"\ntitle = "Own"\n')

    assert not configuration(tmp_path)["fine"]

    (tmp_path / "course.toml").unlink()
    (tmp_path / "nbgrader_config.py").write_text(CONFIG.replace("c.Generate", "# c.Generate"))
    run(tmp_path, "autograder", "adopt", ".")
    text = (tmp_path / "nbgrader_config.py").read_text("utf-8")
    (tmp_path / "nbgrader_config.py").write_text(text.replace("# c.Generate", "c.Generate"))

    assert unsafe_settings(course_directory(Course(tmp_path)).config) == []
    assert len(course_directory(Course(tmp_path)).config.GenerateAssignment.preprocessors) == 11

    run(tmp_path, "nbgrader", "generate_assignment", "small")
    run(tmp_path, "nbgrader", "db", "assignment", "add", "small", "--duedate=2020-01-01")
    hand_in(tmp_path, made)
    for student in VARIANTS:
        path = tmp_path / "submitted" / student / "small/timestamp.txt"
        path.write_text("2020-01-02 00:00:00 UTC")
    seen = run(tmp_path, "autograder", "grade", "small", "--workers", "1")

    assert "solution: 2 / 2, 1 off for being late" in seen
    assert "stub:" not in seen

    seen = run(tmp_path, "autograder", "grade", "small", "--student", "stub", status=2)
    assert "student_id_exclude in nbgrader_config.py leaves stub out" in seen


@pytest.mark.full
def test_a_setting_that_grades_outside_the_sandbox_is_named(tmp_path):
    small(tmp_path, config=f"c = get_config()\n{OUTSIDE}")
    seen = run(tmp_path, "autograder", "adopt", ".", status=1)

    assert "outside the sandbox: take c.Autograde.autograde_preprocessors out" in seen

    found = configuration(tmp_path)
    assert "outside the sandbox" in found["found"]
    assert found["needed"]
    assert not found["fine"]

    (tmp_path / "nbgrader_config.py").write_text(
        (tmp_path / "nbgrader_config.py").read_text("utf-8").replace(OUTSIDE, "")
    )
    run(tmp_path, "autograder", "adopt", ".")


@pytest.mark.parametrize(
    ("name", "value"),
    [("source_directory", "instructor"), ("release_directory", "enonces"),
     ("directory_structure", "{assignment_id}/{student_id}")],
)  # fmt: skip
def test_settings_that_rename_nbgrader_s_folders_are_refused(tmp_path, name, value):
    small(tmp_path, config=f"c = get_config()\nc.CourseDirectory.{name} = {value!r}\n")
    seen = run(tmp_path, "autograder", "adopt", ".", status=2)

    assert f"sets c.CourseDirectory.{name} to {value!r}" in seen
    assert "take that line out" in seen
    assert not (tmp_path / "course.toml").exists()


@pytest.mark.full
def test_adopting_names_the_error_of_a_release_that_nbgrader_refuses(tmp_path):
    small(tmp_path, f"%% notebook small\n{HALF}half * 4\n".replace("test_half", "größte"))
    seen = run(tmp_path, "autograder", "adopt", ".", status=1)
    assert "nbgrader cannot release small: small.ipynb: the grade_id: 'größte' does not" in seen


@pytest.mark.full
def test_adopting_names_all_notebooks_with_old_metadata_and_reads_their_imports_and_files(tmp_path):
    small(
        tmp_path,
        "%% file words.txt\n%% file in/a.txt\n%% file out/b.txt\n%% notebook one\n%% code\n"
        "import numpy, glob\nopen('words.txt')\nglob.glob('in/*.txt')\n"
        f"{HALF}half * 4\n%% notebook two\n{HALF}half * 4\n%% test test_half 2\nhalf\n",
    )
    for path in (tmp_path / "source/small").glob("*.ipynb"):
        text = path.read_text("utf-8")
        path.write_text(text.replace('"schema_version": 3', '"schema_version": 1'))
    seen = run(tmp_path, "autograder", "adopt", ".", status=1)
    one, two = (f"{tmp_path}/source/small/{name}.ipynb" for name in ("one", "two"))

    assert f"{one} has nbgrader's metadata of version 1, and 3 is the one in use: run `" in seen
    assert "with the grade_id 'test_half' another one, which `nbgrader update` does not" in seen
    assert f"then run `nbgrader update {two}`" in seen

    settings = load_settings(tmp_path)
    assert settings.of("small").data == ("in/a.txt", "words.txt")
    assert "numpy" in settings.visible.packages


@pytest.mark.full
def test_adopting_adds_only_missing_keys_to_an_existing_course_toml(tmp_path):
    small(tmp_path, f"%% file a.txt\n%% notebook small\n%% code\nopen('a.txt')\n{HALF}half * 4\n")
    text = 'id = "own"\ntitle = "Own"\n[assignments.small] # mine\ntests = "in-notebook"\n'
    (tmp_path / "course.toml").write_text(text)
    run(tmp_path, "autograder", "adopt", ".")

    assert load_settings(tmp_path).of("small").data == ("a.txt",)
    assert (tmp_path / "course.toml").read_text("utf-8").startswith(text.partition("tests")[0])


SHARES = f"""%% file shop.db
%% file shop.db-wal
%% notebook small
%% code
import os, sys
names = [open("../common/words.txt").read(), os.stat("shop.db").st_size]
sys.path.append("../lib")
import tools_of_the_course
{HALF}half * 4
"""


@pytest.mark.full
def test_adopting_finds_data_and_modules_that_assignments_share(tmp_path):
    for path in ("common/words.txt", "lib/tools_of_the_course.py"):
        (tmp_path / "source" / path).parent.mkdir(parents=True)
        (tmp_path / "source" / path).touch()
    small(tmp_path, SHARES)
    seen = run(tmp_path, "autograder", "adopt", ".")

    assert "reads ../common/words.txt, ../lib, shop.db, shop.db-wal\n" in seen


@pytest.mark.full
def test_names_with_spaces_are_quoted_in_commands_that_a_message_suggests(tmp_path):
    made = read_text(TEXTS / "halves.txt")
    made.name = "Übung 1"
    sources(tmp_path, made)
    run(tmp_path, "autograder", "adopt", ".")
    with pytest.raises(CourseError, match="run `nbgrader generate_assignment 'Übung 1' --force`"):
        Course(tmp_path).assignment("Übung 1")


@pytest.mark.full
def test_a_cause_is_reported_once_with_the_key_that_mends_it(tmp_path):
    half = (
        "%% solution half\nhalf = float(open('half.txt').read())\n%% test test_half 2\nhalf * 4\n"
    )
    (tmp_path / "text.txt").write_text(f"%% notebook small\n{half}%% test twice 2\nhalf * 4\n")
    made = read_text(tmp_path / "text.txt")
    made.name = "Übung 1"
    sources(tmp_path / "course", made)
    [message] = adopt(tmp_path / "course", "Course").open

    assert "(and 1 more)" in message
    assert '[assignments."Übung 1"]' in message


MANY = """%% notebook small
%% solution answer
half = 0.5
%% test test_half 2
half * 4
%% task half 5
Draw.
%% written essay 3
why
%% test test_essay 1
1
"""


@pytest.mark.full
def test_grade_check_and_export_report_points_that_a_person_still_has_to_give(tmp_path):
    folder = course_of(tmp_path, MANY)
    hand_in(folder, read_text(tmp_path / "small.txt"))
    seen = run(folder, "autograder", "grade", "small", "--student", "solution", "--workers", "1")

    assert "solution: 3 / 11; a person gives up to 8 more for half, essay" in seen

    path = str(folder / "submitted/solution/small/small.ipynb")
    seen = json.loads(run(folder, "autograder", "check", path, "--json"))
    points = {each["id"]: each["points"] for each in seen["exercises"]}

    assert points == {"test_half": 2, "half": None, "essay": None, "test_essay": 1}

    run(folder, "autograder", "export", "small", "--partial", "--output", "m.csv", status=1)
    [row] = csv.DictReader((folder / "m.csv").open())

    assert (row["score"], row["max_score"], row["to_mark"]) == ("3", "11", "essay half")

    run(folder, "nbgrader", "generate_feedback", "small")
    assert "3 of 11" in (folder / "feedback/solution/small/small.html").read_text("utf-8")


def test_import_refuses_one_notebook_of_several(found, tmp_path):
    folder, _ = found
    seen = run(folder, "autograder", "import", "parts/problem1", str(tmp_path), status=2)

    assert "parts/problem1 is handed in with the other notebooks of parts" in seen

    seen = run(folder, "autograder", "import", "scores/scores", str(tmp_path), status=2)
    assert "there is no assignment 'scores/scores'" in seen


def test_an_audit_without_hidden_tests_says_that_nothing_was_checked(found):
    for names in ([], ["scores"]):
        seen = run(found[0], "autograder", "audit", *names, status=2)
        assert "has no hidden tests, and this is about them: nothing was done" in seen


def test_adopting_refuses_a_folder_without_notebooks(tmp_path):
    assert "holds no source/" in run(tmp_path, "autograder", "adopt", ".", status=2)


@pytest.mark.campaign
@pytest.mark.parametrize("name", NAMES)
def test_stock_nbgrader_gives_the_points_that_the_tests_expect(tmp_path, name):
    """If nbgrader marks an exercise that is ungraded here, nbgrader gives 0."""
    text = read_text(TEXTS / f"{name}.txt")
    for notebook in text.notebooks.values():
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "", "language": "python"}
    folder = make_course(tmp_path, [text])
    hand_in(folder, text)
    lines = (folder / "nbgrader_config.py").read_text("utf-8").partition("c = get_config()")
    (folder / "nbgrader_config.py").write_text("".join(lines[:2]))
    run(folder, "nbgrader", "autograde", name)

    assert {key: points for key, points in marks(folder).items() if key[2] != "why"} == {
        (kind, notebook, test): points[place] or 0
        for notebook, tests in text.points.items()
        for test, points in tests.items()
        for place, kind in enumerate(VARIANTS)
    }


def test_a_configuration_without_the_formgrader_extension_is_reported(tmp_path):
    small(tmp_path)
    run(tmp_path, "autograder", "adopt", ".")

    assert configuration(tmp_path, status=0)["fine"]

    with (tmp_path / "nbgrader_config.py").open("a") as config:
        config.write("c.HTMLExporter.filters = {}\n")
    found = configuration(tmp_path, status=0)

    assert "formgrader" in found["found"]
    assert "formgrader.extend(c)" in found["remedy"]


UNSOLVED = """%% notebook ps1
%% solution a1
def double(n):
    # YOUR CODE HERE
    raise NotImplementedError()
%% test t1 1
assert double(2) == 4
%% solution a2
# write your answer here
x = ...
%% test t2 1
assert x == 5
"""


@pytest.mark.full
def test_tests_of_answers_that_the_source_does_not_solve_decide_as_in_nbgrader(tmp_path):
    (tmp_path / "ps1.txt").write_text(UNSOLVED)
    folder = make_course(tmp_path, [read_text(tmp_path / "ps1.txt")])
    notebook = nbformat.read(folder / "release/ps1/ps1.ipynb", as_version=4)
    first, _, second, _ = notebook.cells
    with Grader(Course(folder), KEY) as grader:
        assert grader.check_solution("ps1") == []
        first.source, second.source = "def double(n):\n    return 2 * n", "x = 4"
        assert points_of(grader, "ps1", notebook) == {"t1": 1, "t2": 0}
    assert "source/ps1: no solution in a1, a2" in " ".join(adopt(folder, "Course").seen)
