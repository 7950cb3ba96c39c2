"""Finds the message for a failure: the same in the visible checks and in the feedback."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coursecheck.probes import COLLECTIONS, Observation, Probe

Hints = Sequence[Sequence[str]]
"""Pairs of a pattern and a sentence for errors that match it; the first match counts."""

RELATIVE = 1e-9
_PLACE = 300
"""Characters at the end of an error's message that may hold its place."""


@dataclass(frozen=True)
class Row:
    """One observed expression: the student's result and the right one."""

    expression: str
    seen: Observation
    expected: Observation

    @property
    def right(self) -> bool:
        return agree(self.seen, self.expected)


@dataclass(frozen=True)
class Example:
    """A public probe with the student's results."""

    code: str
    rows: list[Row]

    @property
    def fails_alike(self) -> bool:
        """True if the code itself failed, so that every row shows the same error."""
        first = self.rows[0].seen
        return is_error(first) and all(row.seen == first for row in self.rows)

    @property
    def shown(self) -> str:
        """The code without imports of names that it does not use."""

        def is_used(line: str) -> bool:
            found = re.match(r"from [\w.]+ import (\w+)\b(?! *,| +as )", line)
            return not found or len(re.findall(rf"\b{found[1]}\b", self.code)) > 1

        return "\n".join(filter(is_used, self.code.splitlines())).strip()

    def as_text(self) -> str:
        lines = [f"    {line}" for line in self.shown.splitlines()]
        if self.fails_alike:
            return "\n".join(lines)
        lines += ["", "afterwards:"]
        width = max(len(row.expression) for row in self.rows)
        for row in self.rows:
            seen, expected = describe(row.seen), describe(row.expected)
            verdict = "as expected" if row.right else f"expected {expected}"
            lines.append(f"    {row.expression:<{width}}  is {seen}, {verdict}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Finding:
    """A fault in words, and a public example if there is one.

    Attributes:
        stopped: whether the student stopped the check, so that no more is tried.
        only_extra: whether all is right but the part of the exercise that is extra.
    """

    says: str
    example: Example | None = None
    stopped: bool = False
    only_extra: bool = False

    def as_text(self) -> str:
        return self.says + (f"\n\n{self.example.as_text()}" if self.example else "")


def agree(left: Observation, right: Observation) -> bool:
    """Return whether two observations are the same, numbers up to rounding, errors by their kind,
    and collections item by item."""
    if _is_number(left) and _is_number(right):
        return bool(abs(left - right) <= RELATIVE * max(abs(left), abs(right)) + 1e-12)
    if isinstance(left, dict) and isinstance(right, dict):
        key = next(iter(left), None)
        return key in right and agree(left[key], right[key])
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(agree, left, right))
    return type(left) is type(right) and bool(left == right)


