"""Validates the outputs of a student's cells: well-formed nbformat, safe to show."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from html import escape
from typing import Any

from nbconvert.filters.ansi import strip_ansi

from .sanitizing import MAX_TAGS, safe_svg, shown_html, tags_in

MAX_BYTES = 2_000_000
"""Greatest number of bytes kept of one cell's outputs."""

MAX_BYTES_OF_A_NOTEBOOK = 10_000_000
"""Greatest number of bytes kept of the outputs of all cells."""

MAX_TAGS_OF_A_NOTEBOOK = 40_000
"""Greatest number of HTML tags in the outputs of all cells."""

MAX_SHAPES_OF_A_NOTEBOOK = 200_000
"""Greatest number of shapes in the drawings of all cells' outputs, HTML tags included."""

MAX_COLOURS = 2000
"""Greatest number of colour changes in an output; with more it is shown without colours."""

_EACH = 500
"""Bytes that an output takes on a page and in memory beside its text."""

_MAX_KINDS = 20
"""Greatest number of formats of one display."""

_REST_OF_CELL = "[The rest of this cell's output was dropped: it is too large.]\n"
_REST_OF_NOTEBOOK = (
    "[The output of this cell was dropped, or its rest: the outputs of this notebook are over "
    "{megabytes} MB together.]\n"
)
_SHORT = 2000
"""Characters kept of an error or a result for which there is no room."""

_TEXTS = ("text/plain", "text/markdown", "text/latex")
"""Formats that pages show as text: Markdown is made safe when it is rendered."""

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_WHITE = b" \t\n\r\f\v"


class OutputRoom:
    """The room that is left for one notebook's outputs."""

    def __init__(self, most: int = MAX_BYTES_OF_A_NOTEBOOK) -> None:
        self.most = self.left = most
        self.tags = MAX_TAGS_OF_A_NOTEBOOK
        self.shapes = MAX_SHAPES_OF_A_NOTEBOOK

    def take(self, size: int) -> bool:
        """Take up this much room, if it is left; return whether it was."""
        fits = size <= self.left
        self.left -= size if fits else 0
        return fits

    def draw(self, data: dict[str, str | None]) -> bool:
        """Count the shapes of a display; return whether the drawings are within the limit."""
        for kind in ("text/html", "image/svg+xml"):
            self.shapes -= (data.get(kind) or "").count("<")
        return self.shapes >= 0


def clean_outputs(outputs: Any, notebook: OutputRoom | None = None) -> list[dict[str, Any]]:
    """Return the outputs that nbformat allows, rebuilt field by field, up to the limits in size.

    Args:
        notebook: the room for the outputs of all its cells.
    """
    notebook = notebook or OutputRoom()
    kept: list[dict[str, Any]] = []
    outputs = outputs if type(outputs) is list else []
    room, tags = MAX_BYTES, min(MAX_TAGS, notebook.tags)
    for index, output in enumerate(outputs):
        clean = _clean(output)
        if clean is None:
            continue
        # Too large an output is dropped before the slow sanitizing.
        size = _length(clean)
        if size <= min(room, notebook.left):
            if "data" in clean:
                opened = tags_in(clean["data"].get("text/html") or "")
                tags -= opened
                notebook.tags -= opened
                drawn = notebook.draw(clean["data"])
                clean["data"] = _shown(clean["data"], rich=drawn and tags >= 0, drawn=drawn)
            size = max(size, _size(clean))
        room -= size
        if room < 0 or not notebook.take(size):
            megabytes = notebook.most // 1_000_000
            why = _REST_OF_CELL if room < 0 else _REST_OF_NOTEBOOK.format(megabytes=megabytes)
            kept.append({"output_type": "stream", "name": "stdout", "text": why})
            # The last output is kept in short: it may be the error that stopped the cell, or the
            # result of a test cell, which gives its points.
            kept += [short for each in outputs[index:][-1:] if (short := _short_end(each))]
            break
        kept.append(clean)
    return kept


