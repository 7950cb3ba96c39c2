"""A damaged submission gets a clear message, its other exercises are graded, and no text is
lost."""

from __future__ import annotations

import base64
import itertools
import json
import random
import time
from collections.abc import Callable
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from schools import solutions

from autograder.commands.demo import filled_notebook
from autograder.course_folder.course import Course
from autograder.errors import UnreadableNotebook
from autograder.notebook.aligning import defined_names
from autograder.notebook.intake import MAX_BYTES, find_notebook, misplaced, students_with
from autograder.notebook.outputs import MAX_BYTES_OF_A_NOTEBOOK, OutputRoom, clean_outputs
from autograder.notebook.reading import MAX_SOURCE, NOTES, read_notebook
from autograder.notebook.recognising import refuse_another
from autograder.notebook.sanitizing import framed_html, safe_html
from autograder.pages import markdown
from autograder.pages.markdown import markdown_html
from autograder.pipeline.one_submission import grade_file
from autograder.pipeline.workers import grade_job
from autograder.records import Cell, Job
from coursecheck.messages import explain_cell

RIGHT = solutions("value")
Notebook = dict[str, Any]


@pytest.fixture
def whole(course) -> Notebook:
    return json.loads(filled_notebook(Course(course), "value", RIGHT))


@pytest.fixture
def grade(grader, tmp_path) -> Callable[[Notebook | bytes], Any]:
    def grade_it(content: Notebook | bytes) -> Any:
        path = tmp_path / "value.ipynb"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return grade_file(grader, path)

    return grade_it


def cell_of(notebook: Notebook, grade_id: str) -> dict[str, Any]:
    return next(c for c in notebook["cells"] if name_of(c) == grade_id)


def name_of(cell: dict[str, Any]) -> str | None:
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


def note_on(report: Any, exercise: str) -> str:
    return next(result.note for result in report.exercises if result.id == exercise)


UNGRADABLE = {
    "empty": (b"", "empty"),
    "truncated": (b'{"cells": [', "cut off"),
    "text": (b"not json at all", "not a notebook"),
    "list": (b"[1, 2, 3]", "no notebook cells"),
    "deep": (b"[" * 100_000, "not a notebook"),
    "binary": (b"\xff\xfe\x00garbage", "not a notebook"),
    "no cells": (b'{"cells": []}', "not a notebook of this course"),
    "format 3": (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "in notebook format 3"),
    "script": (b"#!/usr/bin/env python\n\n# In[1]:\n\n\nx = 1\n", "a script made from a notebook"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
    "login": (b"\n<!DOCTYPE html><title>Sign in</title>", "a web page"),
    "archive": (b"PK\x03\x04\x14", "a zip archive"),
    "percent": (b"# %%\nx = 1\n", "a script made from a notebook"),
}


@pytest.mark.parametrize(("content", "says"), UNGRADABLE.values(), ids=UNGRADABLE)
def test_a_file_that_cannot_be_graded_is_reported_with_the_remedy(grade, content, says):
    with pytest.raises(UnreadableNotebook) as caught:
        grade(content)

    assert says in str(caught.value)
    assert "value.ipynb" in str(caught.value)
    assert "handed in" in str(caught.value)


HALF = "\ud800"


def half_in_kernel(notebook: Notebook) -> None:
    notebook["metadata"]["kernelspec"] = {"name": HALF, "display_name": HALF}


def half_in_attachment(notebook: Notebook) -> None:
    cell = {"cell_type": "markdown", "metadata": {}, "source": "![x](attachment:x.png)"}
    notebook["cells"].append({**cell, "attachments": {f"{HALF}.png": {"image/png": "AAAA"}}})


def half_in_answer(notebook: Notebook) -> None:
    source = "def trace(*a): return 'half \\ud800 \\x1b]0;title'"
    cell_of(notebook, "trace")["source"] = source


def half_in_error(notebook: Notebook) -> None:
    source = "def trace(*a): raise ValueError('half \\ud800 \\x1b]0;title')"
    cell_of(notebook, "trace")["source"] = source


@pytest.mark.parametrize(
    "change", [half_in_kernel, half_in_attachment, half_in_answer, half_in_error]
)
def test_a_lone_surrogate_anywhere_can_be_stored_and_printed(grader, whole, change):
    change(whole)
    job = Job("value", "student", "value.ipynb", json.dumps(whole).encode())
    graded = grade_job(grader, job)
    graded.text.encode()
    seen = json.dumps(graded.report.as_json(), ensure_ascii=False)
    seen.encode()

    assert "\x1b" not in "".join(result.message for result in graded.report.exercises)
    assert graded.report.score >= 11


def test_a_file_whose_name_is_in_no_encoding_is_reported(grader):
    where = "/course/submitted/student/value/l\udcf6sung\x1b[31m.ipynb"
    graded = grade_job(grader, Job("value", "student", where, b""))

    assert graded.report.score == 0
    assert "the file is empty" in graded.error

    graded.error.encode()
    graded.text.encode()

    assert "\x1b" not in graded.error
    assert "submitted/student" not in graded.text


def test_misplaced_notebooks_are_reported(tmp_path):
    (tmp_path / "ada" / "value").mkdir(parents=True)
    for other in ("value", "Value (1)", "notes"):
        (tmp_path / "ada" / "value" / f"{other}.ipynb").touch()
    (tmp_path / "ada" / "backward.ipynb").touch()
    (tmp_path / "ben" / "Value").mkdir(parents=True)
    (tmp_path / "cid").mkdir()
    (tmp_path / "cid" / "value.ipynb").touch()
    (tmp_path / "value_dan.ipynb").touch()
    found = [str(path.relative_to(tmp_path)) for path in misplaced(tmp_path, "value", "value")]

    assert found == ["ada/value/Value (1).ipynb", "ben/Value", "cid/value.ipynb", "value_dan.ipynb"]


def test_an_unreadable_folder_is_reported(tmp_path, monkeypatch):
    """Simulate the error, since tests may run as root, who can read every folder."""
    for student in ("ada", "ben", ".ipynb_checkpoints"):
        (tmp_path / student / "value").mkdir(parents=True)
    (tmp_path / "loose.ipynb").touch()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "is_dir", refuse)
        assert students_with(tmp_path, "value") == ["ada", "ben", "loose.ipynb"]

    assert students_with(tmp_path, "value") == ["ada", "ben"]

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(UnreadableNotebook, match=r"ada/value: cannot be read \(Perm"):
        find_notebook(tmp_path / "ada" / "value", "value")


