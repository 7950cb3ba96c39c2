"""Instructors and graders mark written answers on the pages of the service; nobody else does."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from schools import append, release, run
from services import Visitor
from test_gradebook import database, fresh  # noqa: F401 (a fixture)
from test_service_pages import Running, running
from tested_course import COURSE

from autograder.authoring.release import copy_course
from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course
from autograder.course_folder.settings import NAME as SETTINGS
from autograder.gradebook import history
from autograder.gradebook.writing import SubmissionMarks, record
from autograder.marking.differences import difference
from autograder.notebook.answer_cells import questions
from autograder.pipeline.classroom import course_directory
from autograder.records import Marks
from autograder.service import asking
from autograder.service.attempts import Attempts, Role
from autograder.service.hub import HubGuard

pytestmark = pytest.mark.subprocess

NAME, EXERCISE = "checkpoint", "memory"
SCRIPT = "<script>document.title = 'run'</script><img src=x onerror=alert(1)>"
TEXTS = {"ada": "Backward needs one pass.", "ben": f"Two. {SCRIPT}"}


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with two written answers that wait for a person."""
    return made(tmp_path_factory.mktemp("course"))


def made(folder: Path, settings: str = "") -> Path:
    copy_course(COURSE, folder)
    append(folder / "nbgrader_config.py", settings)
    release(folder, NAME)
    for student, text in TEXTS.items():
        grade(folder, student, text)
    return folder


@pytest.fixture(params=["sqlite"])
def service(request: pytest.FixtureRequest, made_once: Path, tmp_path: Path) -> Iterator[Running]:
    if request.param == "postgresql":
        url = fresh(request.getfixturevalue("database"), "marking")
        folder = made(tmp_path / "course", f"\nc.CourseDirectory.db_url = {url!r}\n")
    else:
        folder = Path(shutil.copytree(made_once, tmp_path / "course"))
    with running(folder, marked=(NAME,), people=("tess", "ulla")) as started:
        yield started


on_both = pytest.mark.parametrize(
    "service",
    ["sqlite", pytest.param("postgresql", marks=pytest.mark.external)],
    indirect=True,
)


def gradebook(folder: Path) -> Gradebook:
    return Gradebook(course_directory(Course(folder)).db_url)


def grade(folder: Path, student: str, text: str) -> None:
    """Store a written answer and its grading, as the grader does."""
    path = folder / "autograded" / student / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(filled_notebook(Course(folder), NAME, {EXERCISE: text}), "utf-8")
    digest = sha256(text.encode()).hexdigest()
    verdict = {"id": EXERCISE, "points": None, "max_points": 2.0, "status": "manual",
               "misconception": None, "broken": [], "answer": digest}  # fmt: skip
    entry = history.Entry(NAME, student, "file", "seed", {}, [verdict])
    with gradebook(folder) as book:
        history.prepare(book)
        record(book, [SubmissionMarks(NAME, student, Marks({EXERCISE: None}, {}), None, entry)])


def stored(service: Running) -> list[history.Marking]:
    with gradebook(service.course) as book:
        return history.markings(book.db.connection(), NAME)


def row(service: Running, student: str) -> str:
    with gradebook(service.course) as book:
        return str(book.find_grade(EXERCISE, NAME, NAME, student).id)


def page_of(service: Running, student: str) -> str:
    return f"mark/{NAME}/{EXERCISE}/{row(service, student)}"


def field(page: str, name: str, between: str = " ") -> str:
    found = re.search(rf'name="{name}"{between}value="([^"]*)"', page)
    assert found is not None, page
    return unescape(found[1])


def keep(visitor: Visitor, path: str, points: str, page: str = "", **more: str) -> tuple[int, str]:
    """Send the form of an answer's page, by default of the page as it is now."""
    page = page or visitor.get(path)[1]
    form = {"seen": field(page, "seen"), "_xsrf": field(page, "_xsrf"), "points": points, **more}
    return visitor.send(urlencode(form).encode(), "application/x-www-form-urlencoded", path)


