"""Reads a submitted file into a valid notebook, in any state, with notes on each repair.

It reads every minor version of format 4, any encoding that an editor may have saved, and files that
were cut off or edited by hand.
"""

from __future__ import annotations

import codecs
import ctypes
import gc
import json
import re
from functools import cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from ..errors import UnreadableNotebook
from ..texts import fit
from .intake import RESEND
from .outputs import OutputRoom, clean_outputs, is_base64

MAX_CELLS = 3000
MAX_SOURCE = 500_000
"""Greatest number of characters of one cell; a longer one is left out."""
MAX_SOURCES = 5_000_000
"""Greatest number of characters of all cells; a cell that goes beyond is left out."""
MAX_BESIDES = 5_000_000
"""Greatest number of bytes of pasted pictures, and of outputs of cells that do not run."""
MAX_MEMORY = 140_000_000
"""Bytes of memory that a file may take while it is read, its own included."""
DEMONSTRATION = "demonstration"
"""Tag of cells that are not run."""
NOTES = "autograder_notes"
"""Key of the notebook's metadata that holds the notes on repairs, by exercise."""

_CELL_ID = re.compile("[a-zA-Z0-9_-]{1,64}")
_TAG = re.compile(r"[\w.:-]{1,100}")
_CELL_START = re.compile(
    r'\{\s*"(?:attachments|cell_type|execution_count|id|metadata|outputs|source|collapsed)"'
)
_SCRIPT_CELL = re.compile(r"^# (?:In ?\[| ?%%)", re.MULTILINE)
"""The first line of a cell in a script that a notebook was exported as."""
_MARKS = (
    "grade_id", "grade", "solution", "locked", "task", "points", "checksum", "schema_version",
    "cell_type",
)  # fmt: skip
_MAX_TAGS = 20
_EACH = {b"{": 250, b"[": 100, b",": 100}
"""Bytes of memory that an object, a list and an item take at most, by the JSON character."""
_TO_BRACKET = re.compile(
    rb"""(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+(?P<sign>[\[\]{}])""", re.DOTALL
)
_OUTPUTS = re.compile(rb"""(?<!\\)"outputs"\s*:\s*\Z""")
_LARGE = 1 << 20
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
_WIDE = re.compile(rb"[\xf0-\xff]")
_WIDE_ESCAPE = re.compile(rb"\\u(?!00)")
_LEFT_OUT = "# This cell was left out: it is too long."
_TOO_LONG = (
    f"A cell was left out: it is too long. A cell may have {MAX_SOURCE:,} characters, and all "
    f"cells together {MAX_SOURCES:,}."
)
_ATTEMPT = 10_000
"""Characters that an attempt to read a cell counts as, beside those that it reads in vain."""


def read_notebook(content: bytes, where: str) -> NotebookNode:
    """Return the notebook in a file.

    Args:
        content: the file's bytes.
        where: the file's name, for messages.

    Raises `UnreadableNotebook` if there is no notebook in it.
    """
    if len(content) > _LARGE:
        _return_large_blocks()
        gc.collect()  # An earlier submission's errors may hold its file.
    if _memory_for(content) > MAX_MEMORY:
        content = _without_outputs(content)
    if _memory_for(content) > MAX_MEMORY:
        raise UnreadableNotebook(
            f"{where}: to read the file takes over {MAX_MEMORY // 1_000_000} MB of memory. "
            "Have its outputs cleared and the file saved again."
        )
    text, notes = _decoded(content)
    if not re.search(r"[^\0 \t\r\n]", text):
        raise UnreadableNotebook(f"{where}: the file is empty. {RESEND}")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raw = _salvaged(text)
        if raw is None and _SCRIPT_CELL.search(text):
            raise UnreadableNotebook(
                f"{where}: it is a script made from a notebook. Ask for the notebook itself."
            ) from error
        if raw is None:
            raise UnreadableNotebook(
                f"{where}: not a notebook, or cut off in the middle ({_short(error)}). {RESEND}"
            ) from error
        notes.append(
            f"{fit(Path(where).name)}: not a whole notebook: cut off in the middle, or edited by "
            f"hand ({_short(error)}). The {len(raw['cells'])} cells that could be read are used."
        )
    del text
    if type(raw) is dict and "worksheets" in raw:
        raise UnreadableNotebook(
            f"{where}: it is in notebook format 3, of 2014 and before. Ask for it again, opened "
            "in JupyterLab and saved there."
        )
    if type(raw) is dict and type(raw.get("cells")) is dict:
        raw["cells"] = list(raw["cells"].values())
    if type(raw) is dict and "cells" not in raw:  # A byte of the name may be damaged.
        raw["cells"] = next(filter(_are_cells, raw.values()), None)
    if type(raw) is not dict or type(raw.get("cells")) is not list:
        raise UnreadableNotebook(f"{where}: the file holds no notebook cells. {RESEND}")
    if len(raw["cells"]) > MAX_CELLS:
        raise UnreadableNotebook(
            f"{where}: the file holds over {MAX_CELLS} cells. "
            "Ask for it again with the superfluous cells deleted."
        )
    notebook = _rebuilt(raw)
    if notes:
        notebook.metadata.setdefault(NOTES, {}).setdefault("", [])[:0] = notes
    return notebook