@pytest.mark.parametrize(
    "name",
    ["value (1).ipynb", "Copy of value.ipynb", "value.ipynb – Kopie", "value.ipynb (1)",
     "value.ipynb.txt", "value.ipynb.json", "value.IPYNB.download"],
)  # fmt: skip
def test_a_notebook_is_found_under_the_names_that_desktops_and_browsers_give(tmp_path, name):
    for each in (name, "value.ipynb.zip", "ipynb notes.pdf"):
        (tmp_path / each).touch()
    assert find_notebook(tmp_path, "value").name == name


def test_a_folder_that_holds_a_folder_and_no_notebook_is_reported_with_its_name(tmp_path):
    (tmp_path / "value" / "unpacked").mkdir(parents=True)
    with pytest.raises(UnreadableNotebook, match="the folder holds unpacked/"):
        find_notebook(tmp_path / "value", "value")


def test_a_notebook_of_another_assignment_is_refused(course):
    """Use a later notebook, which contains right answers to earlier exercises."""
    released = (course / "release/checkpoint/checkpoint.ipynb").read_bytes()
    with pytest.raises(UnreadableNotebook, match="its cells are those of 'checkpoint'"):
        refuse_another(
            Course(course), read_notebook(released, "value.ipynb"), "value.ipynb", "value"
        )


def test_a_notebook_without_any_cell_of_the_assignment_is_refused(grade, grader, tmp_path):
    path = tmp_path / "value.ipynb"
    other = {"cells": [{"cell_type": "code", "source": "1 + 1", "metadata": {}, "outputs": []}]}
    path.write_text(json.dumps(other))
    with pytest.raises(UnreadableNotebook, match="another notebook"):
        grade_file(grader, path, "value")


def executed(notebook: Notebook, name: str) -> None:
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            text = [f"{name} {line}\n" for line in range(len(name))]
            output = {"output_type": "stream", "name": "stdout", "text": text}
            cell.update(execution_count=number + len(name), outputs=[output])


def answered(notebook: Notebook, name: str) -> None:
    for exercise in ("add", "mul"):
        cell = cell_of(notebook, exercise)
        cell["source"] = [*"".join(cell["source"]).splitlines(True), f"\n# as {name} wrote it"]


def renamed(notebook: Notebook, name: str) -> None:
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"{name}-{number}"


