"""Finds the words for what went wrong: the same in the visible checks and in the feedback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course.probes import Observation

RELATIVE = 1e-9


@dataclass(frozen=True)
class Row:
    """One observed expression: what the student's code gave, and what is right."""

    expression: str
    seen: Observation
    expected: Observation

    @property
    def right(self) -> bool:
        return agree(self.seen, self.expected)


@dataclass(frozen=True)
class Example:
    """A public probe as it went for the student's code."""

    code: str
    rows: list[Row]

    @property
    def fails_alike(self) -> bool:
        """Whether the code itself failed, so that every row tells the same error."""
        first = self.rows[0].seen
        return is_error(first) and all(row.seen == first for row in self.rows)

    def as_text(self) -> str:
        lines = [f"    {line}" for line in self.code.rstrip().splitlines()]
        if self.fails_alike:
            return "\n".join(lines)
        lines += ["", "afterwards:"]
        width = max(len(row.expression) for row in self.rows)
        for row in self.rows:
            seen, expected = describe(row.seen), describe(row.expected)
            verdict = "as expected" if row.right else f"expected {expected}"
            lines.append(f"    {row.expression:<{width}}  is {seen}, {verdict}")
        return "\n".join(lines)


def agree(left: Observation, right: Observation) -> bool:
    """Whether two observations are the same, numbers up to rounding, errors by their kind."""
    if _is_number(left) and _is_number(right):
        return bool(abs(left - right) <= RELATIVE * max(abs(left), abs(right)) + 1e-12)
    if isinstance(left, dict) and isinstance(right, dict):
        key = next(iter(left), None)
        return key is not None and left.get(key) == right.get(key)
    return type(left) is type(right) and bool(left == right)


def agree_all(left: list[list[Observation]], right: list[list[Observation]]) -> bool:
    """Whether the observations of several probes agree one by one."""
    return len(left) == len(right) and all(
        len(a) == len(b) and all(map(agree, a, b)) for a, b in zip(left, right, strict=True)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_error(seen: Observation) -> bool:
    return isinstance(seen, dict) and "error" in seen


def first_error(observed: list[list[Observation]]) -> dict[str, Any] | None:
    """The first error that the student's code raised on the probes, if any."""
    for seen in (item for probe in observed for item in probe):
        if is_error(seen):
            found: dict[str, Any] = seen
            return found
    return None


def unfinished(observed: list[list[Observation]]) -> str | None:
    """A sentence if a stub that was never filled in is what failed."""
    error = first_error(observed)
    if error is None or error["error"] != "NotImplementedError":
        return None
    where = f"`{error['where']}`" if error.get("where") else "the stub"
    return (
        f"Not finished yet: {where} still raises NotImplementedError. "
        "Replace that line with your code and run the cell again."
    )


def describe(seen: Observation) -> str:
    """An observation in words."""
    if isinstance(seen, dict):
        if "error" in seen:
            return f"an error ({seen['error']})"
        if "float" in seen:
            return str(seen["float"])
        return f"an object of type {seen.get('object', 'unknown')}"
    if isinstance(seen, str):
        return f'"{seen}"'
    if isinstance(seen, float):
        return repr(round(seen, 10) + 0.0)
    return str(seen)


def explain_error(observed: list[list[Observation]]) -> str:
    """The first error that the student's code raised, with the student's own line, if any."""
    error = first_error(observed)
    if error is None:
        return ""
    text = f"Your code raised {error['error']}"
    text += f": {error['message']}" if error.get("message") else ""
    text += f", in the line `{error['line']}`" if error.get("line") else ""
    hint = _HINTS.get(error["error"])
    return f"{text.rstrip('.')}." + (f" {hint}" if hint else "")


_HINTS = {
    "NameError": "A name is misspelt, or the cell that defines it did not run.",
    "RecursionError": "The function calls itself too deeply; a loop with a list of what is still "
    "to do has no such limit.",
    "UnboundLocalError": "A function that assigns to a name makes it local from its first line.",
}