def _are_cells(value: object) -> bool:
    return type(value) is list and any(type(each) is dict and "source" in each for each in value)


@cache
def _return_large_blocks() -> None:
    """Make the C library return large blocks of memory to the system as soon as they are free.

    By default it keeps blocks nearly as large as the largest so far.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)
        libc.mallopt(_TRIM_THRESHOLD, 16 * _LARGE)


def _memory_for(content: bytes) -> int:
    """Return the most bytes of memory that the file, its text and its objects may take together."""
    signs = 4 if _WIDE.search(content) else 1 if content.isascii() else 2
    texts = 4 if _WIDE_ESCAPE.search(content) else signs
    parts = sum(content.count(sign) * each for sign, each in _EACH.items())
    return len(content) * (1 + signs + texts) + parts


def _without_outputs(content: bytes) -> bytes:
    """Cut the items of all lists called `outputs` out of the JSON, which is read in one pass.

    What has more brackets than can be read is returned as it is.
    """
    kept: list[bytes] = []
    begin, place, depth, cut = 0, 0, 0, None
    for _ in range(MAX_MEMORY // _EACH[b"["]):
        found = _TO_BRACKET.match(content, place)
        if found is None:
            break
        here, place = found.start("sign"), found.end()
        if found["sign"] in (b"]", b"}"):
            depth -= 1
            if depth == cut:
                begin, cut = here, None
            continue
        if cut is None and _OUTPUTS.search(content, max(0, here - 40), here):
            kept.append(content[begin:place])
            cut = depth
        depth += 1
    if not kept:
        return content
    return b"".join(kept if cut is not None else [*kept, content[begin:]])


def _short(error: Exception) -> str:
    return str(error)[:100] or type(error).__name__


def _decoded(content: bytes) -> tuple[str, list[str]]:
    """Return the file's text, and a note if it is not in UTF-8."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif content[1:4:2] == b"\0\0":
        encoding = "utf-16-le"
    else:
        try:
            return content.decode("utf-8-sig"), []
        except UnicodeDecodeError:
            encoding = "cp1252"
    note = f"The file is not in UTF-8; it was read as {encoding}."
    return content.decode(encoding, errors="replace"), [note]


def _salvaged(text: str) -> dict[str, Any] | None:
    """Return the cells that can be read from a text that is JSON in parts, or None.

    The characters that are read in vain are bounded by a multiple of the text.
    """
    decoder = json.JSONDecoder()
    cells: list[dict[str, Any]] = []
    place, in_vain = 0, 4 * len(text) + 5000 * _ATTEMPT
    while len(cells) <= MAX_CELLS and in_vain > 0:
        found = _CELL_START.search(text, place)
        if found is None:
            break
        try:
            cell, place = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError) as error:
            place = found.end()
            in_vain -= _reached(error, text) - found.start() + _ATTEMPT
            continue
        # Outputs and attachments start alike; every cell has a type and a source.
        if "cell_type" in cell and "source" in cell:
            cells.append(cell)
    return {"cells": cells} if cells else None


def _reached(error: Exception, text: str) -> int:
    """Return how far the text was read before this error; to its end, if that is not known."""
    if not isinstance(error, json.JSONDecodeError) or error.msg.startswith("Unterminated"):
        return len(text)
    return error.pos + 1


