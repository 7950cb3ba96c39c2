"""Finds the message for a failure; the visible checks and the feedback both use it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coursecheck.examples import COLLECTIONS, Observation
from coursecheck.tables import SolvedExample

Hints = Sequence[Sequence[str]]
"""Pairs of a regular expression and the sentence for errors that match it; the first match
counts."""

RELATIVE = 1e-9
MOST_ROWS = 4
_SHORT = 80
"""Greatest length of an expression and its two results in a sentence."""

_DIGITS = 5
"""Number of significant digits that are shown where they tell two results apart."""

_PLACE = 300
"""Length of the end of an error's message in which the line number is searched."""


@dataclass(frozen=True)
class Row:
    """One observed expression, with the student's result and the right one."""

    expression: str
    seen: Observation
    expected: Observation

    @property
    def right(self) -> bool:
        return agree(self.seen, self.expected)

    @property
    def texts(self) -> tuple[str, str]:
        """Both results as text, with all their digits only where they are alike without."""
        short = describe(self.seen, _DIGITS), describe(self.expected, _DIGITS)
        if self.right or short[0] != short[1]:
            return short
        return describe(self.seen), describe(self.expected)


@dataclass(frozen=True)
class FailedExample:
    """A public example that came out wrong: the example's code, and the results as rows."""

    code: str
    rows: list[Row]

    @property
    def fails_alike(self) -> bool:
        """True if the example's code itself raised an error, so that every row shows this error."""
        first = self.rows[0].seen
        return is_error(first) and all(row.seen == first for row in self.rows)

    @property
    def shown_rows(self) -> list[Row]:
        """The rows that are shown: the wrong ones first, and no more than `MOST_ROWS`."""
        return sorted(self.rows, key=lambda row: row.right)[:MOST_ROWS]

    @property
    def says(self) -> str:
        """A sentence on the first wrong result that is short."""
        for row in self.shown_rows:
            seen, expected = row.texts
            if not row.right and len(row.expression + seen + expected) <= _SHORT:
                verb = "raises" if is_error(row.seen) else "is"
                return f"Your code says `{row.expression}` {verb} {seen}. It should be {expected}."
        return "This example comes out wrong."

    @property
    def shown(self) -> str:
        """The example's code without unused imports, as it is shown."""

        def is_used(line: str) -> bool:
            imported = re.match(r"from [\w.]+ import (\w+)\b(?! *,| +as )", line)
            return not imported or len(re.findall(rf"\b{imported[1]}\b", self.code)) > 1

        return "\n".join(filter(is_used, self.code.splitlines())).strip()

    def as_text(self) -> str:
        lines = [f"    {line}" for line in self.shown.splitlines()]
        if self.fails_alike:
            return "\n".join(lines)
        lines += ["", "afterwards:"] if lines else []
        width = max(len(row.expression) for row in self.shown_rows)
        for row in self.shown_rows:
            seen, expected = row.texts
            verdict = "as expected" if row.right else f"expected {expected}"
            lines.append(f"    {row.expression:<{width}}  is {seen}, {verdict}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Finding:
    """A mistake that a check found: a message, and the public example that shows it, if any.

    Attributes:
        says: the message.
        stopped: whether the student interrupted the check, which ends `Checks.all`.
        only_extra: whether the core of the exercise is right, and its extra part is not.
    """

    says: str
    failed_example: FailedExample | None = None
    stopped: bool = False
    only_extra: bool = False

    def as_text(self) -> str:
        return self.says + (f"\n\n{self.failed_example.as_text()}" if self.failed_example else "")


def agree(left: Observation, right: Observation) -> bool:
    """Return whether two observations agree: numbers up to rounding, errors if their nearest
    built-in class is the same."""
    if _is_number(left) and _is_number(right):
        return bool(abs(left - right) <= RELATIVE * max(abs(left), abs(right)) + 1e-12)
    if isinstance(left, dict) and isinstance(right, dict):
        key = next(iter(left), None)
        return key in right and agree(left[key], right[key])
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(agree, left, right))
    return type(left) is type(right) and bool(left == right)


def agree_all(left: list[list[Observation]], right: list[list[Observation]]) -> bool:
    """Return whether the observations of several examples all agree, each with its counterpart."""
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
    """Return whether an observation is a stub's NotImplementedError."""
    return is_error(seen) and seen["error"] == error_name(seen) == "NotImplementedError"


def first_error(observed: list[list[Observation]]) -> dict[str, Any] | None:
    """Return the first error that the student's code raised on the examples, if any."""
    for seen in (item for example in observed for item in example):
        if is_error(seen):
            found: dict[str, Any] = seen
            return found
    return None


