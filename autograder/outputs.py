"""Takes in what a student's cell displayed: well-formed nbformat outputs, safe to show."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterator
from typing import Any

from .sanitizing import MAX_TAGS, safe_svg, shown_html, tags_in

MAX_BYTES = 2_000_000
"""How much of one cell's outputs is kept."""

_MAX_DEPTH = 20

_TEXTS = ("text/plain", "text/markdown", "text/latex", "application/json")
"""What pages show as text, or not at all: Markdown is made safe where it is rendered."""

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class _NotAnOutput(Exception):
    pass


def clean_outputs(outputs: Any) -> list[dict[str, Any]]:
    """The outputs that nbformat allows, rebuilt field by field, up to the limit in size."""
    kept: list[dict[str, Any]] = []
    room, tags = MAX_BYTES, MAX_TAGS
    for output in outputs if type(outputs) is list else []:
        try:
            clean = _clean(_plain(output))
        except _NotAnOutput:
            continue
        if "data" in clean:
            tags -= tags_in(clean["data"].get("text/html", ""))
            clean["data"] = _shown(clean["data"], rich=tags >= 0)
        room -= _size(clean)
        if room < 0:
            text = "[The rest of this cell's output was dropped: it is too large.]\n"
            kept.append({"output_type": "stream", "name": "stdout", "text": text})
            break
        kept.append(clean)
    return kept


def _plain(value: Any, depth: int = 0) -> Any:
    """JSON that can be written to a file: nested within reason, numbers finite, texts encodable."""
    if value is None or type(value) is bool:
        return value
    if type(value) is int and value.bit_length() <= 64:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is str:
        return value.encode("utf-8", "replace").decode()
    if type(value) is list and depth < _MAX_DEPTH:
        return [_plain(item, depth + 1) for item in value]
    if type(value) is dict and depth < _MAX_DEPTH:
        return {_plain(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    raise _NotAnOutput


def _clean(output: Any) -> dict[str, Any]:
    if type(output) is not dict:
        raise _NotAnOutput
    kind = output.get("output_type")
    if kind == "stream" and output.get("name") in ("stdout", "stderr"):
        if type(output.get("text")) is str:
            return {"output_type": kind, "name": output["name"], "text": output["text"]}
    elif kind == "error":
        texts = [output.get("ename"), output.get("evalue")]
        trace = output.get("traceback")
        if type(trace) is list and all(type(text) is str for text in [*texts, *trace]):
            return {
                "output_type": kind, "ename": texts[0], "evalue": texts[1], "traceback": trace,
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
    raise _NotAnOutput


def _contents(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each MIME type with its content, texts joined, if it is what the type promises."""
    for kind, content in data.items():
        if type(content) is list and all(type(piece) is str for piece in content):
            content = "".join(content)
        if type(content) is str or kind == "application/json":
            yield kind, content


def _sizes(metadata: Any) -> dict[str, Any]:
    """The sizes of pictures, which is all that pages need of an output's metadata."""
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


def _shown(data: dict[str, Any], rich: bool) -> dict[str, Any]:
    """The contents that can be shown safely; where there is none, a line that says so.

    Args:
        rich: whether HTML may be among them.
    """
    shown: dict[str, Any] = {}
    for kind, content in data.items():
        if isinstance(content, str) and len(content) > MAX_BYTES:
            continue
        if kind in _TEXTS or (kind in _PICTURES and is_base64(content)):
            shown[kind] = content
        elif kind == "text/html" and rich:
            shown[kind] = shown_html(content)
        elif kind == "image/svg+xml" and (drawing := safe_svg(content)) is not None:
            shown[kind] = drawing
    if not shown:
        kinds = ", ".join(sorted(data))[:200]
        shown["text/plain"] = f"[Not shown on this page: {kinds}]"
    return shown


def is_base64(content: Any) -> bool:
    """Whether the content is a text that stands for bytes."""
    try:
        base64.b64decode("".join(content.split()), validate=True)
    except (AttributeError, TypeError, binascii.Error, ValueError):
        return False
    return True


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return 20 + sum(_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, list):
        return 20 + sum(map(_size, value))
    return 8
