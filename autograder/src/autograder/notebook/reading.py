"""Reads a submitted file into a valid notebook, repairs it, and notes each repair.

Every minor version of nbformat 4 is read, several encodings, and files that are truncated or are
not valid JSON. The file is untrusted, so memory and time are limited.
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
from ..texts import fit, visible
from .intake import RESEND
from .outputs import PICTURES, OutputRoom, clean_outputs, is_base64

MAX_CELLS = 3000
MAX_SOURCE = 500_000
"""Greatest number of characters of one cell's source. A longer cell is left out."""
MAX_SOURCES = 5_000_000
"""Greatest number of characters of the sources of all cells. A cell that exceeds it is left out."""
MAX_BESIDES = 5_000_000
"""Greatest total number of bytes of the outputs of cells that are not run."""
MAX_PICTURES = 45_000_000
"""Greatest total number of bytes of the pictures in written answers, as base64."""
MAX_MEMORY = 140_000_000
"""Greatest number of bytes of memory for parsing a file, including the file's content."""
DEMONSTRATION = "demonstration"
"""Tag of cells that are not run."""
NOTES = "autograder_notes"
"""Key in the notebook's metadata of the notes on repairs: a dict of lists by exercise, or by "" for
the whole notebook."""

_CELL_ID = re.compile("[a-zA-Z0-9_-]{1,64}")
_TAG = re.compile(r"[\w.:-]{1,100}")
_CELL_START = re.compile(
    r'\{\s*"(?:attachments|cell_type|execution_count|id|metadata|outputs|source|collapsed)"'
)
_SCRIPT_CELL = re.compile(r"^# (?:In ?\[| ?%%)", re.MULTILINE)
"""Matches the first line of a cell in a script that was exported from a notebook."""
_OTHER_KINDS = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive or an office document",
    b"\x1f\x8b": "a gzip archive",
    b"{\\rtf": "an RTF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}