def unfinished(observed: list[list[Observation]]) -> str | None:
    """Return a sentence if the first error comes from a stub that was not filled in; else None.

    Args:
        observed: the student's results, a list for each example.
    """
    error = first_error(observed)
    if error is None or not is_stub(error):
        return None
    where = f"`{error['where']}`" if error.get("where") else "the stub"
    return (
        f"Not finished yet: {where} still raises NotImplementedError. "
        "Write your code in place of that line, or delete it if your code is there already."
    )


def unfinished_later(observed: list[list[Observation]]) -> str | None:
    """Return the sentence of `unfinished` if any error comes from a stub; else None."""
    return unfinished([[item for item in example if is_stub(item)] for example in observed])


def interrupted(error: dict[str, Any]) -> str:
    """Return a message for code that the student has interrupted."""
    where = f" It was at the line `{error['line']}`." if error.get("line") else ""
    return (
        f"You stopped this check while your code was still running.{where} Either a loop never "
        "comes to its end, or the same work is done over and over."
    )


def describe(seen: Observation, digits: int = 0) -> str:
    """Return an observation as text for the student.

    Args:
        digits: number of significant digits of a number with a fraction; 0 for ten decimals.
    """
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
            return _describe_items(kind, inside, digits)
        name = str(seen.get("object", "object"))
        return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"
    if isinstance(seen, str):
        return f'"{seen}"'
    if isinstance(seen, float):
        size = math.floor(math.log10(abs(seen))) + 1 if digits and seen else 0
        return repr(round(seen, max(digits - size, 1) if digits else 10) + 0.0)
    return str(seen)


def _describe_items(kind: str, items: list[Any], digits: int) -> str:
    """Return a collection in Python's notation."""
    parts = [
        ": ".join(describe(part, digits) for part in (item if isinstance(item, list) else [item]))
        for item in items
    ]
    text = ", ".join(parts) + ("," if kind == "tuple" and len(parts) == 1 else "")
    if kind in ("list", "tuple"):
        return f"[{text}]" if kind == "list" else f"({text})"
    return "set()" if kind == "set" and not parts else f"{{{text}}}"


def explain(
    examples: Sequence[SolvedExample], observed: list[list[Observation]], hints: Hints = ()
) -> str:
    """Return a message on code that fits no known mistake; "" if nothing can be said.

    Args:
        examples: the public examples, with the right results.
        observed: the student's results, a list for each example.
        hints: the course's own hints, which are tried before the general ones.
    """
    wrong = only_wrong(examples, observed)
    # An error without a line of the student's was raised by the example's code, perhaps since a
    # result has the wrong type. Then a sentence on the type explains more than the error.
    error = first_error(wrong)
    says = "" if error and error.get("line") else _explain_kind(examples, observed)
    says = unfinished(wrong) or f"{says} {says and hint_on(says, hints)}".rstrip()
    return says or ("" if error_comes_later(examples, observed) else explain_error(wrong, hints))


def only_wrong(
    examples: Sequence[SolvedExample], observed: list[list[Observation]]
) -> list[list[Observation]]:
    """Return the observations that differ from the right ones, a list for each example.

    An error that the solution raises as well is right, and left out.
    """
    return [
        [seen for seen, good in zip(shown, example["right"], strict=True) if not agree(seen, good)]
        for example, shown in zip(examples, observed, strict=True)
    ]


def error_comes_later(examples: Sequence[SolvedExample], observed: list[list[Observation]]) -> bool:
    """Return whether the first wrong observation is a number, text or bool, so that any error
    comes after it."""
    for example, shown in zip(examples, observed, strict=True):
        for seen, good in zip(shown, example["right"], strict=True):
            if not agree(seen, good):
                return isinstance(seen, (int, float, str))
    return False


def _explain_kind(examples: Sequence[SolvedExample], observed: list[list[Observation]]) -> str:
    """Return a sentence if the first wrong result is of the wrong type; else ""."""
    for example, shown in zip(examples, observed, strict=True):
        for name, seen, good in zip(example["observe"], shown, example["right"], strict=True):
            if agree(seen, good):
                continue
            if seen is None:
                if name.endswith(")"):
                    return "Your function returned None. `print` shows a value, `return` gives it."
                return f"`{name}` is None. {_WITHOUT_RETURN * name.isidentifier()}".rstrip()
            if is_error(seen) and "NoneType" in seen.get("message", "") and _is_error_name(good):
                return f"Your code goes on, and gives None, where it should raise `{good}`."
            is_other = isinstance(seen, dict) and seen.get("another") != "number"
            kind = "True or False" if isinstance(good, bool) else "a number"
            if is_other and not is_error(seen) and (isinstance(good, bool) or _is_number(good)):
                return f"`{name}` is {describe(seen)}, where {kind} is expected."
            return ""
    return ""


