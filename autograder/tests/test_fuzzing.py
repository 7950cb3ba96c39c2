"""Any bytes, from a student process or in a submitted file, are accepted or refused.

`make campaigns` tries many more examples, and other ones each time. An example that fails is kept
in `.hypothesis/` and tried first from then on. The explicit examples once caused an error, or
nearly did.
"""

from __future__ import annotations

import contextlib
import json
import socket
from typing import Any

import nbformat
import pytest
from campaigns import size
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from replies import Says
from tested_course import COURSE

from autograder.errors import StudentError, UnreadableNotebook
from autograder.notebook.aligning import nbgrader_metadata, squeezed
from autograder.notebook.outputs import clean_outputs
from autograder.notebook.reading import read_notebook
from autograder.notebook.restoring import MISSING_CELL, RestoredNotebook, load_template, restore
from autograder.sandbox.guest import protocol
from autograder.sandbox.guest.steps import Steps
from autograder.sandbox.proxies import Student

KNOWN = load_template(COURSE, "value")
RELEASE = json.loads((COURSE.root / "release/value/value.ipynb").read_text("utf-8"))

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.sized]
fuzz = settings(
    suppress_health_check=list(HealthCheck),
    deadline=None,
    max_examples=size(60, 5000),
    derandomize=not size(0, 1),
)

PRIMITIVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
WORDS = st.sampled_from(
    ["values", "error", "steps", "name", "getattr", "list", "tuple", "set", "dict", "float", "step",
     "object", "large", "outputs", "output_type", "data", "metadata", "text", "name", "cells",
     "source", "cell_type", "code", "nbgrader", "grade_id", "tags", "id", "nan", "stdout",
     "stream", "display_data", "execute_result", "text/html", "text/plain", "image/png"]
)  # fmt: skip
JSON = st.recursive(
    PRIMITIVES | WORDS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(WORDS | st.text(max_size=8), inner, max_size=5)
    ),
    max_leaves=25,
)


# The protocol.


@fuzz
@given(st.binary(max_size=300), st.booleans())
@example(b"[" * 100_000, True)
@example(b"\xff\xff\xff\xff", False)
@example(b'{"a": 1e999}', True)
@example(b"9" * 5000, True)
def test_any_bytes_are_decoded_as_a_message_or_refused(body: bytes, framed: bool) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(5)
        theirs.sendall((len(body).to_bytes(4, "big") if framed else b"") + body)
        theirs.close()
        try:
            message = protocol.Connection(ours).receive()
        except protocol.ProtocolError:
            return
        assert message is None or type(message) in (bool, int, float, str, list, dict)


LOOKS = [
    lambda student: student.x == 1.0,
    lambda student: student.x == [1.0, student.y],
    lambda student: student.x == student.y,
    lambda student: list(student.x),
    lambda student: bool(student.x),
    lambda student: len(student.x),
    lambda student: repr(student.x),
    lambda student: float(student.x + 1.0),
    lambda student: student.x < 2.0,
    lambda student: {student.x},
    lambda student: isinstance(student.x, float),
    lambda student: student.remote.builtins.hash(student.x) == 1,
]


@fuzz
@given(
    st.dictionaries(WORDS, JSON, max_size=3)
    | st.builds(lambda values: {"values": values}, st.lists(JSON, max_size=3)),
    st.sampled_from(LOOKS),
)
@example({"values": [], "error": []}, LOOKS[0])
@example({"values": [], "error": [1]}, LOOKS[0])
@example({"values": [{"tuple": [1]}]}, LOOKS[3])
@example({"values": [{"object": 10**60}]}, LOOKS[2])
@example({"values": [{"object": 0}]}, LOOKS[4])
@example({"values": [{"large": 0}]}, LOOKS[9])
def test_any_reply_gives_a_hidden_test_a_value_or_one_of_two_errors(reply: Any, look: Any) -> None:
    with contextlib.suppress(StudentError, protocol.ProtocolError):
        look(Student(Says(reply)))


@fuzz
@given(st.lists(JSON | st.lists(JSON | WORDS, min_size=1, max_size=4), max_size=4))
@example([["name", "x"], ["getattr", {"step": 0}, "real"], ["getattr", {"step": 9}, "x"]])
def test_any_steps_are_performed_or_refused_in_the_student_process(steps: list[Any]) -> None:
    reply = Steps({"x": 1.0}).perform({"steps": steps, "new": True})
    assert set(reply) <= {"values", "error"}
    assert len(reply["values"]) == len(steps) or reply["error"]
    json.dumps(reply, allow_nan=False)


@fuzz
@given(JSON | st.lists(JSON, max_size=4))
@example([{"output_type": "stream", "name": "stdout", "text": "\ud800"}])
@example([{"output_type": "display_data", "data": {"image/svg+xml": "<svg><svg>"}}])
def test_cleaning_any_outputs_gives_a_valid_notebook(outputs: Any) -> None:
    cell = nbformat.v4.new_code_cell("", outputs=nbformat.from_dict(clean_outputs(outputs)))
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbformat.validate(notebook)
    nbformat.writes(notebook, version=4).encode()


