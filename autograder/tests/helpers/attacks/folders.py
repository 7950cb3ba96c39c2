"""Submission folders that differ from that of an ordinary submission, such as by symbolic links.

Each entry has a function that makes the folder from an honest notebook, and says whether the
notebook is graded or, if it is refused, what the message must contain.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Make = Callable[[Path, str, Path], None]
"""Takes the existing folder, the honest notebook's JSON and the course folder."""

LARGE = 1 << 31
"""Number of bytes: more than the grader reads of any file, and few enough that a program can copy
them."""

GRADED = ""


def _write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def a_link_to_the_solution(folder: Path, honest: str, course: Path) -> None:
    (folder / "value.ipynb").symlink_to(course / "source" / "value" / "value.ipynb")


def a_hard_link_to_the_solution(folder: Path, honest: str, course: Path) -> None:
    os.link(course / "source" / "value" / "value.ipynb", folder / "value.ipynb")


def a_hard_link_to_a_neighbour(folder: Path, honest: str, course: Path) -> None:
    """Link another student's file, which is graded like a copy and costs the other student no
    points."""
    os.link(course / "submitted" / "neighbour_a" / "value" / "value.ipynb", folder / "value.ipynb")


def a_folder_that_is_a_link(folder: Path, honest: str, course: Path) -> None:
    folder.rmdir()
    folder.symlink_to(course / "submitted" / "neighbour_a" / "value")


def a_student_who_is_a_link(folder: Path, honest: str, course: Path) -> None:
    folder.rmdir()
    folder.parent.rmdir()
    folder.parent.symlink_to(course / "submitted" / "neighbour_a")


def a_link_to_a_device(folder: Path, honest: str, course: Path) -> None:
    (folder / "value.ipynb").symlink_to("/dev/zero")


def a_pipe(folder: Path, honest: str, course: Path) -> None:
    os.mkfifo(folder / "value.ipynb")


def a_folder_in_its_place(folder: Path, honest: str, course: Path) -> None:
    (folder / "value.ipynb").mkdir()


def a_link_to_itself(folder: Path, honest: str, course: Path) -> None:
    (folder / "value.ipynb").symlink_to("value.ipynb")


def a_sparse_file(folder: Path, honest: str, course: Path) -> None:
    with (folder / "value.ipynb").open("wb") as file:
        file.truncate(LARGE)


def a_gigabyte_of_one_cell(folder: Path, honest: str, course: Path) -> None:
    with (folder / "value.ipynb").open("wb") as file:
        file.write(b'{"cells": [{"cell_type": "code", "source": "')
        file.truncate(1 << 30)


def a_million_cells(folder: Path, honest: str, course: Path) -> None:
    cell = '{"cell_type":"code","source":"","metadata":{}}'
    _write(folder, "value.ipynb", '{"cells": [' + f"{cell}," * 999_999 + f"{cell}]}}")


def ten_thousand_cells(folder: Path, honest: str, course: Path) -> None:
    notebook = json.loads(honest)
    notebook["cells"] += [{"cell_type": "code", "source": "x = 1", "metadata": {}}] * 10_000
    _write(folder, "value.ipynb", json.dumps(notebook))


