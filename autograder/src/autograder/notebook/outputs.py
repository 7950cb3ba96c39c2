"""Rebuilds the outputs of a student's cells from the fields that nbformat allows, sanitizes them,
and limits their size."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from html import escape
from typing import Any

from nbconvert.filters.ansi import strip_ansi

from .sanitizing import MAX_TAGS, framed_html, safe_svg, tags_in

MAX_BYTES = 2_000_000
"""Greatest number of bytes that are kept of one cell's outputs."""

MAX_BYTES_OF_A_NOTEBOOK = 10_000_000
"""Greatest number of bytes that are kept of the outputs of all cells of a notebook."""

MAX_TAGS_OF_A_NOTEBOOK = 40_000
"""Greatest number of HTML tags in the outputs of all cells of a notebook."""

MAX_SHAPES_OF_A_NOTEBOOK = 200_000
"""Greatest number of elements in the HTML and the SVG drawings of all cells of a notebook."""

MAX_COLOURS = 2000
"""Greatest number of ANSI escapes in an output; if there are more, all of them are removed."""

_OVERHEAD = 500
"""Number of bytes that an output takes on a page and in memory, in addition to its text."""

_MAX_KINDS = 20
"""Greatest number of MIME types in one display."""

_REST_OF_CELL = "[The rest of this cell's output was dropped: it is too large.]\n"
_REST_OF_NOTEBOOK = (
    "[The output of this cell was dropped, or its rest: the outputs of this notebook are over "
    "{megabytes} MB together.]\n"
)
_SHORT = 2000
"""Number of characters that are kept of an error or a result that is over the limit."""

_TEXTS = ("text/plain", "text/markdown", "text/latex")
"""MIME types of texts. Pages escape them, and sanitize Markdown when they render it."""

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_WHITE = b" \t\n\r\f\v"


class OutputRoom:
    """The bytes, HTML tags and shapes that are left for the outputs of one notebook."""

    def __init__(self, most: int = MAX_BYTES_OF_A_NOTEBOOK) -> None:
        self.most = self.left = most
        self.tags = MAX_TAGS_OF_A_NOTEBOOK
        self.shapes = MAX_SHAPES_OF_A_NOTEBOOK

    def take(self, size: int) -> bool:
        """Spend `size` bytes if so many are left; return whether they were."""
        fits = size <= self.left
        self.left -= size if fits else 0
        return fits

    def take_shapes(self, data: dict[str, str | None]) -> bool:
        """Spend the shapes of a display; return whether all shapes so far are within the limit.

        Args:
            data: the contents of the display by MIME type.
        """
        for kind in ("text/html", "image/svg+xml"):
            self.shapes -= (data.get(kind) or "").count("<")
        return self.shapes >= 0


def clean_outputs(outputs: Any, notebook: OutputRoom | None = None) -> list[dict[str, Any]]:
    """Return a cell's outputs, rebuilt and sanitized. A note takes the place of outputs that are
    over a limit.

    Args:
        outputs: the untrusted outputs from a student process or a file; if this is not a list,
            there are no outputs.
        notebook: what is left for the whole notebook; the outputs are subtracted from it. By
            default a new one.
    """
    notebook = notebook or OutputRoom()
    kept: list[dict[str, Any]] = []
    outputs = outputs if type(outputs) is list else []
    room, tags = MAX_BYTES, min(MAX_TAGS, notebook.tags)
    for index, output in enumerate(outputs):
        clean = _clean(output)
        if clean is None:
            continue
        # Sanitizing is slow, so an output that is too large in any case is not sanitized.
        size = _length(clean)
        if size <= min(room, notebook.left):
            if "data" in clean:
                opened = tags_in(clean["data"].get("text/html") or "")
                tags -= opened
                notebook.tags -= opened
                drawn = notebook.take_shapes(clean["data"])
                clean["data"] = _sanitized(clean["data"], rich=drawn and tags >= 0, drawn=drawn)
            # Sanitizing and escaping may make an output longer.
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
    """Return the fields of an output that nbformat defines; None if it is not a valid output.

    Types are compared exactly, since the value comes from JSON, and a bool must not count as a
    number.
    """
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
    """Return a text, cut to the limit. Lone surrogates are replaced, since they cannot be
    encoded."""
    # One character more than the limit is kept, so that the text still counts as too large.
    text = text[: MAX_BYTES + 1]
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _coloured(text: str) -> str:
    """Return a text, cut as by `_fit`, and without its ANSI escapes if there are more than a page
    can render."""
    text = _fit(text)
    return text if text.count("\x1b") <= MAX_COLOURS else str(strip_ansi(text))


