"""Each student process has its own copies of an assignment's data, in the author's places, and a
course whose cells lack data is told so."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader_courses import make_course, read_text
from sandboxes import kind

from autograder.course_folder.course import Course
from autograder.course_folder.settings import load_settings
from autograder.judging.grader import Grader
from autograder.records import Limits
from autograder.sandbox import ForkServer

pytestmark = pytest.mark.subprocess

assert kind  # a fixture of every test here

LARGEST = 20_000
FILES = {"source/week/sales.csv": "a,b\n1,2\n", "source/week/in/one.txt": "1",
         "source/common/words.txt": "to be", "top.txt": "above",
         "source/week/tools.py": "three = 3",
         "source/week/large.txt": "x" * (LARGEST + 1)}  # fmt: skip
SETTINGS = """
id = "data"
title = "Data"
[assignments.week]
data = ["sales.csv", "in", "shop.db", "../common", "../../top.txt", "tools.py", "large.txt", "many",
        "/etc/passwd"]
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with data of every kind."""
    folder = tmp_path_factory.mktemp("data")
    many = {f"source/week/many/{number}": "" for number in range(501)}
    for name, text in {**FILES, **many}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with sqlite3.connect(folder / "source/week/shop.db") as shop:
        shop.execute("create table goods (price real)")
        shop.execute("insert into goods values (2)")
    shop.close()
    return folder


@pytest.fixture(scope="module")
def server(course: Path, kind: str) -> Iterator[ForkServer]:
    (course / "course.toml").write_text(SETTINGS)
    with ForkServer(Limits(file_size=LARGEST), load_settings(course).visible, kind) as made:
        yield made


def run(server: ForkServer, *cells: str) -> list[str | None]:
    """Run cells in a new process; return the names of their errors."""
    with server.spawn(1, "week") as student:
        return [student.request({"cell": cell}, 10)["error"] for cell in cells]


def test_code_finds_data_where_the_author_s_notebook_finds_it(server):
    assert run(
        server,
        "assert open('../common/words.txt').read() == 'to be'",
        "assert open('../../top.txt').read() == 'above' and open('in/one.txt').read() == '1'",
        "import os, tools\nassert tools.three == 3 and len(os.listdir('many')) == 501",
        "assert 'root' in open('/etc/passwd').read()",
    ) == [None] * 4  # fmt: skip


def test_code_may_change_its_copy_and_the_next_process_has_the_original(server, course):
    change = """
        import os, sqlite3
        assert open("sales.csv").read() == "a,b\\n1,2\\n"
        open("sales.csv", "w").write("new")
        open("../common/more.txt", "w").write("more")
        os.remove("in/one.txt")
        with sqlite3.connect("shop.db") as shop:
            shop.execute("update goods set price = price + 1")
            assert shop.execute("select sum(price) from goods").fetchone() == (3,)
    """
    cell = "\n".join(line[8:] for line in change.splitlines())
    assert run(server, cell) == run(server, cell) == [None]
    assert (course / "source/week/sales.csv").read_text() == FILES["source/week/sales.csv"]


@pytest.mark.parametrize("name", ["large.txt", "many/0", "/etc/passwd"])
def test_what_is_not_copied_can_be_read_only(server, name):
    error = "OSError" if server.kind == "bubblewrap" else "PermissionError"
    assert run(server, f"open({name!r}).read()", f"open({name!r}, 'a')") == [None, error]


def test_copies_take_no_room_of_a_process(course, kind):
    visible = load_settings(course).visible
    with ForkServer(Limits(disk_megabytes=1), visible, kind) as server:
        assert run(server, "open('own', 'wb').write(bytes(1_000_000))") == [None]


COURSE = """
%% notebook week
%% code
words = open("../common/words.txt").read().split()
%% code
1 / 0  # on purpose, as in many lessons
%% solution count
count = len(words)
%% test test_count 1
assert count == 2
%% code
table = open("../common/table.txt").read()
%% code
print(table)
%% code
open("lost.txt")
%% code
import asyncio
await asyncio.start_server(print, "127.0.0.1", 0)
%% code
import subprocess
raise subprocess.CalledProcessError(1, "pip install lost")
%% code
while True: pass
"""
FOUND = """\
week: the test cell of count: its own solution does not pass it: FileNotFoundError: [Errno 2] No \
such file or directory: '../common/words.txt' in the cell \
`words = open("../common/words.txt").read().split()`
source/week needs ../common/words.txt: add "../common/words.txt" to data under [assignments.week] \
in course.toml
week: the cell `table = open("../common/table.txt").read()` of the source notebook ends with \
FileNotFoundError: [Errno 2] No such file or directory: '../common/table.txt'
source/week needs ../common/table.txt: add "../common/table.txt" to data under [assignments.week] \
in course.toml
week: the cell `open("lost.txt")` of the source notebook ends with FileNotFoundError: [Errno 2] No \
such file or directory: 'lost.txt'
source/week does not hold it: put it there, and add it to data under [assignments.week] in \
course.toml
week: the cell `import asyncio` of the source notebook ends with PermissionError: [Errno 1] the \
sandbox refuses a socket unless socket.socketpair makes it: no server and no connection, even \
within one notebook, in the line `await asyncio.start_server(print, "127.0.0.1", 0)`
The sandbox refuses this: docs/security.md says what each kind allows
week: the cell `import subprocess` of the source notebook ends with CalledProcessError: Command \
'pip install lost' returned non-zero exit status 1., in the line \
`raise subprocess.CalledProcessError(1, "pip install lost")`
Cells install nothing: take the line out, and name the packages in student_code.packages in \
course.toml
week: the cell `while True: pass` of the source notebook ran out of time
If the cell needs more, raise limits.cell_seconds in course.toml: it is 0.5
"""


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with tests in the notebook, which lacks data."""
    folder = tmp_path_factory.mktemp("lesson")
    (folder / "week.txt").write_text(COURSE.lstrip())
    make_course(folder, [read_text(folder / "week.txt")], "[limits]\ncell_seconds = 0.5")
    (folder / "source/common").mkdir()
    for name in ("words.txt", "table.txt"):
        (folder / "source/common" / name).write_text("to be")
    return folder


def test_cells_that_lack_data_are_named_with_the_line_of_course_toml_that_they_need(lesson):
    with Grader(Course(lesson), bytes(32)) as grader:
        found = grader.check_solution("week")
    assert "\n".join(each.partition("\nWhere ")[0] for each in found) + "\n" == FOUND