def _clean(output: Any) -> dict[str, Any] | None:
    """Return the output's own fields, texts joined, or None if it is no output."""
    if type(output) is not dict:
        return None
    kind = output.get("output_type")
    if kind == "stream" and output.get("name") in ("stdout", "stderr"):
        if type(output.get("text")) is str:
            text = _coloured(output["text"])
            return {"output_type": kind, "name": output["name"], "text": text}
    elif kind == "error":
        name, value = output.get("ename"), output.get("evalue")
        trace = output.get("traceback")
        if (
            type(name) is type(value) is str
            and type(trace) is list
            and all(type(line) is str for line in trace)
        ):
            trace = _coloured("\n".join(trace)).split("\n")
            return {
                "output_type": kind, "ename": _fit(name), "evalue": _fit(value), "traceback": trace
            }  # fmt: skip
    elif kind in ("display_data", "execute_result"):
        data, metadata = output.get("data"), output.get("metadata")
        if type(data) is dict:
            clean = {
                "output_type": kind, "data": dict(_contents(data)), "metadata": _sizes(metadata)
            }  # fmt: skip
            if kind == "execute_result":
                count = output.get("execution_count")
                clean["execution_count"] = count if type(count) is int and count >= 0 else None
            return clean
    return None


def _fit(text: str) -> str:
    """Return the text without lone surrogates, which no file holds, cut to the limit."""
    text = text[: MAX_BYTES + 1]
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _coloured(text: str) -> str:
    """Return the text, without its colours if they change more often than a page can show."""
    text = _fit(text)
    return text if text.count("\x1b") <= MAX_COLOURS else str(strip_ansi(text))


def _short_end(output: Any) -> dict[str, Any] | None:
    """Return an error or a result, cut to the room; None for anything else."""
    end = _clean(output)
    if end is None:
        return None
    if end["output_type"] == "error":
        trace = "\n".join(end["traceback"])[-_SHORT:].split("\n")
        return end | {"evalue": end["evalue"][:_SHORT], "traceback": trace}
    if end["output_type"] == "execute_result" and end["data"].get("text/plain"):
        return end | {"data": {"text/plain": _coloured(end["data"]["text/plain"][:_SHORT])}}
    return None


def _contents(data: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield each MIME type with its content, texts joined; None if it is no text."""
    for kind, content in list(data.items())[:_MAX_KINDS]:
        if type(content) is list and all(type(piece) is str for piece in content):
            content = "".join(content)
        yield _fit(kind[:100]), _fit(content) if type(content) is str else None


def _sizes(metadata: Any) -> dict[str, Any]:
    """Return the sizes of pictures, the only part of an output's metadata that pages need."""
    found: dict[str, Any] = {}
    for kind in _PICTURES:
        given = metadata.get(kind) if type(metadata) is dict else None
        if type(given) is dict:
            sizes = {name: given.get(name) for name in ("width", "height")}
            found[kind] = {
                name: size
                for name, size in sizes.items()
                if isinstance(size, (int, float)) and 0 < size < 10_000
            }
    return found


def _shown(data: dict[str, str | None], rich: bool, drawn: bool) -> dict[str, Any]:
    """Return the contents that are safe to show; if there are none, a line that says so.

    Args:
        rich: whether HTML may be among them.
        drawn: whether drawings may be.
    """
    shown: dict[str, Any] = {}
    for kind, content in data.items():
        if content is None:
            continue
        if kind in _TEXTS:
            shown[kind] = _coloured(content)
        elif kind in _PICTURES and is_base64(content):
            shown[kind] = content
        elif kind == "text/html" and rich:
            shown[kind] = shown_html(content)
        elif kind == "image/svg+xml" and drawn and (drawing := safe_svg(content)) is not None:
            shown[kind] = drawing
    if not shown:
        kinds = ", ".join(sorted(data))[:200]
        shown["text/plain"] = f"[Not shown on this page: {kinds}]"
    return shown


def is_base64(content: Any) -> bool:
    """Return whether the content is a text in base64."""
    try:
        base64.b64decode(content.encode("ascii").translate(None, _WHITE), validate=True)
    except (AttributeError, UnicodeError, binascii.Error):
        return False
    return True


def _length(value: Any) -> int:
    """Return the number of characters of the texts, without joining them."""
    if isinstance(value, dict):
        return sum(map(_length, value.values()))
    return sum(map(len, value)) if isinstance(value, list) else len(str(value))


def _size(output: dict[str, Any]) -> int:
    """Return the bytes that the output takes in a file or on a page, whichever is more."""
    texts = [*output.get("data", {}).values(), *output.get("traceback", ())]
    texts += [output[name] for name in ("text", "ename", "evalue") if name in output]
    return _EACH + sum(100 + max(len(json.dumps(text)), len(escape(text))) for text in texts)