"""Kinds of files that are no notebooks, by their first bytes."""
_CONFLICT = re.compile(r"^(?:<{7} |>{7} |={7}|[|]{7}).*\n?", re.MULTILINE)
_WEB_PAGE = re.compile(r"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE)
_NBGRADER_KEYS = (
    "grade_id", "grade", "solution", "locked", "task", "points", "checksum", "schema_version",
    "cell_type",
)  # fmt: skip
_MAX_TAGS = 20
_MAX_MISSING = 20
_BYTES_EACH = {b"{": 250, b"[": 100, b",": 100}
"""By the JSON character that stands for it, the greatest number of bytes that a Python object
takes: a dictionary, a list, and one more item."""
_TO_BRACKET = re.compile(
    rb"""(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+(?P<sign>[\[\]{}])""", re.DOTALL
)
"""Matches everything up to the next bracket that is not in a string. The quantifiers are
possessive, so the search never backtracks."""
_OUTPUTS = re.compile(rb"""(?<!\\)"outputs"\s*:\s*\Z""")
_LARGE = 1 << 20
"""Number of bytes from which a file counts as large, and from which a block of memory is returned
to the system as soon as it is free."""
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
"""M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of glibc's <malloc.h>."""
_WIDE = re.compile(rb"[\xf0-\xff]")
"""Matches a byte that, in UTF-8, begins a character above U+FFFF."""
_WIDE_ESCAPE = re.compile(rb"\\u(?!00)")
_LEFT_OUT = "# This cell was left out: it is too long."
_TOO_LONG = (
    f"A cell was left out: it is too long. A cell may have {MAX_SOURCE:,} characters, and all "
    f"cells together {MAX_SOURCES:,}."
)
_NO_PICTURE = "The picture “{name}” is not shown here: {why}. It is in the file that was handed in."
_ATTEMPT = 10_000
"""Number of characters that a failed attempt to parse a cell counts for, in addition to those that
were parsed."""


def read_notebook(content: bytes, where: str) -> NotebookNode:
    """Return the notebook in a file as a valid notebook, with notes on repairs in its metadata
    under `NOTES`.

    Args:
        content: the file's bytes.
        where: the file's name, for messages.

    Raises `UnreadableNotebook` if the file holds no cells or too many cells, or if parsing it would
    take too much memory.
    """
    if len(content) > _LARGE:
        _return_large_blocks()
        # The traceback of an error in an earlier submission may still hold the whole file.
        gc.collect()
    if _memory_for(content) > MAX_MEMORY:
        content = _without_outputs(content)
    if _memory_for(content) > MAX_MEMORY:
        raise UnreadableNotebook(
            f"{where}: to read the file takes over {MAX_MEMORY // 1_000_000} MB of memory. "
            "It has to be handed in again without its outputs, or with smaller pictures."
        )
    text, notes = _decoded(content)
    if not re.search(r"[^\0 \t\r\n]", text):
        raise UnreadableNotebook(f"{where}: the file is empty. {RESEND}")
    if (ours := _without_conflicts(text)) != text:
        text = ours
        notes.append(
            "The file holds conflicts of Git that nobody has resolved: of each, the first version "
            "is used."
        )
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raw = _salvage_cells(text)
        if raw is None and (kind := _other_kind(content, text)):
            raise UnreadableNotebook(
                f"{where}: this is {kind}. The notebook itself has to be handed in."
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
            f"{where}: this is in notebook format 3, of 2014 and before. It has to be opened in "
            "JupyterLab, saved there and handed in again."
        )
    # Some tools write a list as a JSON object with numbers as keys.
    if type(raw) is dict and type(raw.get("cells")) is dict:
        raw["cells"] = list(raw["cells"].values())
    if type(raw) is dict and "cells" not in raw:  # The key "cells" may be damaged.
        raw["cells"] = next(filter(_are_cells, raw.values()), None)
    if type(raw) is not dict or type(raw.get("cells")) is not list:
        raise UnreadableNotebook(f"{where}: the file holds no notebook cells. {RESEND}")
    if len(raw["cells"]) > MAX_CELLS:
        raise UnreadableNotebook(
            f"{where}: the file holds over {MAX_CELLS} cells. "
            "It has to be handed in again without the superfluous cells."
        )
    notebook = _rebuild(raw)
    if notes:
        notebook.metadata.setdefault(NOTES, {}).setdefault("", [])[:0] = notes
    return notebook


def _without_conflicts(text: str) -> str:
    """Return the text with the first version of each conflict that Git has marked."""
    kept, start, version = [], 0, 0  # the version is 0 outside of conflicts
    for mark in _CONFLICT.finditer(text):
        following = {"<": 1, ">": 0}.get(mark[0][0], 2)
        if (version, following) not in ((0, 1), (1, 2), (2, 2), (2, 0)):
            continue
        if version < 2:
            kept.append(text[start : mark.start()])
        start, version = mark.end(), following
    return "".join(kept) + text[start:]


def _other_kind(content: bytes, text: str) -> str:
    """Return in words what a file is that holds no cells; "" if unknown."""
    for start, kind in _OTHER_KINDS.items():
        if content.startswith(start):
            return kind
    if _WEB_PAGE.match(text):
        return "a web page, such as that of a login"
    return "a script made from a notebook" if _SCRIPT_CELL.search(text) else ""


def _are_cells(value: object) -> bool:
    return type(value) is list and any(type(cell) is dict and "source" in cell for cell in value)


@cache
def _return_large_blocks() -> None:
    """Make glibc return large blocks of memory to the system as soon as they are freed.

    By default the thresholds of glibc grow with the largest block that was freed so far, so a
    worker that has read one large file would keep that memory.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)
        libc.mallopt(_TRIM_THRESHOLD, 16 * _LARGE)


def _memory_for(content: bytes) -> int:
    """Return an upper bound of the bytes of memory that the file, its text and the parsed objects
    take."""
    # CPython stores each character of a text in 1, 2 or 4 bytes, as many as its widest character
    # needs.
    width = 4 if _WIDE.search(content) else 1 if content.isascii() else 2
    string_width = 4 if _WIDE_ESCAPE.search(content) else width
    objects = sum(content.count(sign) * size for sign, size in _BYTES_EACH.items())
    return len(content) * (1 + width + string_width) + objects


def _without_outputs(content: bytes) -> bytes:
    """Return JSON in which every list with the key "outputs" is empty. The JSON is not parsed.

    The number of brackets that are looked at is limited; everything after them stays as it is.
    """
    kept: list[bytes] = []
    # While a list is being cut out, `cut` is the depth of the list's own brackets.
    begin, position, depth, cut = 0, 0, 0, None
    for _ in range(MAX_MEMORY // _BYTES_EACH[b"["]):
        match = _TO_BRACKET.match(content, position)
        if match is None:
            break
        bracket, position = match.start("sign"), match.end()
        if match["sign"] in (b"]", b"}"):
            depth -= 1
            if depth == cut:
                begin, cut = bracket, None
            continue
        if cut is None and _OUTPUTS.search(content, max(0, bracket - 40), bracket):
            kept.append(content[begin:position])
            cut = depth
        depth += 1
    if not kept:
        return content
    # A file that ends within a list of outputs is truncated, and all after `begin` are outputs.
    return b"".join(kept if cut is not None else [*kept, content[begin:]])


def _short(error: Exception) -> str:
    return str(error)[:100] or type(error).__name__


def _decoded(content: bytes) -> tuple[str, list[str]]:
    """Return the file's text, and a note if its encoding is not UTF-8."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif content[1:4:2] == b"\0\0":  # UTF-16 without a byte order mark.
        encoding = "utf-16-le"
    else:
        try:
            return content.decode("utf-8-sig"), []
        except UnicodeDecodeError:
            encoding = "cp1252"
    note = f"The file is not in UTF-8; it was read as {encoding}."
    return content.decode(encoding, errors="replace"), [note]


def _salvage_cells(text: str) -> dict[str, Any] | None:
    """Return a notebook with the cells that can be parsed in a text that is not valid JSON; None if
    there are none.

    The number of failed attempts is limited, since each may parse all of the remaining text.
    """
    decoder = json.JSONDecoder()
    cells: list[dict[str, Any]] = []
    position, budget = 0, 4 * len(text) + 5000 * _ATTEMPT
    while len(cells) <= MAX_CELLS and budget > 0:
        start = _CELL_START.search(text, position)
        if start is None:
            break
        try:
            cell, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError) as error:
            position = start.end()
            budget -= _end_of_parsing(error, text) - start.start() + _ATTEMPT
            continue
        # Objects in outputs and attachments may begin like a cell, but only a cell has a type and a
        # source.
        if "cell_type" in cell and "source" in cell:
            cells.append(cell)
    return {"cells": cells} if cells else None