def test_a_grader_marks_under_their_own_name_and_sees_nothing_else(service):
    tess = service.visitor("tess", Role.GRADER)
    assert "memory" in tess.page.lower()
    status, after = keep(tess, page_of(service, "ada"), "1", comment="Which pass?")
    assert status == 200
    assert "ada" not in after
    assert [(each.who, each.student, each.points, each.comment) for each in stored(service)] == [
        ("tess", "ada", 1.0, "Which pass?")
    ]
    for path in ("class", "class/live", "class/history?student=ada&assignment=value", "metrics",
                 "live", "feedback/1"):  # fmt: skip
        assert tess.get(path)[0] == 404, path
    assert "waiting" not in tess.get("health")[1]
    ines = service.visitor("ines", Role.INSTRUCTOR)
    assert 'href="/mark/"' in ines.get("class")[1]
    assert "tess 1, mean 1.00 of" in ines.get("mark/")[1]


def test_a_hub_s_users_have_the_roles_that_the_command_names():
    people = {Role.INSTRUCTOR: frozenset({"ines"}), Role.GRADER: frozenset({"tess"})}

    def role(user: dict[str, object]) -> Role:
        guard = type("Guard", (HubGuard,), {"people": people, "get_current_user": lambda _: user})
        found = guard().visitor()
        assert found is not None
        return found.role

    names = ("ines", "tess", "ada")
    assert [role({"kind": "user", "name": name}) for name in names] == [
        Role.INSTRUCTOR, Role.GRADER, Role.STUDENT,
    ]  # fmt: skip
    assert role({"kind": "user", "name": "ada", "admin": True}) is Role.INSTRUCTOR


def test_who_may_not_mark_sees_and_stores_nothing(service):
    path, tess = page_of(service, "ada"), service.visitor("tess", Role.GRADER)
    page = tess.get(path)[1]
    for visitor, refused in ((service.visitor("ada"), 404), (Visitor(service.url), 403)):
        for each in ("mark", "mark/", f"mark/{NAME}/{EXERCISE}", path, "mark/mark.js"):
            status, text = visitor.get(each)
            assert status == refused, each
            assert TEXTS["ada"] not in text
        assert keep(visitor, path, "2", page)[0] == 403, "a form of somebody else"
    assert service.visitor("ada").get("mark/../class")[0] == 404
    assert stored(service) == []


def test_a_form_of_another_site_or_for_another_row_stores_nothing(service):
    path, tess = page_of(service, "ada"), service.visitor("tess", Role.GRADER)
    page = tess.get(path)[1]
    of_ulla = service.visitor("ulla", Role.GRADER).get(path)[1]
    for token in ("", "2|x|y|1", field(of_ulla, "_xsrf")):
        form = urlencode({"seen": field(page, "seen"), "_xsrf": token, "points": "2"}).encode()
        assert tess.send(form, "application/x-www-form-urlencoded", path)[0] == 403
    with gradebook(service.course) as book:
        others = [each.id for each in book.db.query(type(book.find_grade(
            EXERCISE, NAME, NAME, "ada"))) if each.name != EXERCISE]  # fmt: skip
    assert others
    key = row(service, "ada")
    wrong = [f"mark/{NAME}/{EXERCISE}/{each}" for each in (*others[:2], "0" * 32)]
    wrong += [f"mark/value/{EXERCISE}/{key}", f"mark/{NAME}/nothing/{key}"]
    for each in wrong:
        assert keep(tess, each, "2", page)[0] == 404, each
        assert tess.get(each)[0] == 404, each
    refused = keep(tess, path, "99", comment="It stays.")[1]
    assert refused.count("a number from 0 to") == refused.count("It stays.") == 1
    assert field(refused, "points", "[^>]*") == "99"
    assert stored(service) == []