def agree_all(left: list[list[Observation]], right: list[list[Observation]]) -> bool:
    """Return whether the observations of several probes agree one by one."""
    return len(left) == len(right) and all(
        len(a) == len(b) and all(map(agree, a, b)) for a, b in zip(left, right, strict=True)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_error(seen: Observation) -> bool:
    return isinstance(seen, dict) and "error" in seen


def error_name(error: dict[str, Any]) -> str:
    """Return the name of an error's class, which may be the student's own."""
    return str(error.get("class", error["error"]))


def is_stub(seen: Observation) -> bool:
    """Return whether the failed code is a stub that was never filled in."""
    return is_error(seen) and seen["error"] == error_name(seen) == "NotImplementedError"


def first_error(observed: list[list[Observation]]) -> dict[str, Any] | None:
    """Return the first error that the student's code raised on the probes, if any."""
    for seen in (item for probe in observed for item in probe):
        if is_error(seen):
            found: dict[str, Any] = seen
            return found
    return None


def unfinished(observed: list[list[Observation]]) -> str | None:
    """Return a sentence if the failed code is a stub that was never filled in."""
    error = first_error(observed)
    if error is None or not is_stub(error):
        return None
    where = f"`{error['where']}`" if error.get("where") else "the stub"
    return (
        f"Not finished yet: {where} still raises NotImplementedError. "
        "Replace that line with your code and run the cell again."
    )


def unfinished_later(observed: list[list[Observation]]) -> str | None:
    """Return the sentence of `unfinished` if a stub was met at all, behind other errors too."""
    return unfinished([[item for item in probe if is_stub(item)] for probe in observed])


def interrupted(error: dict[str, Any]) -> str:
    """Return a sentence or two for code that was still running when the student stopped it."""
    where = f" It was at the line `{error['line']}`." if error.get("line") else ""
    return (
        f"You stopped this check while your code was still running.{where} Either a loop never "
        "comes to its end, or the same work is done over and over."
    )


def describe(seen: Observation) -> str:
    """Return an observation in words."""
    if isinstance(seen, dict):
        if "error" in seen:
            return f"an error ({error_name(seen)})"
        if "float" in seen:
            return str(seen["float"])
        if "another" in seen:
            return f"another {seen['another']}"
        kind, inside = next(iter(seen.items()), ("", None))
        if kind == "bytes":
            return str(inside)
        if kind == "more":
            return f"… {inside} more"
        if kind in COLLECTIONS and isinstance(inside, list):
            return _describe_items(kind, inside)
        return f"an object of type {seen.get('object', 'unknown')}"
    if isinstance(seen, str):
        return f'"{seen}"'
    if isinstance(seen, float):
        return repr(round(seen, 10) + 0.0)
    return str(seen)


def _describe_items(kind: str, items: list[Any]) -> str:
    """Return a collection as Python writes it."""
    parts = [
        ": ".join(map(describe, item)) if isinstance(item, list) else describe(item)
        for item in items
    ]
    text = ", ".join(parts) + ("," if kind == "tuple" and len(parts) == 1 else "")
    if kind in ("list", "tuple"):
        return f"[{text}]" if kind == "list" else f"({text})"
    return "set()" if kind == "set" and not parts else f"{{{text}}}"


def explain(probes: Sequence[Probe], observed: list[list[Observation]], hints: Hints = ()) -> str:
    """Return one or two sentences on code whose mistake has no name, or "".

    Args:
        probes: the public probes, with the right results.
        observed: the student's results on them.
        hints: the course's own, which come before those of any course.
    """
    wrong = only_wrong(probes, observed)
    # If no line of the student's own failed, an error may only follow from a wrong result.
    error = first_error(wrong)
    says = "" if error and error.get("line") else _explain_kind(probes, observed)
    says = unfinished(wrong) or says
    return says or ("" if error_comes_later(probes, observed) else explain_error(wrong, hints))


def only_wrong(
    probes: Sequence[Probe], observed: list[list[Observation]]
) -> list[list[Observation]]:
    """Return the observations that differ from the right ones: an error may be right."""
    return [
        [seen for seen, good in zip(shown, probe["right"], strict=True) if not agree(seen, good)]
        for probe, shown in zip(probes, observed, strict=True)
    ]


def error_comes_later(probes: Sequence[Probe], observed: list[list[Observation]]) -> bool:
    """Return whether a wrong number, text or truth value comes before any error."""
    for probe, shown in zip(probes, observed, strict=True):
        for seen, good in zip(shown, probe["right"], strict=True):
            if not agree(seen, good):
                return isinstance(seen, (int, float, str))
    return False


def _explain_kind(probes: Sequence[Probe], observed: list[list[Observation]]) -> str:
    """Return a sentence if the first wrong result is not even of the right kind."""
    for probe, shown in zip(probes, observed, strict=True):
        for name, seen, good in zip(probe["observe"], shown, probe["right"], strict=True):
            if agree(seen, good):
                continue
            if seen is None:
                is_result = name.isidentifier() or name.endswith(")")
                return f"`{name}` is None" + (f": {_WITHOUT_RETURN}" if is_result else ".")
            is_other = isinstance(seen, dict) and seen.get("another") != "number"
            kind = "True or False" if isinstance(good, bool) else "a number"
            if is_other and not is_error(seen) and (isinstance(good, bool) or _is_number(good)):
                return f"`{name}` is {describe(seen)}, where {kind} is expected."
            return ""
    return ""


def explain_error(observed: list[list[Observation]], hints: Hints) -> str:
    """Return a sentence on the first error of the student's code, with the student's own line, if
    any."""
    error = first_error(observed)
    if error is None or is_stub(error):
        return unfinished(observed) or ""
    line, message = error.get("line"), error.get("message", "")
    if not line and not message:
        return ""  # The kind alone explains nothing.
    text = f"{'Your code' if line else 'Trying your code'} raised {error_name(error)}"
    text += f": {message}" if message else ""
    text += f", in the line `{line}`" if line else ""
    if not line and re.search("NoneType|__round__|index out of range", message):
        text = ""  # an error of the check's own does not matter
    hint = _hint(error["error"], message, line or error.get("where", ""), hints)
    return " ".join(filter(None, [text and f"{text.rstrip('.')}.", hint]))


def _hint(kind: str, message: str, own: str, hints: Hints) -> str:
    """Return the sentence for an error in a line or function of the student's own; "" if none."""
    known = f"{kind}: {message}\n{own}"
    return next((hint for pattern, hint in [*hints, *_HINTS] if re.search(pattern, known)), "")


def explain_cell(kind: str, message: str, traceback: str, source: str, hints: Hints = ()) -> str:
    """Return a sentence or two: the cell itself stopped with an error when it was run.

    Args:
        traceback: as IPython writes it.
    """
    # The line's number stands at the end of the message. The rest, which student code can choose,
    # may be long, so it is not searched.
    message, end = message[:-_PLACE], message[-_PLACE:]
    where = re.search(r"\(\S*,? ?line (\d{1,9})\)$", end) or re.search(
        r"^-+> *(\d{1,9}) ", re.sub(r"\x1b\[[\d;]*m", "", traceback), re.MULTILINE
    )
    lines = source.splitlines()
    number = int(where.group(1)) if where else 0
    line = lines[number - 1].strip()[:200] if 0 < number <= len(lines) else ""
    message = (message + re.sub(r" \(\S*,? ?line \d+\)$", "", end))[:300]
    unreadable = kind in _UNREADABLE
    text = CANNOT_READ if unreadable else f"The cell itself stops with {kind[:80]}"
    text += f": {message}" * bool(message) + f", in the line `{line}`" * bool(line)
    hint = "" if unreadable else _hint(kind[:80], message, line, hints)
    if line == "raise NotImplementedError()":
        text = "Not finished yet: the cell stops at `raise NotImplementedError()`. Delete that line"
    rest = "None of it ran." if unreadable else "What comes after that in the cell never ran."
    return f"{text.rstrip('.')}. {rest} {hint}".rstrip()


def other_error(seen: Observation, known: Observation) -> bool:
    """Return whether a line of the student's own raised another error than a known mistake would.

    A slip of the pen and a mistake with a name can raise the same kind of error. Their subjects
    distinguish them, if known; the message of a `raise` is its author's choice, and has none.
    """
    if not (is_error(seen) and is_error(known)) or "message" not in seen:
        return False
    if "about" not in seen:
        return bool(known.get("about"))
    if seen["error"] != known["error"]:
        return True
    return bool(seen["about"] and known.get("about") and seen["about"] != known["about"])


_WITHOUT_RETURN = (
    "a function gives None when it ends without `return`; so do `print`, `append` and their like."
)
_UNREADABLE = ("SyntaxError", "IndentationError", "TabError")
CANNOT_READ = "Python cannot read the cell"
_IN_PLACE = "append|extend|insert|add|update|remove|reverse|sort"
_BUILT_IN = r"(?:dict|list|tuple|set|str|bool|int|float|function|method|generator)'"
# The first pattern that matches has the hint. It is searched in "kind: message" and, below that,
# the student's own line or else function; "" if the error came from outside their code.
_HINTS = [
    (
        # Without a keyboard Python raises the one, and a notebook's kernel the other.
        "^EOFError: EOF when reading a line|^(Stdin)?NotImplementedError: raw_input was called",
        "`input()` waits for somebody to type, and nobody is there when code is graded: "
        "write the value into the code, or make it an argument of a function.",
    ),
    (
        "'NoneType' object is not callable",
        "What is called here is None: a function ended without `return`, or was called itself, "
        "with parentheses, where its name alone belongs.",
    ),
    (
        rf"NoneType' object has no attribute '({_IN_PLACE})'"
        rf"|(?s:NoneType' object is not .*able.*\n.*\.({_IN_PLACE})\()",
        "What changes a list or a set in place, such as `reverse` or `append`, gives None.",
    ),
    (
        "'NoneType' object cannot be interpreted as an integer",
        "A number is wanted here, and this is None: is it an argument that was left out?",
    ),
    (
        r"NoneType.*\n.",
        f"Something here is None: {_WITHOUT_RETURN} An argument that was left out may be None too.",
    ),
    ("NoneType", f"Something here is None: {_WITHOUT_RETURN}"),
    (
        "type (str|function|method|list|tuple|dict) doesn't define __round__",
        "Where a number is expected, something else came back, such as a text, a list or a "
        "function.",
    ),
    ("^NameError: .*free variable", "The name is used before anything was assigned to it."),
    (
        r"^NameError: .*\n$",
        "The cell that defines it did not run, or spells it in another way.",
    ),
    (
        "^NameError",
        "The name is misspelt, `self.` is missing in front of it, or the cell that defines it did "
        "not run.",
    ),
    (
        "^UnboundLocalError",
        "A function that assigns to a name makes it local from its first line, and on the way here "
        "nothing was assigned to it: does a branch leave it out? If an attribute is meant, say "
        "whose: `self.name`.",
    ),
    (
        r"'\w*Error' object",
        "An error that is returned is a result like any other. Let it out with `raise`.",
    ),
    (
        "'dict' object has no attribute 'add'",
        "Empty braces, `{}`, make a dictionary; an empty set is `set()`.",
    ),
    (
        rf"^AttributeError: '(?!{_BUILT_IN})\w+' object has no attribute",
        "The name is misspelt, or nothing has put it there yet. Did the cell run in which it is "
        "stored on the object, with `self.` in front of its name, or attached to the class?",
    ),
    (r"for \^:", "In Python `^` is not a power; that is `**`."),
    (
        r"float\(\) argument must be .*, not '(list|tuple)'",
        "A list stands where a single number is expected.",
    ),
    (
        "'set' object is not subscriptable",
        "A set has no order and no places: where one counts, use a list.",
    ),
    ("'int' object is not iterable", "To do something n times, loop over `range(n)`."),
    (
        "'(function|method)' object has no attribute|operand type.*'(function|method)'",
        "A function stands where its result is expected: call it, with parentheses.",
    ),
    ("ellipsis'", "Three dots stand where something is still to be filled in."),
    (
        "'(int|float)' object is not callable",
        "Parentheses after a number call it, as if it were a function. A product needs its `*`.",
    ),
    (
        "changed size during iteration",
        "A loop cannot go through what grows or shrinks meanwhile: let it go through a copy, or "
        "keep a list of what is still to do.",
    ),
    (
        rf"'(?!{_BUILT_IN})\w+' object is not callable",
        "Parentheses after an object need a method `__call__`, with two underscores on each side. "
        "Or does the name of a function, by now, stand for something else, as after `f = f(x)`?",
    ),
    (r"takes no arguments\n", "Is `__init__` there, with two underscores on each side?"),
    (
        "^RecursionError",
        "A function calls itself too often, by its name or through an operator. Does it ever come "
        "to an end? If it does, a loop with a list of what is still to do has no such limit.",
    ),
]