def _end_of_parsing(error: Exception, text: str) -> int:
    """Return the index in the text at which parsing ended with this error."""
    # For an unterminated string, the error's position is the beginning of the string, and a
    # RecursionError has no position: the whole text counts.
    if not isinstance(error, json.JSONDecodeError) or error.msg.startswith("Unterminated"):
        return len(text)
    return error.pos + 1


def _rebuild(raw: dict[str, Any]) -> NotebookNode:
    """Return a valid notebook with those parts of a parsed file that grading needs; nothing else is
    copied."""
    notebook: NotebookNode = nbformat.v4.new_notebook()
    metadata = raw.get("metadata")
    kernelspec = metadata.get("kernelspec") if type(metadata) is dict else None
    if type(kernelspec) is dict and type(kernelspec.get("name")) is str:
        spec = {name: fit(str(kernelspec.get(name))[:200]) for name in ("name", "display_name")}
        notebook.metadata["kernelspec"] = nbformat.from_dict(spec)
    cells: list[NotebookNode] = []
    ids: set[str] = set()
    left, room, picture_room = MAX_SOURCES, OutputRoom(MAX_BESIDES), OutputRoom(MAX_PICTURES)
    notes: dict[str, list[str]] = {}
    for cell in raw["cells"]:
        source = _joined_lines(cell.get("source", "")) if type(cell) is dict else None
        if source is None:
            continue
        kind = cell.get("cell_type")
        # A cell of any other type, such as "heading" of old versions, is a text and does not run.
        kind = kind if kind in ("code", "raw") else "markdown"
        cell_id = cell.get("id")
        if type(cell_id) is not str or cell_id in ids or not _CELL_ID.fullmatch(cell_id):
            cell_id = None
        if len(source) > min(MAX_SOURCE, left):
            notes.setdefault(_exercise(cell), [_TOO_LONG])
            source = _LEFT_OUT
        left -= len(source)
        pictures, missing = _pictures(cell.get("attachments"), picture_room)
        if kind != "code" and missing:
            notes.setdefault(_exercise(cell), []).extend(missing)
            source += "".join(f"\n\n*[{each}]*" for each in missing)
        new = new_cell(kind, source, len(cells), cell_id)
        ids.add(new["id"])
        if type(cell.get("metadata")) is dict:
            _keep_metadata(new["metadata"], cell["metadata"])
        if kind == "code":
            # All other code cells are run again, so the outputs in the file are dropped.
            if DEMONSTRATION in new["metadata"].get("tags", ()):
                new.outputs = nbformat.from_dict(clean_outputs(cell.get("outputs"), room))
        elif pictures:
            new.attachments = nbformat.from_dict(pictures)
        cells.append(new)
    notebook.cells = cells
    if notes:
        notebook.metadata[NOTES] = notes
    return notebook