# Files.


def _taken(content: bytes) -> RestoredNotebook | None:
    try:
        return restore(read_notebook(content, "value.ipynb"), KNOWN, "value.ipynb")
    except UnreadableNotebook as error:
        assert "value.ipynb" in str(error)
        return None


def _assert_whole(restored: RestoredNotebook) -> None:
    """Assert that the notebook is valid and has each of the course's cells once, in order,
    unchanged."""
    nbformat.validate(restored.notebook)
    names = [nbgrader_metadata(cell).get("grade_id") for cell in restored.notebook.cells]
    assert [name for name in names if name] == list(KNOWN.originals)
    for cell in restored.notebook.cells:
        original = KNOWN.originals.get(nbgrader_metadata(cell).get("grade_id", ""))
        if original is not None:
            assert cell.metadata.nbgrader == original.metadata.nbgrader
            assert not original.metadata.nbgrader.locked or cell.source == original.source


@fuzz
@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
@example(b'{"cells": null}')
@example(b'{"worksheets": [{"cells": null}, null, []]}')
@example(b'{"cells": [{"source": "x", "metadata": {"tags": ' + b"[" * 500 + b"]" * 500 + b"}}]}")
@example(b"{" * 50_000)
@example(b'{"id": {' * 5000)
@example(b"\xff\xfe{\x00}\x00")
@example(b"# In[1]:\n")
@example(b"\x00" * 100)
def test_any_file_is_read_or_refused(content: bytes) -> None:
    _taken(content)


@fuzz
@given(JSON, JSON, st.lists(JSON, max_size=4))
@example({"nbgrader": {"grade_id": ["x"]}}, [], [])
@example([], {"kernelspec": []}, [None])
def test_any_json_in_a_notebook_is_accepted_or_refused(cell: Any, metadata: Any, more: Any) -> None:
    cells = [RELEASE["cells"][3], {"cell_type": "code", "source": "x", "metadata": cell}, *more]
    for each in (cells, [*RELEASE["cells"], *cells]):
        restored = _taken(json.dumps({"cells": each, "metadata": metadata}).encode())
        if restored is not None:
            _assert_whole(restored)


PLACES = st.integers(0, len(RELEASE["cells"]) - 1)
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["delete", "copy", "move", "retype", "forget", "rename", "write", "cut"]),
        PLACES,
        PLACES,
        st.sampled_from(["", "x = 1", "def add(self, other):\n    pass", "    y", "# a\n\n", "é"])
        | st.text(max_size=30),
    ),
    min_size=1,
    max_size=12,
)  # fmt: skip


ANSWER = next(i for i, c in enumerate(RELEASE["cells"]) if nbgrader_metadata(c).get("solution"))


@fuzz
@given(EDITS)
@example([("rename", 0, ANSWER, "")])
def test_after_any_edits_of_cells_each_course_cell_is_restored_once_and_no_text_is_lost(
    edits: Any,
) -> None:
    cells = json.loads(json.dumps(RELEASE["cells"]))
    for what, place, other, text in edits:
        place, other = place % len(cells), other % len(cells)
        cell = cells[place]
        if what == "delete" and len(cells) > 5:
            del cells[place]
        elif what == "copy":
            cells.insert(other, json.loads(json.dumps(cell)))
        elif what == "move":
            cells.insert(other, cells.pop(place))
        elif what == "retype":
            cell["cell_type"] = "markdown" if cell["cell_type"] == "code" else "code"
        elif what == "forget":
            cell["metadata"], cell["id"] = {}, f"forgotten-{place}"
        elif what == "rename":
            cell["metadata"] = cells[other]["metadata"]
        elif what == "write":
            cell["source"] = text
        else:
            source = "".join(cell["source"])
            middle = len(source) // 2
            cell["source"] = source[:middle]
            cells.insert(place + 1, {**cell, "source": source[middle:], "id": f"cut-{place}"})
    restored = _taken(json.dumps({"cells": cells, "metadata": {}}).encode())
    if restored is None:
        return
    _assert_whole(restored)
    kept = squeezed("".join(cell.source for cell in restored.notebook.cells))
    course = [squeezed("".join(cell["source"])) for cell in RELEASE["cells"]]
    for cell in cells:
        text = squeezed(nbformat.from_dict({"s": "".join(cell["source"])}).s.replace("\0", ""))
        assert text in kept or any(text in each for each in course), cell
    assert MISSING_CELL not in "".join("".join(cell["source"]) for cell in cells)


@fuzz
@given(st.lists(st.tuples(st.integers(0, 60_000), st.binary(max_size=6)), min_size=1, max_size=5))
@example([(4, b" ")])
def test_a_file_with_damaged_bytes_is_read_as_far_as_possible(damage: Any) -> None:
    content = bytearray(json.dumps(RELEASE, indent=1).encode())
    for place, wrong in damage:
        content[place : place + len(wrong)] = wrong
    restored = _taken(bytes(content))
    assert restored is not None
    _assert_whole(restored)