def test_an_answer_with_a_script_is_text(service):
    tess, path = service.visitor("tess", Role.GRADER), page_of(service, "ben")
    assert "Two." in tess.get(path)[1]
    graded = service.course / "autograded" / "ben" / NAME / f"{NAME}.ipynb"
    notebook = json.loads(graded.read_text())
    [code] = [each for each in notebook["cells"]
              if each["metadata"].get("nbgrader", {}).get("grade_id") == "q1"]  # fmt: skip
    shown = {"text/html": SCRIPT, "text/plain": SCRIPT, "image/svg+xml": SCRIPT}
    code["source"] = f"</pre>{SCRIPT}"
    code["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": shown}]
    graded.write_text(json.dumps(notebook))
    with gradebook(service.course) as book:
        row_of_code = book.find_grade("test_q1", NAME, NAME, "ben").id
    assert keep(tess, path, "1", comment=SCRIPT)[0] == 200
    for each in (path, f"mark/{NAME}/q1/{row_of_code}"):
        page = tess.get(each)[1]
        assert "&lt;script&gt;document" in page
        assert "<script>document" not in page
        assert "onerror" not in page.replace("&lt;img src=x onerror", "")


@on_both
def test_two_graders_get_different_answers_and_overwrite_nothing(service):
    tess, ulla = (service.visitor(name, Role.GRADER) for name in ("tess", "ulla"))
    pages = [each.get(f"mark/{NAME}/{EXERCISE}")[1] for each in (tess, ulla)]
    first, second = ("ada" if TEXTS["ada"] in page else "ben" for page in pages)
    assert first != second
    late = ulla.get(page_of(service, first))[1]
    assert keep(tess, page_of(service, first), "1")[0] == 200
    status, page = keep(ulla, page_of(service, first), "2", late)
    assert status == 409
    assert "Somebody has changed this mark" in page
    assert [(each.who, each.points) for each in stored(service)] == [("tess", 1.0)]
    assert keep(ulla, page_of(service, first), "2", page)[0] == 200
    assert [each.who for each in stored(service)] == ["tess", "ulla"]


def test_the_list_says_what_another_browser_has_open_and_takes_it_over(service):
    tess, ulla = (service.visitor(name, Role.GRADER) for name in ("tess", "ulla"))
    of_tess, of_ulla = (each.get(f"mark/{NAME}/{EXERCISE}")[1] for each in (tess, ulla))
    student = "ben" if TEXTS["ada"] in of_ulla else "ada"
    told = "1 open in another browser, for up to 10 more minutes"
    assert f"{told}<" in ulla.get("mark/")[1]
    path = page_of(service, "ada" if student == "ben" else "ben")
    after = keep(ulla, path, "1", of_ulla)[1]
    [over] = re.findall(f'{told}: <a href="/([^"]*)"', after)
    assert TEXTS[student][:4] in ulla.get(over)[1]
    assert f"{told}: " in tess.get("mark/")[1]
    path = page_of(service, student)
    assert keep(ulla, path, "1")[0] == 200
    assert keep(tess, path, "2", of_tess)[0] == 409


def test_an_answer_s_page_shows_the_question_above_it(service):
    page = service.visitor("tess", Role.GRADER).get(page_of(service, "ada"))[1]
    question, _, answer = page.partition('<div class="answer">')
    release = json.loads((service.course / "release" / NAME / f"{NAME}.ipynb").read_text())
    sources = ["".join(cell["source"]) for cell in release["cells"]]
    [place] = [
        index for index, cell in enumerate(release["cells"])
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == EXERCISE
    ]  # fmt: skip
    assert sources[place - 1].split()[-1] in question
    assert TEXTS["ada"] in answer


def test_a_question_is_the_text_directly_before_the_answer_and_its_tests():
    def cell(kind: str, text: str = "", **marks: object) -> NotebookNode:
        made: NotebookNode = getattr(nbformat.v4, f"new_{kind}_cell")(text)
        made.metadata = NotebookNode(nbgrader=marks) if marks else NotebookNode()
        return made

    cells = [
        cell("markdown", "Lecture."), cell("code"), cell("markdown", "Square it."),
        cell("markdown", "A hint."), cell("code", solution=True, grade_id="answer"),
        cell("code", grade=True, grade_id="test_square"),
        cell("markdown", "Why?"), cell("markdown", solution=True, grade=True, grade_id="essay"),
        cell("code"), cell("markdown", solution=True, grade=True, grade_id="bare"),
    ]  # fmt: skip
    found = {name: [each.source for each in own] for name, own in questions(cells).items()}
    square = ["Square it.", "A hint."]
    assert found == {"answer": square, "square": square, "essay": ["Why?"], "bare": []}