def _exercise(cell: dict[str, Any]) -> str:
    """Return the exercise that the metadata of a parsed cell names; "" if it names none."""
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if type(metadata) is dict else None
    name = nbgrader.get("grade_id") if type(nbgrader) is dict else None
    return name.removeprefix("test_") if type(name) is str and _TAG.fullmatch(name) else ""


def _joined_lines(source: Any) -> str | None:
    """Return a cell's source as one text: nbformat may store it as a list of lines. None if it is
    not a text."""
    if type(source) is list:
        source = "".join(part for part in source if type(part) is str)
    return source if type(source) is str else None


def _keep_metadata(kept: NotebookNode, metadata: dict[str, Any]) -> None:
    """Copy the metadata that nbgrader and the grader use, and nothing else.

    Args:
        kept: the metadata of the new cell.
        metadata: the metadata in the file, which is untrusted.
    """
    nbgrader = metadata.get("nbgrader")
    if type(nbgrader) is dict:
        plain = {
            name: value
            for name, value in ((name, nbgrader.get(name)) for name in _NBGRADER_KEYS)
            if type(value) in (bool, int, float) or (type(value) is str and len(value) < 1000)
        }
        kept["nbgrader"] = NotebookNode(plain)
    tags = metadata.get("tags")
    if type(tags) is list:
        valid = (tag for tag in tags if type(tag) is str and _TAG.fullmatch(tag))
        kept["tags"] = list(islice(valid, _MAX_TAGS))


def _pictures(attachments: Any, room: OutputRoom) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the pictures attached to a cell, by name and MIME type, and a sentence on each
    attachment that is left out."""
    pictures: dict[str, dict[str, str]] = {}
    missing: list[str] = []
    for name, contents in attachments.items() if type(attachments) is dict else ():
        shown = {}
        why = "it is not a PNG, JPEG, GIF or WebP file"
        for kind, content in contents.items() if type(contents) is dict else ():
            if kind in PICTURES and is_base64(content):
                if room.take(300 + len(content)):
                    shown[kind] = content
                else:
                    why = f"the pictures have over {room.most // 1_000_000} MB together"
        name = fit(name[:200])
        if shown:
            pictures[name] = shown
        elif len(missing) < _MAX_MISSING:
            missing.append(_NO_PICTURE.format(name=visible(name), why=why))
    return pictures, missing


def new_cell(kind: str, source: str, index: int = 0, cell_id: str | None = None) -> NotebookNode:
    """Return a cell of nbformat 4.5, without nbformat's validation, which is slow.

    Args:
        kind: the cell's type, such as "code".
        index: the index of the cell in its notebook.
        cell_id: the cell's id; by default a digest of index and source, so that the same submission
            always gives the same notebook.
    """
    if "\r" in source or "\0" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    if not source.isascii():  # A lone surrogate could not be encoded.
        source = source.encode("utf-8", "replace").decode()
    if cell_id is None:
        cell_id = blake2b(f"{index} {source}".encode(), digest_size=8).hexdigest()
    parts: dict[str, Any] = {
        "cell_type": kind,
        "id": cell_id,
        "metadata": NotebookNode(),
        "source": source,
    }
    if kind == "code":
        parts |= {"outputs": [], "execution_count": None}
    return NotebookNode(parts)
