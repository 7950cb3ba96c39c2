"""Finds the words for what went wrong: the same in the visible checks and in the feedback."""

from __future__ import annotations

import re
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


def explain(observed: list[list[Observation]], right: list[list[Observation]]) -> str:
    """What is plainly wrong with code whose mistake has no name: one or two sentences, or "".

    Args:
        observed: what the student's code showed on the public probes.
        right: what it should have shown.
    """
    return unfinished(observed) or _explain_error(observed) or _explain_none(observed, right)


def _explain_error(observed: list[list[Observation]]) -> str:
    """The first error that the student's code raised, with the student's own line, if any."""
    error = first_error(observed)
    if error is None:
        return ""
    line = error.get("line")
    text = f"{'Your code' if line else 'Trying your code'} raised {error['error']}"
    text += f": {error['message']}" if error.get("message") else ""
    text += f", in the line `{line}`" if line else ""
    hint = _NONE if "NoneType" in error.get("message", "") else _HINTS.get(error["error"])
    return f"{text.rstrip('.')}." + (f" {hint}" if hint else "")


def _explain_none(observed: list[list[Observation]], right: list[list[Observation]]) -> str:
    """A sentence if what should be something came out as None."""
    missing = any(
        seen is None and good is not None
        for probe, expected in zip(observed, right, strict=True)
        for seen, good in zip(probe, expected, strict=True)
    )
    return f"The result is None: {_WITHOUT_RETURN}" if missing else ""


def explain_cell(kind: str, message: str, traceback: str, source: str) -> str:
    """In words: the cell itself stopped with an error when it was run.

    Args:
        kind: the error's class.
        message: what it says.
        traceback: as IPython writes it.
        source: the cell.
    """
    where = re.search(r"\(\S*,? ?line (\d+)\)$", message) or re.search(
        r"^-+> *(\d+) ", re.sub(r"\x1b\[[\d;]*m", "", traceback), re.MULTILINE
    )
    lines = source.splitlines()
    number = int(where.group(1)) if where else 0
    line = lines[number - 1].strip()[:200] if 0 < number <= len(lines) else ""
    message = re.sub(r" \(\S*,? ?line \d+\)$", "", message)[:300]
    unreadable = kind in _UNREADABLE
    text = CANNOT_READ if unreadable else f"The cell itself stops with {kind[:80]}"
    text += f": {message}" + (f", in the line `{line}`" if line else "")
    rest = "None of it ran." if unreadable else "What comes after that in the cell never ran."
    return f"{text.rstrip('.')}. {rest}"


def other_error(seen: Observation, known: Observation) -> bool:
    """Whether a line of the student's own raised something else than a known mistake would.

    A slip of the pen and a mistake with a name can raise the same kind of error. What they say
    tells them apart; what a `raise` says is up to its author.
    """
    if not (is_error(seen) and is_error(known)) or seen["error"] not in _SLIPS:
        return False
    line = seen.get("line") or "raise"
    if line.startswith(("raise", "assert")) or not known.get("message"):
        return False
    return _without_addresses(seen.get("message", "")) != _without_addresses(known["message"])


def _without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-fA-F]+", "0x", text)


_WITHOUT_RETURN = "a function gives None when it ends without `return`."
_NONE = f"Something here is None: {_WITHOUT_RETURN}"
_UNREADABLE = ("SyntaxError", "IndentationError", "TabError")
CANNOT_READ = "Python cannot read the cell"
_SLIPS = ("NameError", "UnboundLocalError", "TypeError", "AttributeError")
_HINTS = {
    "NameError": "A name is misspelt, or the cell that defines it did not run.",
    "RecursionError": "The function calls itself too deeply; a loop with a list of what is still "
    "to do has no such limit.",
    "UnboundLocalError": "A function that assigns to a name makes it local from its first line.",
}