def _rebuilt(raw: dict[str, Any]) -> NotebookNode:
    notebook: NotebookNode = nbformat.v4.new_notebook()
    metadata = raw.get("metadata")
    kernelspec = metadata.get("kernelspec") if type(metadata) is dict else None
    if type(kernelspec) is dict and type(kernelspec.get("name")) is str:
        spec = {name: fit(str(kernelspec.get(name))[:200]) for name in ("name", "display_name")}
        notebook.metadata["kernelspec"] = nbformat.from_dict(spec)
    cells: list[NotebookNode] = []
    seen: set[str] = set()
    left, besides = MAX_SOURCES, OutputRoom(MAX_BESIDES)
    notes: dict[str, list[str]] = {}
    for cell in raw["cells"]:
        source = _joined(cell.get("source", "")) if type(cell) is dict else None
        if source is None:
            continue
        kind = cell.get("cell_type")
        kind = kind if kind in ("code", "raw") else "markdown"
        name = cell.get("id")
        if type(name) is not str or name in seen or not _CELL_ID.fullmatch(name):
            name = None
        if len(source) > min(MAX_SOURCE, left):
            notes.setdefault(_exercise(cell), [_TOO_LONG])
            source = _LEFT_OUT
        left -= len(source)
        new = new_cell(kind, source, len(cells), name)
        seen.add(new["id"])
        if type(cell.get("metadata")) is dict:
            _keep_metadata(new["metadata"], cell["metadata"])
        if kind == "code":
            # Outputs of code cells are dropped, since the cells are run again.
            if DEMONSTRATION in new["metadata"].get("tags", ()):
                new.outputs = nbformat.from_dict(clean_outputs(cell.get("outputs"), besides))
        elif pictures := _pictures(cell.get("attachments"), besides):
            new.attachments = nbformat.from_dict(pictures)
        cells.append(new)
    notebook.cells = cells
    if notes:
        notebook.metadata[NOTES] = notes
    return notebook


def _exercise(cell: dict[str, Any]) -> str:
    """Return the exercise in the cell's metadata; "" if there is none."""
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if type(metadata) is dict else None
    name = marks.get("grade_id") if type(marks) is dict else None
    return name.removeprefix("test_") if type(name) is str and _TAG.fullmatch(name) else ""


def _joined(source: Any) -> str | None:
    if type(source) is list:
        source = "".join(part for part in source if type(part) is str)
    return source if type(source) is str else None


def _keep_metadata(kept: NotebookNode, metadata: dict[str, Any]) -> None:
    """Keep the metadata that nbgrader and the grader use; the rest is untrusted."""
    marks = metadata.get("nbgrader")
    if type(marks) is dict:
        plain = {
            name: value
            for name, value in ((name, marks.get(name)) for name in _MARKS)
            if type(value) in (bool, int, float) or (type(value) is str and len(value) < 1000)
        }
        kept["nbgrader"] = NotebookNode(plain)
    tags = metadata.get("tags")
    if type(tags) is list:
        fine = (tag for tag in tags if type(tag) is str and _TAG.fullmatch(tag))
        kept["tags"] = list(islice(fine, _MAX_TAGS))


def _pictures(attachments: Any, room: OutputRoom) -> dict[str, dict[str, str]]:
    """Return the pictures pasted into a text, by name and MIME type, as far as there is room."""
    found: dict[str, dict[str, str]] = {}
    for name, contents in attachments.items() if type(attachments) is dict else ():
        for kind, content in contents.items() if type(contents) is dict else ():
            fits = kind in ("image/png", "image/jpeg", "image/gif") and type(content) is str
            if fits and room.take(300 + len(content)) and is_base64(content):
                found.setdefault(fit(name[:200]), {})[kind] = content
    return found


def new_cell(kind: str, source: str, place: int = 0, name: str | None = None) -> NotebookNode:
    """Make a cell of the format 4.5 without nbformat's validation, which is slow.

    Args:
        name: its id. Without one, it comes from the cell's place and text: the same submission
            always makes the same notebook.
    """
    if "\r" in source or "\0" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    if not source.isascii():  # it may hold a lone surrogate
        source = source.encode("utf-8", "replace").decode()
    if name is None:
        name = blake2b(f"{place} {source}".encode(), digest_size=8).hexdigest()
    parts: dict[str, Any] = {
        "cell_type": kind,
        "id": name,
        "metadata": NotebookNode(),
        "source": source,
    }
    if kind == "code":
        parts |= {"outputs": [], "execution_count": None}
    return NotebookNode(parts)