def _short_end(output: Any) -> dict[str, Any] | None:
    """Return an error or a result, cut to `_SHORT` characters; None for any other output."""
    clean = _clean(output)
    if clean is None:
        return None
    if clean["output_type"] == "error":
        trace = "\n".join(clean["traceback"])[-_SHORT:].split("\n")
        return clean | {"evalue": clean["evalue"][:_SHORT], "traceback": trace}
    if clean["output_type"] == "execute_result" and clean["data"].get("text/plain"):
        return clean | {"data": {"text/plain": _coloured(clean["data"]["text/plain"][:_SHORT])}}
    return None


def _contents(data: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield each MIME type with its content: a text, or None if the content is not a text or a list
    of lines."""
    for kind, content in list(data.items())[:_MAX_KINDS]:
        if type(content) is list and all(type(piece) is str for piece in content):
            content = "".join(content)
        yield _fit(kind[:100]), _fit(content) if type(content) is str else None


def _sizes(metadata: Any) -> dict[str, Any]:
    """Return by MIME type: the valid widths and heights of pictures. Pages need no other
    metadata."""
    kept: dict[str, Any] = {}
    for kind in PICTURES:
        claimed = metadata.get(kind) if type(metadata) is dict else None
        if type(claimed) is dict:
            sizes = {name: claimed.get(name) for name in ("width", "height")}
            kept[kind] = {
                name: size
                for name, size in sizes.items()
                if isinstance(size, (int, float)) and 0 < size < 10_000
            }
    return kept


def _sanitized(data: dict[str, str | None], rich: bool, drawn: bool) -> dict[str, Any]:
    """Return by MIME type: the contents that are safe to show. If there are none, return a text
    that says so.

    Args:
        data: the contents by MIME type; None for a content that is not a text.
        rich: whether HTML is kept.
        drawn: whether SVG drawings are kept.
    """
    shown: dict[str, Any] = {}
    for kind, content in data.items():
        if content is None:
            continue
        if kind in _TEXTS:
            shown[kind] = _coloured(content)
        elif kind in PICTURES and is_base64(content):
            shown[kind] = content
        elif kind == "text/html" and rich:
            shown[kind] = framed_html(content)
        elif kind == "image/svg+xml" and drawn and (drawing := safe_svg(content)) is not None:
            shown[kind] = drawing
    if not shown:
        kinds = ", ".join(sorted(data))[:200]
        shown["text/plain"] = f"[Not shown on this page: {kinds}]"
    return shown


def is_base64(content: Any) -> bool:
    """Return whether a content is a text in base64."""
    try:
        base64.b64decode(content.encode("ascii").translate(None, _WHITE), validate=True)
    except (AttributeError, UnicodeError, binascii.Error):
        return False
    return True


def _length(value: Any) -> int:
    """Return the number of characters of all texts in a JSON value."""
    if isinstance(value, dict):
        return sum(map(_length, value.values()))
    return sum(map(len, value)) if isinstance(value, list) else len(str(value))


def _size(output: dict[str, Any]) -> int:
    """Return the number of bytes that an output takes: as JSON in a file or as HTML on a page,
    whichever is more."""
    texts = [*output.get("data", {}).values(), *output.get("traceback", ())]
    texts += [output[name] for name in ("text", "ename", "evalue") if name in output]
    return _OVERHEAD + sum(100 + max(len(json.dumps(text)), len(escape(text))) for text in texts)