def test_a_changed_answer_waits_with_its_difference_and_the_earlier_one_has_its_mark(service):
    tess, path = service.visitor("tess", Role.GRADER), page_of(service, "ada")
    assert keep(tess, path, "3", comment="Good.")[0] == 200
    assert "Changed since" not in tess.get(path)[1]
    grade(service.course, "ada", f"Backward needs two passes. {SCRIPT}")
    page = tess.get(path)[1]
    assert "<del>one pass.</del><ins>two passes. " in page
    assert "<script>document" not in page
    assert keep(tess, path, "1")[0] == 200
    grade(service.course, "ada", TEXTS["ada"])
    page = tess.get(path)[1]
    assert "Good." in page
    with gradebook(service.course) as book:
        own = book.find_grade(EXERCISE, NAME, NAME, "ada")
        assert (own.manual_score, own.needs_manual_grade) == (3, False)


@pytest.mark.parametrize(
    ("before", "now", "shown"),
    [
        ("one two", "one three two", "one <ins>three </ins>two"),
        ("a <b>", "a", "<del>a &lt;b&gt;</del><ins>a</ins>"),
        ("same", "same", "same"),
        ("word " * 400 + "\nend", "word " * 400 + "\nnew", "word " * 400
         + "\n<del>end</del><ins>new</ins>"),
        ("x\n" * 400, "other", "x\n" * 400),
    ],
)  # fmt: skip
def test_a_difference_names_words_or_lines(before, now, shown):
    assert difference(before, now) == shown


# Asking for another look.


def attempt(service: Running, student: str) -> int:
    """Store an attempt that counts, with the written answer."""
    written = {"id": EXERCISE, "title": "Memory", "points": None, "max_points": 2.0, "message": "",
               "status": "manual", "misconception": None}  # fmt: skip
    report = {"exercises": [written], "score": 0.0, "max_score": 2.0}
    with closing(Attempts(Course(service.course))) as attempts:
        attempts.add(f"key of {student}", f"folder {student}", NAME, student, None)
        [own] = attempts.of(student)
        attempts.set_graded(own, report, None)
        attempts.set_counts(own)
        return own.id


def ask(visitor: Visitor, number: int, words: str, exercise: str = EXERCISE) -> tuple[int, str]:
    path = f"ask/{number}/{exercise}"
    status, page = visitor.get(path)
    if status != 200:
        return status, page
    form = urlencode({"_xsrf": field(page, "_xsrf"), "words": words}).encode()
    return visitor.send(form, "application/x-www-form-urlencoded", path)


@pytest.fixture
def marked(service: Running) -> int:
    """Return the number of an attempt of ada's, whose written answer tess gave 1 of 2 points."""
    tess = service.visitor("tess", Role.GRADER)
    assert keep(tess, page_of(service, "ada"), "1", comment="Which pass?")[0] == 200
    return attempt(service, "ada")


@on_both
def test_another_grader_looks_again_and_the_student_reads_the_reply(service, marked):
    ada = service.visitor("ada")
    assert "Ask for another look" in ada.page
    assert ask(ada, marked, f"The backward one. {SCRIPT}")[0] == 200
    assert "You asked for another look" in ada.get("")[1]
    tess, ulla = (service.visitor(name, Role.GRADER) for name in ("tess", "ulla"))
    assert "another look asked for: 1;" in ulla.get("mark/")[1]
    assert "1 (1 that another person gets, since you marked it)" in tess.get("mark/")[1]
    assert "The backward one." not in tess.get(f"mark/{NAME}/{EXERCISE}")[1]
    page = ulla.get(f"mark/{NAME}/{EXERCISE}")[1]
    for words in ("The backward one.", "Which pass?", TEXTS["ada"]):
        assert words in page
    assert "<script>document" not in page
    path = page_of(service, "ada")
    assert "Reply to the student" in keep(ulla, path, "2", comment="Right.")[1]
    assert [each.who for each in stored(service)] == ["tess"]
    assert keep(ulla, path, "2", comment="Right.", reply=f"You said it. {SCRIPT}")[0] == 200
    assert [(each.who, each.points) for each in stored(service)] == [("tess", 1.0), ("ulla", 2.0)]
    own = ada.get("")[1]
    assert "After another look: “You said it." in own
    assert "<script>document" not in own
    assert "ulla" not in own
    assert ask(ada, marked, "Once more.")[0] == 404


