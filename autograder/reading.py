"""Reads a submitted file into a valid notebook, whatever state it is in, and says what it mended.

Formats 3 and 4 of every minor version, any encoding that an editor may have saved it in, files
that were cut off or edited by hand, and notebooks exported as Python scripts.
"""

from __future__ import annotations

import codecs
import json
import re
from hashlib import blake2b
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from .intake import RESEND, UnreadableNotebook
from .outputs import clean_outputs, is_base64
from .texts import fit

MAX_CELLS = 3000
NOTES = "autograder_notes"
"""The notebook's metadata under which it is told what was mended, by exercise."""

_CELL_ID = re.compile("[a-zA-Z0-9_-]{1,64}")
_TAG = re.compile(r"[\w.:-]{1,100}")
_CELL_START = re.compile(
    r'\{\s*"(?:attachments|cell_type|execution_count|id|metadata|outputs|source|collapsed|input)"'
)
# In each of these there is one way alone to match a text: to try many may take for ever.
_SCRIPT_CELL = re.compile(r"^#(?: In ?\[[\d *]*\]:[ \t]*| %%[^\n]*)\n", re.MULTILINE)
_COMMENTS = re.compile(r"(?:#[^\n]*(?:\n|\Z)|[ \t]*\n)*")
_ATTEMPTS = 5000
_MAX_PARTS = 3_000_000
"""How many lists, objects and items a file may hold: each takes far more memory than room."""


def read_notebook(content: bytes, where: str) -> NotebookNode:
    """The notebook that a file holds.

    Args:
        content: the file's bytes.
        where: the file's name, for messages.

    Raises `UnreadableNotebook` where there is no notebook in it.
    """
    text, notes = _decoded(content)
    if not text.strip("\0 \t\r\n"):
        raise UnreadableNotebook(f"{where}: the file is empty. {RESEND}")
    if len(text) > _MAX_PARTS and sum(map(text.count, "{[,")) > _MAX_PARTS:
        raise UnreadableNotebook(
            f"{where}: the file holds over {_MAX_PARTS:,} items. "
            "Have its outputs cleared and the file saved again."
        )
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raw = _salvaged(text) or _from_script(text)
        if raw is None:
            raise UnreadableNotebook(
                f"{where}: not a notebook, or cut off in the middle ({_short(error)}). {RESEND}"
            ) from error
        how = (
            "it is a script made from a notebook"
            if "script" in raw
            else f"not a whole notebook: cut off in the middle, or edited by hand ({_short(error)})"
        )
        notes.append(
            f"{fit(Path(where).name)}: {how}. The {len(raw['cells'])} cells that could be read are "
            "used."
        )
    if type(raw) is dict and type(raw.get("worksheets")) is list:
        raw = _from_version_3(raw)
    if type(raw) is dict and type(raw.get("cells")) is dict:
        raw["cells"] = list(raw["cells"].values())
    if type(raw) is not dict or type(raw.get("cells")) is not list:
        raise UnreadableNotebook(f"{where}: the file holds no notebook cells. {RESEND}")
    if len(raw["cells"]) > MAX_CELLS:
        raise UnreadableNotebook(
            f"{where}: the file holds {len(raw['cells'])} cells, more than {MAX_CELLS}. "
            "Ask for it again with the superfluous cells deleted."
        )
    notebook = _rebuilt(raw)
    if notes:
        notebook.metadata[NOTES] = {"": notes}
    return notebook


def _short(error: Exception) -> str:
    return str(error)[:100] or type(error).__name__


def _decoded(content: bytes) -> tuple[str, list[str]]:
    """The file's text, and a note where it is not in UTF-8."""
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
    """The cells that can be read from a text that is JSON in parts, or None if there are none."""
    decoder = json.JSONDecoder()
    cells: list[dict[str, Any]] = []
    place = 0
    for _ in range(_ATTEMPTS):
        found = _CELL_START.search(text, place)
        if found is None:
            break
        try:
            cell, place = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            place = found.end()
            continue
        # Outputs and attachments start alike; every cell has a type and a source.
        if "cell_type" in cell and ("source" in cell or "input" in cell):
            cell.setdefault("source", cell.get("input"))
            cells.append(cell)
    return {"cells": cells} if cells else None