def brackets_without_end(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value.ipynb", "[" * 10_000_000)


def millions_of_items(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value.ipynb", '{"cells": [' + "{}," * 10_000_000 + "{}]}")


def a_number_of_a_million_digits(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value.ipynb", '{"cells": [], "x": ' + "9" * 1_000_000 + "}")


def an_archive_in_its_place(folder: Path, honest: str, course: Path) -> None:
    with zipfile.ZipFile(folder / "value.zip", "w") as archive:
        archive.writestr("../../../../source/value/value.ipynb", honest)
        archive.writestr("value.ipynb", honest)


def two_other_notebooks(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value (1).ipynb", honest)
    _write(folder, "value-final.ipynb", honest)


def nothing_at_all(folder: Path, honest: str, course: Path) -> None:
    pass


def another_name(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value (1).ipynb", honest)


def a_second_notebook(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value.ipynb", honest)
    _write(folder, "value-2.ipynb", honest.replace('"points": ', '"points": 100'))


def an_editors_copies(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value.ipynb", honest)
    _write(folder, ".ipynb_checkpoints/value-checkpoint.ipynb", "{}")
    _write(folder, ".DS_Store", "x")


def modules_beside_it(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value.ipynb", honest)
    evil = "open('/tmp/written-by-an-attack', 'w').write('x')\nraise SystemExit(0)\n"
    for name in ("math", "course", "json", "pytest", "conftest", "sitecustomize", "autograder",
                 "nbgrader_config", "guest", "course/__init__", "__pycache__/math"):  # fmt: skip
        _write(folder, f"{name}.py", evil)
    _write(folder, "x.pth", "import os; os.system('touch /tmp/written-by-an-attack')")
    _write(folder, "pytest.ini", "[pytest]\naddopts = -p evil\n")
    _write(folder, "__pycache__/math.cpython-311.pyc", "x")


def links_beside_it(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value.ipynb", honest)
    (folder / "secret.txt").symlink_to(course / "source" / "value" / "value.ipynb")
    (folder / "tests").symlink_to(course / "grading_tests")
    (folder / "timestamp.txt").symlink_to(course / ".autograder_key")
    (folder / ".hidden").symlink_to(course / "grading_tests" / "test_value.py")
    os.link(course / "grading_tests" / "test_value.py", folder / "hard.py")


def a_pipe_beside_it(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value.ipynb", honest)
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "timestamp.txt")


def a_sparse_file_beside_it(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value.ipynb", honest)
    with (folder / "data.bin").open("wb") as file:
        file.truncate(LARGE)


def a_time_that_is_none(folder: Path, honest: str, course: Path) -> None:
    _write(folder, "value.ipynb", honest)
    _write(folder, "timestamp.txt", "9" * 999 + " UTC")


FOLDERS: dict[str, tuple[Make, str]] = {
    make.__name__.replace("_", " "): (make, says)
    for make, says in (
        (a_link_to_the_solution, "a link"),
        (a_hard_link_to_the_solution, "hard link"),
        (a_hard_link_to_a_neighbour, GRADED),
        (a_folder_that_is_a_link, "a link"),
        (a_student_who_is_a_link, "a link"),
        (a_link_to_a_device, "a link"),
        (a_pipe, "not a plain file"),
        (a_folder_in_its_place, "not a plain file"),
        (a_link_to_itself, "a link"),
        (a_sparse_file, "over 50 MB"),
        (a_gigabyte_of_one_cell, "over 50 MB"),
        (a_million_cells, "over 140 MB of memory"),
        (ten_thousand_cells, "over 3000 cells"),
        (brackets_without_end, "over 140 MB of memory"),
        (millions_of_items, "over 140 MB of memory"),
        (a_number_of_a_million_digits, "not a notebook"),
        (an_archive_in_its_place, "value.zip"),
        (two_other_notebooks, "value-final.ipynb"),
        (nothing_at_all, "no such file"),
        (another_name, GRADED),
        (a_second_notebook, GRADED),
        (an_editors_copies, GRADED),
        (modules_beside_it, GRADED),
        (links_beside_it, GRADED),
        (a_pipe_beside_it, GRADED),
        (a_sparse_file_beside_it, GRADED),
        (a_time_that_is_none, GRADED),
    )
}


# Actions of a student's server on a submission while it is collected.

_EXCHANGE = """
import ctypes, os, sys
rename = ctypes.CDLL(None, use_errno=True).renameat2
one, other = map(os.fsencode, sys.argv[1:])
print("begun", flush=True)
while os.getppid() == PARENT:
    if rename(-100, one, -100, other, 2):
        raise OSError(ctypes.get_errno(), one)
"""


@contextmanager
def exchanging(one: Path, other: Path) -> Iterator[None]:
    """Run a process that swaps the names of two files again and again, until the `with` block
    ends."""
    program = _EXCHANGE.replace("PARENT", str(os.getpid()))
    started = subprocess.Popen(
        [sys.executable, "-c", program, str(one), str(other)], stdout=subprocess.PIPE
    )
    assert started.stdout is not None
    try:
        started.stdout.readline()
        yield
        assert started.poll() is None, "the exchange has ended by itself"
    finally:
        started.kill()
        started.communicate()