def test_who_may_not_ask_asks_nothing(service, marked):
    ada, ben = service.visitor("ada"), service.visitor("ben")
    of_ben = attempt(service, "ben")
    page = ada.get(f"ask/{marked}/{EXERCISE}")[1]
    form = {"_xsrf": field(page, "_xsrf"), "words": "Mine."}
    kind, path = "application/x-www-form-urlencoded", f"ask/{marked}/{EXERCISE}"
    assert ben.get(path)[0] == 404
    assert ben.send(urlencode(form).encode(), kind, path)[0] == 403
    assert ada.send(urlencode(form | {"_xsrf": ""}).encode(), kind, path)[0] == 403
    assert ask(ben, of_ben, "It waits for a person.")[0] == 404
    assert ask(ada, marked, "Nothing.", "nothing")[0] == 404
    assert ask(ada, marked, "x" * 501)[0] == ask(ada, marked, " ")[0] == 400
    for role in (Role.GRADER, Role.INSTRUCTOR):
        assert service.visitor("ada", role).get(path)[0] == 404
    with gradebook(service.course) as book:
        assert history.asks(book.db.connection(), NAME) == []


@pytest.mark.parametrize(
    ("settings", "days", "may"),
    [("asks = 0", 0, False), ("asks = 1", 0, True), ("ask_days = 2", 1, True),
     ("ask_days = 2", 3, False)],
)  # fmt: skip
def test_course_toml_limits_how_often_and_how_long_students_ask(
    made_once, tmp_path, monkeypatch, settings, days, may
):
    folder = Path(shutil.copytree(made_once, tmp_path / "course"))
    append(folder / SETTINGS, f"\n[marking]\n{settings}\n")
    with running(folder, marked=(NAME,)) as service:
        tess = service.visitor("tess", Role.GRADER)
        assert keep(tess, page_of(service, "ada"), "1")[0] == 200
        number = attempt(service, "ada")
        later = datetime.now(UTC) + timedelta(days=days)
        clock = SimpleNamespace(
            now=lambda _: later, fromtimestamp=datetime.fromtimestamp,
            fromisoformat=datetime.fromisoformat,
        )  # fmt: skip
        monkeypatch.setattr(asking, "datetime", clock)
        assert (ask(service.visitor("ada"), number, "Why?")[0] == 200) == may


def test_a_student_asks_by_mail_about_an_exercise_that_tests_mark(service):
    code = next(each for each in COURSE.assignment(NAME).exercises.values() if not each.manual)
    run(service.course, "autograder", "mark", NAME, "--asked", "ada", code.id, "It is right.")
    for wrong in (("nobody", code.id, "x"), ("ada", "nothing", "x"), ("ada", code.id, "Again."),
                  ("ben", code.id, "x" * 501)):  # fmt: skip
        run(service.course, "autograder", "mark", NAME, "--asked", *wrong, status=2)
    ulla = service.visitor("ulla", Role.GRADER)
    page = ulla.get(f"mark/{NAME}/{code.id}")[1]
    assert "It is right." in page
    with gradebook(service.course) as book:
        key = book.find_grade(f"test_{code.id}", NAME, NAME, "ada").id
    path = f"mark/{NAME}/{code.id}/{key}"
    assert keep(ulla, path, "0.5", page, reply="A part of it is.")[0] == 200
    with gradebook(service.course) as book:
        assert book.find_grade(f"test_{code.id}", NAME, NAME, "ada").manual_score == 0.5
        [_, reply] = history.asks(book.db.connection(), NAME)
    assert (reply.who, reply.words, reply.is_reply) == ("ulla", "A part of it is.", True)