def _from_script(text: str) -> dict[str, Any] | None:
    """The cells of a script that a notebook was exported as, or None if it is not one."""
    text = text.replace("\r\n", "\n")
    heads = list(_SCRIPT_CELL.finditer(text))
    if not heads or text.lstrip().startswith(("{", "[")):
        return None
    cells: list[dict[str, Any]] = []
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        blocks = re.split(r"\n[ \t]*\n", text[head.end() : end].strip("\n"))
        texts: list[str] = []
        # Where a block of comments ends a cell, it is the text of the cells below.
        is_text = "[markdown]" in head.group()
        while blocks and (is_text or len(blocks) > 1) and _COMMENTS.fullmatch(blocks[-1]):
            texts.insert(0, re.sub("^# ?", "", blocks.pop(), flags=re.MULTILINE))
        if blocks:
            cells.append({"cell_type": "code", "source": "\n\n".join(blocks)})
        cells += [{"cell_type": "markdown", "source": each} for each in texts]
    return {"cells": cells, "script": True}


def _from_version_3(raw: dict[str, Any]) -> dict[str, Any]:
    cells: list[Any] = []
    for sheet in raw["worksheets"]:
        if type(sheet) is dict and type(sheet.get("cells")) is list:
            cells += [cell for cell in sheet["cells"] if type(cell) is dict]
    for cell in cells:
        cell.setdefault("source", cell.get("input", ""))
    return {"cells": cells, "metadata": raw.get("metadata")}


def _rebuilt(raw: dict[str, Any]) -> NotebookNode:
    notebook: NotebookNode = nbformat.v4.new_notebook()
    metadata = raw.get("metadata")
    kernelspec = metadata.get("kernelspec") if type(metadata) is dict else None
    if type(kernelspec) is dict and type(kernelspec.get("name")) is str:
        spec = {name: fit(str(kernelspec.get(name))[:200]) for name in ("name", "display_name")}
        notebook.metadata["kernelspec"] = nbformat.from_dict(spec)
    cells: list[NotebookNode] = []
    seen: set[str] = set()
    for cell in raw["cells"]:
        source = _joined(cell.get("source", "")) if type(cell) is dict else None
        if source is None:
            continue
        kind = cell.get("cell_type")
        kind = kind if kind in ("code", "raw") else "markdown"
        name = cell.get("id")
        if type(name) is not str or name in seen or not _CELL_ID.fullmatch(name):
            name = None
        new = new_cell(kind, source, len(cells), name)
        seen.add(new["id"])
        if type(cell.get("metadata")) is dict:
            _keep_metadata(new["metadata"], cell["metadata"])
        if kind == "code":
            if outputs := clean_outputs(cell.get("outputs")):
                new.outputs = nbformat.from_dict(outputs)
        elif pictures := _pictures(cell.get("attachments")):
            new.attachments = nbformat.from_dict(pictures)
        cells.append(new)
    notebook.cells = cells
    return notebook


def _joined(source: Any) -> str | None:
    if type(source) is list:
        source = "".join(part for part in source if type(part) is str)
    return source if type(source) is str else None


def _keep_metadata(kept: NotebookNode, metadata: dict[str, Any]) -> None:
    """Keep what means something to nbgrader and to us: everything else could be anything."""
    marks = metadata.get("nbgrader")
    if type(marks) is dict:
        plain = {
            name: value
            for name, value in marks.items()
            if type(value) in (bool, int, float) or (type(value) is str and len(value) < 1000)
        }
        kept["nbgrader"] = NotebookNode(plain)
    tags = metadata.get("tags")
    if type(tags) is list:
        kept["tags"] = [tag for tag in tags if type(tag) is str and _TAG.fullmatch(tag)]


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """The pictures pasted into a text, by name and MIME type."""
    found: dict[str, dict[str, str]] = {}
    for name, contents in attachments.items() if type(attachments) is dict else ():
        for kind, content in contents.items() if type(contents) is dict else ():
            if kind in ("image/png", "image/jpeg", "image/gif") and is_base64(content):
                found.setdefault(fit(name[:200]), {})[kind] = content
    return found


def new_cell(kind: str, source: str, place: int = 0, name: str | None = None) -> NotebookNode:
    """A cell of the format 4.5, made without nbformat's validation of every single cell.

    Args:
        name: its id. Without one, it comes from the cell's place and text: the same submission
            always gives the same notebook.
    """
    if "\r" in source or "\0" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    if not source.isascii():  # it may hold half of a character
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