def extended(notebook: Notebook, name: str) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    notebook["cells"].insert(4, {**cell, "id": name, "source": f"print({name!r})"})


def moved(notebook: Notebook, name: str) -> None:
    notebook["metadata"]["kernelspec"] = {"name": name, "display_name": name, "language": "python"}


@pytest.mark.parametrize("base", [[], ["||||||| base", '"as both": "had it",']])
@pytest.mark.parametrize("change", [executed, answered, renamed, extended, moved])
def test_of_a_git_conflict_the_first_version_counts(whole, change, base):
    versions = []
    for name in ("mine", "another"):
        version = json.loads(json.dumps(whole))
        change(version, name)
        versions.append(json.dumps(version, indent=1).split("\n"))
    mine, theirs = versions
    lines = []
    for tag, start, end, at, until in SequenceMatcher(None, mine, theirs, False).get_opcodes():
        other = [*base, "=======", *theirs[at:until], ">>>>>>> theirs"]
        part = mine[start:end]
        lines += part if tag == "equal" else ["<<<<<<< HEAD", *part, *other]

    found = read_notebook("\n".join(lines).encode(), "value.ipynb")
    first = read_notebook("\n".join(mine).encode(), "value.ipynb")

    assert "conflicts of Git" in str(found.metadata.pop(NOTES))
    assert found == first


def test_a_missing_exercise_costs_its_own_points(grade, whole):
    whole["cells"] = [c for c in whole["cells"] if name_of(c) not in ("trace", "test_trace")]
    _, report = grade(whole)
    assert report.score == 11
    assert "has no cell `trace`" in note_on(report, "trace")


def test_a_deleted_test_cell_is_restored_and_costs_no_points(grade, whole):
    whole["cells"] = [c for c in whole["cells"] if name_of(c) != "test_mul"]
    notebook, report = grade(whole)

    assert report.score == 16
    assert "has no cell `test_mul`" in note_on(report, "mul")
    assert sum(c.metadata.get("nbgrader", {}).get("grade_id") == "test_mul"
               for c in notebook.cells) == 1  # fmt: skip


def test_a_duplicated_test_cell_changes_no_points(grade, whole):
    cell = cell_of(whole, "test_add")
    copy = json.loads(json.dumps(cell))
    copy["id"] = "another-id"
    copy["metadata"]["nbgrader"]["points"] = 1000
    whole["cells"].insert(0, copy)
    _, report = grade(whole)

    assert (report.score, report.max_score) == (16, 16)
    assert "more than once" in note_on(report, "add")


def test_an_edited_test_cell_is_restored_and_the_student_s_text_is_kept(grade, whole):
    cell_of(whole, "test_mul")["source"] = "print('I passed')\n1000"
    cell_of(whole, "test_mul")["metadata"]["nbgrader"]["points"] = 1000
    notebook, report = grade(whole)

    assert (report.score, report.max_score) == (16, 16)
    assert "edited" in note_on(report, "mul")
    assert any("I passed" in cell.source for cell in notebook.cells)


def test_an_answer_written_into_the_test_cell_counts(grade, whole):
    """Type the answer into the locked cell below the stub."""
    cell_of(whole, "trace")["source"] = "# see below"
    cell_of(whole, "test_trace")["source"] = RIGHT["trace"]
    assert grade(whole)[1].score == 16


def test_of_two_copies_of_an_answer_the_later_one_counts(grade, whole):
    copy = json.loads(json.dumps(cell_of(whole, "add")))
    copy["source"] = "def add(self, other):\n    return 0\n\nValue.__add__ = add\n"
    whole["cells"].insert(whole["cells"].index(cell_of(whole, "add")), copy)
    assert grade(whole)[1].score == 16


def test_answer_cell_converted_to_markdown_is_converted_back(grade, whole):
    cell = cell_of(whole, "mul")
    cell["cell_type"] = "markdown"
    cell.pop("outputs"), cell.pop("execution_count")
    _, report = grade(whole)

    assert report.score == 16
    assert "type" in note_on(report, "mul")


FLOOD = 'while True:\n    print("more " * 100)\n'
BAD_CELLS = {
    "three at once": {
        "add": ("while True:\n    pass\n", "failed"),
        "mul": ("import os\nos._exit(0)\n", "crashed"),
        "trace": ("hoard = bytearray(4 * 2**30)\n", "out_of_memory"),
    },
    "a flood": {"trace": (FLOOD, "failed")},
}


