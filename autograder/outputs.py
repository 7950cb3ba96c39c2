"""Takes in what a student's cell displayed: well-formed nbformat outputs, or nothing."""

from __future__ import annotations

from typing import Any

MAX_BYTES = 2_000_000
"""How much of one cell's outputs is kept."""


def clean_outputs(outputs: Any) -> list[dict[str, Any]]:
    """The outputs that nbformat allows, rebuilt field by field, up to the limit in size."""
    kept: list[dict[str, Any]] = []
    room = MAX_BYTES
    for output in outputs if type(outputs) is list else []:
        clean = _clean(output) if type(output) is dict else None
        if clean is None:
            continue
        room -= _size(clean)
        if room < 0:
            text = "[The rest of this cell's output was dropped: it is too large.]\n"
            kept.append({"output_type": "stream", "name": "stdout", "text": text})
            break
        kept.append(clean)
    return kept


def _clean(output: dict[str, Any]) -> dict[str, Any] | None:
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
        if type(data) is dict and all("/" in key for key in data):
            clean = {"output_type": kind, "data": data, "metadata": {}}
            if type(metadata) is dict:
                clean["metadata"] = metadata
            if kind == "execute_result":
                count = output.get("execution_count")
                clean["execution_count"] = count if type(count) is int else None
            return clean
    return None


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return 20 + sum(_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, list):
        return 20 + sum(map(_size, value))
    return 8