def _is_error_name(good: Observation) -> bool:
    return isinstance(good, str) and good.endswith("Error")


def explain_error(observed: list[list[Observation]], hints: Hints) -> str:
    """Return a message on the first error, with the student's line if known, and a hint; "" if
    there is no error or nothing can be said."""
    error = first_error(observed)
    if error is None or is_stub(error):
        return unfinished(observed) or ""
    line, (message, _, remedy) = error.get("line"), error.get("message", "").partition("\n")
    if not line and not message:
        return ""  # The error's class without a message explains nothing.
    text = f"{'Your code' if line else 'Trying your code'} raised {error_name(error)}"
    text += f": {message}" if message else ""
    text += f", in the line `{line}`" if line else ""
    if message.startswith("Inside `"):
        text = message  # says already where a function calls itself
    if not line and re.search("NoneType|__round__|index out of range", message):
        text = ""  # The example's own code raised the error, whose message would mislead.
    hint = remedy or _hint(error["error"], message, line or error.get("where", ""), hints)
    return " ".join(filter(None, [text and f"{text.rstrip('.')}.", hint]))


def _hint(kind: str, message: str, own: str, hints: Hints) -> str:
    """Return the hint for an error; "" if there is none.

    Args:
        kind: the name of the error's class.
        own: the student's line, or else the name of the student's function; "" if the error is not
            from the student's code.
    """
    return hint_on(f"{kind}: {message}\n{own}", hints)


def hint_on(text: str, hints: Hints) -> str:
    """Return the first hint whose pattern is found in the text; "" if there is none."""
    return next((hint for pattern, hint in [*hints, *_HINTS] if re.search(pattern, text)), "")


def explain_cell(kind: str, message: str, traceback: str, source: str, hints: Hints = ()) -> str:
    """Return a message on a cell that stopped with an error when it was run.

    Args:
        kind: the name of the error's class.
        message: the error's message.
        traceback: the traceback that IPython printed, which may hold ANSI escapes.
        source: the cell's code.
    """
    line = line_of_error(message, traceback, source)
    end = message[-_PLACE:]
    message = (message[:-_PLACE] + re.sub(r" \(\S*,? ?line \d+\)$", "", end))[:300]
    unreadable = kind in _UNREADABLE
    text = CANNOT_READ if unreadable else f"The cell itself stops with {kind[:80]}"
    text += f": {message}" * bool(message) + f", in the line `{line}`" * bool(line)
    hint = "" if unreadable else _hint(kind[:80], message, line, hints)
    if line == "raise NotImplementedError()":
        text = "Not finished yet: the cell stops at `raise NotImplementedError()`. Delete that line"
    rest = "None of it ran." if unreadable else "What comes after that in the cell never ran."
    return f"{text.rstrip('.')}. {rest} {hint}".rstrip()


def line_of_error(message: str, traceback: str, source: str) -> str:
    """Return the line of a cell in which an error arose; "" if that is not known.

    The arguments are those of `explain_cell`.
    """
    # A syntax error's line number is at the end of the message. Only the end is searched, since
    # student code can make the message very long.
    where = re.search(r"\(\S*,? ?line (\d{1,9})\)$", message[-_PLACE:]) or re.search(
        r"^-+> *(\d{1,9}) ", re.sub(r"\x1b\[[\d;]*m", "", traceback), re.MULTILINE
    )
    lines = source.splitlines()
    number = int(where.group(1)) if where else 0
    return lines[number - 1].strip()[:200] if 0 < number <= len(lines) else ""


def other_error(seen: Observation, known: Observation) -> bool:
    """Return whether the student's code raised another error than the code of a known mistake.

    A typo and a known mistake can raise the same class of error; then the subjects of the errors
    are compared. An error from a `raise` statement has no subject, since its message is free text.

    Args:
        seen: the observation of the student's code.
        known: the observation of the known mistake.
    """
    if not (is_error(seen) and is_error(known)) or "message" not in seen:
        return False
    if "about" not in seen:
        return bool(known.get("about"))
    if seen["error"] != known["error"]:
        return True
    return bool(seen["about"] and known.get("about") and seen["about"] != known["about"])