@pytest.mark.full
@pytest.mark.parametrize("bad", BAD_CELLS.values(), ids=BAD_CELLS)
def test_a_cell_that_ends_the_process_costs_only_its_own_exercise(grade, course, bad):
    answers = {**RIGHT, **{name: source for name, (source, _) in bad.items()}}
    Path("/proc/self/clear_refs").write_text("5")  # resets the recorded peak
    before = memory("VmRSS")

    _, report = grade(json.loads(filled_notebook(Course(course), "value", answers)))

    for result in report.exercises:
        expected = bad.get(result.id, ("", "passed"))[1]
        assert (result.id, result.status) == (result.id, expected)
        assert result.points == (0 if result.id in bad else result.max_points)
    assert memory("VmHWM") - before < 100_000_000


def memory(which: str) -> int:
    """Return this process's resident memory in bytes: now (VmRSS) or at its peak (VmHWM)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(which + ":")[1].split()[0]) * 1024


ODD = {
    "a long word as a style": lambda: framed_html(f'<p style="{"a" * 40_000}">text</p>'),
    "spaces in a style": lambda: framed_html(f'<p style="a{" " * 100_000}b">text</p>'),
    "many attributes": lambda: framed_html("<p " + " ".join(f"a{i}" for i in range(200_000)) + ">"),
    "decorators of nothing": lambda: defined_names("@\n" * 40_000),
    "an annotation of nothing": lambda: defined_names("a:" + " " * 100_000),
    "an error of brackets": lambda: explain_cell("ValueError", "(" * 60_000, "", "x"),
    "a place of many digits": lambda: explain_cell("E", f"(line {'9' * 5000})", "", "x"),
    "a line of many digits": lambda: explain_cell("E", "x", f"---> {'9' * 5000} x", "x"),
}


@pytest.mark.parametrize("act", ODD.values(), ids=ODD)
def test_hostile_text_is_read_in_bounded_time(act):
    started = time.thread_time()
    with suppress(UnreadableNotebook):
        act()
    assert time.thread_time() - started < 3


def test_sanitized_html_keeps_colours_and_large_pictures():
    picture = base64.b64encode(random.Random(1).randbytes(600_000)).decode()
    html = f'<p style="color:rgb(1, 2, 3)">x</p><img src="data:image/png;base64,{picture}">'

    assert "rgb(1, 2, 3)" in framed_html(html)
    assert picture in framed_html(html)
    assert "url" not in framed_html('<p style="background:url (x)">x</p>')


HEAVY = {
    "objects": b'{"cells": [], "x": [' + b'{"a":1},' * 600_000 + b"0]}",
    "a wide sign": b'{"cells": [], "x": "' + b"x" * 30_000_000 + "\U0001f600".encode() + b'"}',
    "an escape": b'{"cells": [], "x": "' + b"x" * 35_000_000 + b'\\ud83d\\ude00"}',
}


@pytest.mark.parametrize("content", HEAVY.values(), ids=HEAVY)
def test_a_file_that_takes_too_much_memory_to_read_is_refused(content):
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    with pytest.raises(UnreadableNotebook, match="over 140 MB of memory"):
        read_notebook(content, "value.ipynb")

    assert memory("VmHWM") - before < 10_000_000


@pytest.mark.parametrize("indent", [None, 1])
def test_a_file_of_large_outputs_is_read_without_them(whole, indent):
    bare = read_notebook(json.dumps(whole).encode(), "value.ipynb")
    whole["metadata"]["outputs"] = {"outputs": 1}
    cells = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
    lines = [f'\\ "outputs": [{{ {number}\n' for number in range(400_000)]
    for cell in (cells[0], cells[-1]):
        picture = {"output_type": "display_data", "data": {"image/png": "A" * 5_000_000}}
        cell["outputs"] = [{"output_type": "stream", "text": lines}, picture]
    content = json.dumps(whole, indent=indent).encode()

    assert 30_000_000 < len(content) < MAX_BYTES
    assert read_notebook(content, "value.ipynb").cells == bare.cells


@pytest.mark.parametrize(
    "content",
    [
        b'{"source":' * 960 + b"[" + b"1.25e1," * 50_000,
        b'{"source":' * 960 + b'"' + b"x" * 10_000_000,
        b"# %%\na\n\n" + b"#\n\n" * 600_000,
        b"# %%\n" * 390_000,
    ],
    ids=["numbers", "text", "comments", "heads"],
)
def test_reading_an_unreadable_file_takes_bounded_time(content):
    started = time.thread_time()
    with suppress(UnreadableNotebook):
        read_notebook(content, "value.ipynb")
    assert time.thread_time() - started < 10


def test_a_cell_that_is_too_long_is_reported_and_costs_only_its_own_exercise(grade, whole):
    cell_of(whole, "trace")["source"] += "#" * MAX_SOURCE
    notebook, report = grade(whole)
    missed = [result.id for result in report.exercises if result.points != result.max_points]

    assert missed == ["trace"]
    assert "A cell may have 500,000 characters" in note_on(report, "trace")
    assert report.exercises[-1].status != "crashed"
    assert max(len(cell.source) for cell in notebook.cells) < MAX_SOURCE


def test_pictures_of_an_answer_are_kept_and_a_missing_one_is_named(grade, whole):
    photo = {"image/jpeg": base64.b64encode(bytes(4_000_000)).decode()}
    attached = {"a.jpg": photo, "b.jpg": photo, "c.svg": {"image/svg+xml": "<svg/>"}}
    text = "![a](attachment:a.jpg) ![b](attachment:b.jpg) ![c](attachment:c.svg)"
    cell = {"cell_type": "markdown", "metadata": {}, "source": text, "attachments": attached}
    whole["cells"].append(cell)
    notebook, report = grade(whole)
    kept = next(each for each in notebook.cells if "attachments" in each)

    assert kept.attachments == {"a.jpg": photo, "b.jpg": photo}
    missing = "The picture “c.svg” is not shown here"
    assert missing in kept.source
    assert missing in " ".join(report.notes)


def test_all_outputs_of_a_notebook_together_have_a_bounded_size(grade, whole):
    loud = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    sources = ["print('x' * 990_000)"] * 14 + ["1 / 0", "'short'"]
    whole["cells"][:0] = [{**loud, "source": source} for source in sources]
    notebook, report = grade(whole)

    assert report.score == 16
    assert len(json.dumps(notebook)) < MAX_BYTES_OF_A_NOTEBOOK + 1_000_000

    seen = [json.dumps(cell.outputs) for cell in notebook.cells if cell.source == sources[0]]
    assert sum("over 10 MB together" in each for each in seen) == 4

    [failed] = [cell.outputs for cell in notebook.cells if cell.source == "1 / 0"]
    assert failed[-1].ename == "ZeroDivisionError"


def test_an_error_is_kept_even_if_other_outputs_are_over_the_limit():
    error = {"output_type": "error", "ename": "E", "evalue": "x" * 90_000, "traceback": ["y"]}
    text = {"output_type": "stream", "name": "stdout", "text": "x"}
    seen, short = clean_outputs([text, error], OutputRoom(100))

    assert "over 0 MB" in seen["text"]
    assert short["ename"] == "E"
    assert len(short["evalue"]) == 2000


def test_time_for_reading_the_file_counts_as_time_of_the_submission(grader, whole, monkeypatch):
    monkeypatch.setattr(grader, "submission_seconds", 10.0)
    cells = [Cell(source) for source in ("1", "2")]
    assert grader.grade("value", cells).ran[0].outputs
    assert all(ran.refused for ran in grader.grade("value", cells, taken=11.0).ran)


@pytest.mark.parametrize(
    "style",
    ["margin-top:-443px", "margin: 0 0 -.5em", "MARGIN:calc(0px - 9px)", "text-indent:-99em",
     "color:red; margin-left : -1px", "margin-top:/**/-5px", "vertical-align:-40px"],
)  # fmt: skip
def test_styles_cannot_move_text_out_of_its_cell(style):
    for made in (safe_html, lambda html: markdown_html(html, {}, {})):
        assert f"{style.split(':')[-1]}" not in made(f'<p style="{style}">text</p>')
    assert "contain:content" in markdown_html("text", {}, {})
    assert "margin:0 auto" in safe_html('<p style="margin:0 auto">text</p>')


def test_rendering_a_long_markdown_text_takes_bounded_time():
    started = time.thread_time()
    markdown_html("\\\\[" * 6000, {}, {})

    assert time.thread_time() - started < 8


def test_the_markdown_of_a_page_is_plain_text_once_its_time_is_used_up(monkeypatch):
    clock, page = itertools.count(), {}
    monkeypatch.setattr(markdown, "time", SimpleNamespace(thread_time=lambda: next(clock)))

    shown = [markdown_html(f"*{number}*", page, {}) for number in range(5)]

    assert [text.startswith("<pre") for text in shown] == [False] * 3 + [True] * 2