def test_people_give_points_beside_those_of_the_tests_by_a_rubric(service):
    course = Course(service.course)
    code = next(each for each in COURSE.assignment(NAME).exercises.values() if not each.manual)
    cell = f"test_{code.id}"
    tess = service.visitor("tess", Role.GRADER)
    assert code.title not in tess.get("mark/")[1]
    course.rubrics_of(NAME).parent.mkdir()
    course.rubrics_of(NAME).write_text(
        f'[[{code.id}]]\nid = "names"\npoints = 2\nwhat = "Good names."\nelse = "Name things."\n'
    )
    with gradebook(service.course) as book:
        for student, answer in (("ada", "right"), ("ben", "also right")):
            verdict = {"id": code.id, "points": 1.0, "max_points": 1.0, "status": "passed",
                       "misconception": None, "broken": [], "answer": answer}  # fmt: skip
            entry = history.Entry(NAME, student, "file", "seed", {}, [verdict])
            record(book, [SubmissionMarks(NAME, student, Marks({cell: 1.0}, {}), None, entry)])
        rows = {each: book.find_grade(cell, NAME, NAME, each).id for each in TEXTS}
    assert code.title in tess.get("mark/")[1]
    assert "2 to be marked" in tess.get(f"mark/{NAME}/{code.id}")[1]
    paths = {student: f"mark/{NAME}/{code.id}/{key}" for student, key in rows.items()}
    assert "a number from 0 to 2." in keep(tess, paths["ada"], "1", extra="3")[1]
    assert keep(tess, paths["ada"], "1", extra="2", item="names")[0] == 200
    assert keep(tess, paths["ben"], "0.5", extra="0", comment="A loop is enough.")[0] == 200
    with gradebook(service.course) as book:
        found = [book.find_grade(cell, NAME, NAME, each) for each in ("ada", "ben")]
        assert [(each.manual_score, each.extra_credit) for each in found] == [(None, 2), (0.5, 0)]
        assert not any(each.needs_manual_grade for each in found)
    page = tess.get(paths["ada"])[1]
    assert "0 to be marked" in page
    assert "+2 beside those of the tests (names)" in page
    assert "tess 2, mean 1.00 of 2 beside the tests" in tess.get("mark/")[1]


@pytest.mark.parametrize("broken", ["the same", "another one"])
def test_answers_that_behave_alike_get_one_decision_about_an_ask(service, broken):
    code = next(each for each in COURSE.assignment(NAME).exercises.values() if not each.manual)
    cell = f"test_{code.id}"
    with gradebook(service.course) as book:
        for student, criterion in (("ada", "the same"), ("ben", broken)):
            verdict = {"id": code.id, "points": 0.25, "max_points": 1.0, "status": "partial",
                       "misconception": None, "broken": [criterion], "answer": student}  # fmt: skip
            entry = history.Entry(NAME, student, "file", "seed", {}, [verdict])
            record(book, [SubmissionMarks(NAME, student, Marks({cell: 0.25}, {}), None, entry)])
        key = book.find_grade(cell, NAME, NAME, "ada").id
    run(service.course, "autograder", "mark", NAME, "--asked", "ada", code.id, "It is right.")
    ulla, path = service.visitor("ulla", Role.GRADER), f"mark/{NAME}/{code.id}/{key}"
    page = ulla.get(path)[1]
    assert "The tests gave 0.25 of 1, without: the same." in page
    assert ("1 more that behave alike" in page) == (broken == "the same")
    assert keep(ulla, path, "0.5", page, reply="A part of it is.", alike="1")[0] == 200
    with gradebook(service.course) as book:
        points = [book.find_grade(cell, NAME, NAME, each).manual_score for each in TEXTS]
        asks = history.asks(book.db.connection(), NAME)
    assert points == ([0.5, 0.5] if broken == "the same" else [0.5, None])
    assert [(each.student, each.is_reply) for each in asks] == [("ada", False), ("ada", True)]