_WITHOUT_RETURN = "`print`, `append` and `reverse` give None; `return` gives a result back."
_UNREADABLE = ("SyntaxError", "IndentationError", "TabError")
CANNOT_READ = "Python cannot read the cell"
_IN_PLACE = "append|extend|insert|add|update|remove|reverse|sort"
_BUILT_IN = r"(?:dict|list|tuple|set|str|bool|int|float|function|method|generator)'"
# Pairs of pattern and hint; the first match counts. The pattern is searched in the text
# "class: message\nline". The line is the student's own, or else the name of the student's function;
# it is empty if the error does not come from the student's code.
_HINTS = [
    (
        # Where nobody can type, Python raises the EOFError, a notebook's kernel the other error.
        "^EOFError: EOF when reading a line|^(Stdin)?NotImplementedError: raw_input was called",
        "`input()` waits for somebody to type, and nobody is there when code is graded: "
        "write the value into the code, or make it an argument of a function.",
    ),
    (
        r"object is not callable\n(\w+) = \1\(",
        "This line gives its result the name of the function that it calls, so the next call "
        "fails: choose another name.",
    ),
    (
        r"'NoneType' object is not callable\n.",
        "What is called here is None. Was a function called, with parentheses, where its name "
        "alone belongs?",
    ),
    (
        rf"NoneType' object has no attribute '({_IN_PLACE})'"
        rf"|(?s:NoneType' object is not .*able.*\n.*\.({_IN_PLACE})\()",
        "`append`, `reverse`, `sort` and the like change a list or a set in place and give None.",
    ),
    (
        "'NoneType' object cannot be interpreted as an integer",
        "A number is wanted here, and this is None: is it an argument that was left out?",
    ),
    (r"NoneType.*\n$", f"Your code gave None where a result is needed. {_WITHOUT_RETURN}"),
    ("NoneType", f"Something here is None. {_WITHOUT_RETURN}"),
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
        "The name is misspelt, or the cell that defines it did not run.",
    ),
    (
        "^UnboundLocalError",
        "A function that assigns to a name makes it its own, and on the way here nothing was "
        "assigned to it. If an attribute is meant, say whose: `self.name`.",
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
        "No line that ran has put it there. Is it stored, as in `self.name = …`, or attached, and "
        "spelt the same?",
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
    (
        "can't multiply sequence by non-int of type '(list|tuple)'",
        "Python has no product of two lists: go through both with `zip`, one product at a time.",
    ),
    (
        r"for \+: '(int|float)' and 'list'|can only concatenate list",
        "Only a list can be joined to a list: a single item needs brackets, `[n]`.",
    ),
    (
        r"for [-+/]: 'list' and '(list|int|float)'",
        "Python does not calculate with whole lists: go through them, one number at a time.",
    ),
    (
        "'(list|tuple)' object is not callable",
        "Parentheses after a list or tuple call it. One of its items is `[0]`. Or does a list "
        "stand inside a list, as in `[parts]`?",
    ),
    (
        "'(function|method|builtin_function_or_method)' object is not iterable",
        "A function itself stands where a list is expected: somewhere its name is given or "
        "returned without a call.",
    ),
    (
        r"isinstance\(\) arg 2 must be a type",
        "`isinstance` takes the object first and the class second.",
    ),
    (
        r"(descriptor '\w+' for|type object) '(set|list|dict|tuple)'|argument of type 'type'",
        "The class itself stands where one of its objects is meant: `set()` makes one.",
    ),
    (
        r"missing \d+ required positional argument",
        "The call gives too little: say between the parentheses what it works on.",
    ),
    (
        "list indices must be integers or slices",
        "A loop such as `for item in items` gives the items themselves, and not their places: use "
        "the item, or loop over `range(len(items))`.",
    ),
    (
        r"^IndexError: (list|tuple) index out of range\n.",
        "Places are counted from 0, so the last one is the length minus 1.",
    ),
    (
        r"^ZeroDivisionError: .*\n.*/ *len\(",
        "Nothing is in the list when its length is used.",
    ),
    (
        "'generator'",
        "A generator, `(… for … in …)`, is no number yet: `sum` adds up what it gives.",
    ),
    ("'int' object is not iterable", "To do something n times, loop over `range(n)`."),
    (
        "'(function|method)' object has no attribute|operand type.*'(function|method)'"
        r"|float\(\) argument .*'(function|method)'",
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
        r"^RecursionError: Inside `(\w+)`, `\1\(",
        "If that should come to an end, a loop with a list of what is still to do has no limit.",
    ),
    (
        "^RecursionError: maximum",
        "What is called here calls itself too often: it goes very deep, or has no end.",
    ),
]
