"""Takes in what a student's cell displayed: well-formed nbformat outputs, or nothing."""

from __future__ import annotations

import math
from typing import Any

MAX_BYTES = 2_000_000
"""How much of one cell's outputs is kept."""

_MAX_DEPTH = 20


class _NotAnOutput(Exception):
    pass


def clean_outputs(outputs: Any) -> list[dict[str, Any]]:
    """The outputs that nbformat allows, rebuilt field by field, up to the limit in size."""
    kept: list[dict[str, Any]] = []
    room = MAX_BYTES
    for output in outputs if type(outputs) is list else []:
        try:
            clean = _clean(_plain(output))
        except _NotAnOutput:
            continue
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
        if type(data) is dict and all(map(_is_shown, data, data.values())):
            clean = {"output_type": kind, "data": data, "metadata": {}}
            if type(metadata) is dict:
                clean["metadata"] = metadata
            if kind == "execute_result":
                count = output.get("execution_count")
                clean["execution_count"] = count if type(count) is int and count >= 0 else None
            return clean
    raise _NotAnOutput


def _is_shown(kind: str, content: Any) -> bool:
    """Whether the content is what the MIME type promises: a text, in pieces or not, or JSON."""
    if "/" not in kind:
        return False
    if kind == "application/json" or kind.endswith("+json"):
        return True
    if type(content) is list:
        return all(type(piece) is str for piece in content)
    return type(content) is str


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return 20 + sum(_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, list):
        return 20 + sum(map(_size, value))
    return 8
