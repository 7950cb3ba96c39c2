"""Runs the visible checks: public examples on the student's code, and a message on the likely
mistake.

A check compares the results with a table that comes with the course. The table holds the right
results, and results and messages of known mistakes, but no solution.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import Any

from coursecheck import inference, quiz
from coursecheck.cards import GREEN, GREY, LONG, RED, box, example_table, heading, paragraph
from coursecheck.examples import Observation, PublicExample, failure, play
from coursecheck.messages import (
    FailedExample,
    Finding,
    Hints,
    Row,
    agree,
    agree_all,
    error_name,
    explain,
    first_error,
    hint_on,
    interrupted,
    is_stub,
    only_wrong,
    other_error,
    unfinished,
    unfinished_later,
)
from coursecheck.tables import CheckEntry, CheckTable, KnownMistake


class CheckFailed(Exception):
    """A visible check did not pass. JupyterLab shows only the message, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        # Long lines are wrapped, since nbgrader's Validate cuts them off; an example's code,
        # which is indented, is not wrapped.
        return [
            part
            for line in str(self).splitlines()
            for part in ([line] if line.startswith("    ") else wrap(line, 80) or [""])
        ]


class Card:
    """The output of a check: HTML in a notebook, plain text elsewhere."""

    def __init__(self, text: str, html: str) -> None:
        self._text = text
        self._html = html

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._html


class Checks:
    """The visible checks of a course. Call it with an exercise's id: `check("add")`.

    Args:
        tables: the folder that holds a table for each assignment; by default there is one table,
            `checks.json` beside the notebook.
    """

    def __init__(self, tables: Path | None = None) -> None:
        self._tables = tables

    def __call__(self, exercise: str, namespace: dict[str, Any] | None = None) -> None:
        """Check an exercise on its public examples, and show the outcome.

        If the exercise is a question, the check only tells you whether your answer has the right
        form, such as one of the letters. In a self-study edition it also tells you whether the
        answer is right.

        Args:
            exercise: the exercise's id, such as "add".
            namespace: where your answer is defined; by default your notebook.

        Raises:
            CheckFailed: the code is not right yet; a card shows the results and the likely cause.
            ValueError: there is no such exercise.
        """
        if namespace is None:
            namespace = sys._getframe(1).f_globals
        table = self._table_with(exercise)
        entry = table["exercises"][exercise]
        title = entry["title"] or exercise
        if "form" in entry:
            finding, passed, more = quiz.check_answer(exercise, entry, namespace)
        else:
            finding = diagnose(entry, namespace, table["hints"])
            passed = "the public examples come out right."
            more = "When you hand in, hidden tests try others."
            if not entry["examples"]:
                passed, more = (
                    "there is no public example to try.",
                    "Hidden tests look at it when you hand in.",
                )
        before = _cell_before()
        if finding is not None and finding.only_extra:
            passed = "the core's public examples come out right."
            more = f"The extra part is open: {finding.says}"
        if finding is None or finding.only_extra:
            is_noted = passed == quiz.NOTED
            text = f"{'✎' if is_noted else '✓'} {title}: {passed}"
            parts = [heading(escape(text)), *(paragraph(line, True) for line in more.splitlines())]
            parts += _table_of(finding)
            parts += [paragraph(before)] if before else []
            accent = GREY if is_noted else GREEN
            _show(Card(f"{text} {more} {before}".rstrip(), box(accent, *parts)))
            return
        note = _look_earlier(finding, table, exercise, namespace)
        result = f"✗ {title}. {finding.as_text()}"
        full = "\n\n".join(part for part in (result, before, note) if part)
        if os.environ.get("NBGRADER_VALIDATING") or not _in_notebook():
            raise CheckFailed(full)
        parts = [heading(escape(f"✗ {title}: not right yet"))]
        parts += [paragraph(before)] if before else []
        parts += [paragraph(finding.says)]
        parts += _table_of(finding)
        parts += [paragraph(note)] if note else []
        _show(Card(full, box(RED, *parts)))
        raise CheckFailed("Run All stops here: see above.")

    def all(self, assignment: str, namespace: dict[str, Any] | None = None) -> None:
        """Check every exercise of a notebook; show which are done, and with which one to go on.

        Args:
            assignment: the notebook's name, such as "value".
            namespace: where your answers are defined; by default your notebook.

        Raises `ValueError` if there is no such notebook.
        """
        if namespace is None:
            namespace = sys._getframe(1).f_globals
        for table in self._each_table():
            if table["assignment"] == assignment:
                break
        else:
            raise ValueError(f"there is no notebook called {assignment!r}")
        _show(progress(table, namespace))

    def _table_with(self, exercise: str) -> CheckTable:
        """Return the table that holds the exercise."""
        for table in self._each_table():
            if exercise in table["exercises"]:
                return table
        raise ValueError(f"there is no exercise called {exercise!r}; its name is in the cell above")

    def _each_table(self) -> Iterator[CheckTable]:
        beside = Path("checks.json")
        for path in sorted(self._tables.glob("*.json")) if self._tables else [beside]:
            if not path.exists():
                raise ValueError(
                    "checks.json is missing beside this notebook, so nothing can be checked: copy "
                    "it from where the notebook came from"
                )
            yield load_table(path)


def _table_of(finding: Finding | None) -> list[str]:
    """Return the example that shows what is wrong as the last part of a card; [] for none."""
    example = finding.failed_example if finding else None
    return [example_table(example)] if example else []


_MORE_CASES = "When you hand in, hidden tests try other numbers and cases."


def progress(table: CheckTable, namespace: dict[str, Any]) -> Card:
    """Return a card with the state of each exercise: ✓ right, ✎ answered, ½ only the core is right,
    ○ open."""
    exercises = table["exercises"]
    marks = dict.fromkeys(exercises, "○")
    for name, entry in exercises.items():
        if "form" in entry:
            finding, passed, _ = quiz.check_answer(name, entry, namespace)
        else:
            finding, passed = diagnose(entry, namespace, table["hints"]), ""
        if finding is None or finding.only_extra:
            marks[name] = "½" if finding else "✎" if passed == quiz.NOTED else "✓"
        elif finding.stopped:
            break
    titles = {name: entry["title"] or name for name, entry in exercises.items()}
    counts, lines = [], []
    for kind in ("core", "extra"):
        names = [name for name in marks if ("extra" in exercises[name]) == (kind == "extra")]
        if names:
            counts.append(f"{sum(marks[name] != '○' for name in names)} of {len(names)} {kind}")
            # No line ends between a mark and its title.
            lines.append(", ".join(f"{marks[name]}\u00a0{titles[name]}" for name in names))
    following = next((name for name, mark in marks.items() if mark == "○"), None)
    more = f"Go on with: {titles[following]}." if following else _MORE_CASES
    if "½" in marks.values():
        more += " Where ½ stands, an extra part is open."
    is_noted = "✎" in marks.values()
    if is_noted:
        more += " Where ✎ stands, an answer is noted; only the grader knows whether it is right."
    head = f"{'Answered' if is_noted else 'Checks that pass'}: {', '.join(counts)}"
    parts = [heading(escape(head)), *map(paragraph, lines), paragraph(more, True)]
    return Card("\n".join([head, *lines, more]), box(GREY if following else GREEN, *parts))


def _cell_before() -> str:
    """Return a warning if the cell that ran last before the check raised an error; else ""."""
    result = getattr(_shell(), "last_execution_result", None)
    error = result and (result.error_before_exec or result.error_in_exec)
    if not isinstance(error, Exception) or isinstance(error, CheckFailed):
        return ""
    if isinstance(error, NotImplementedError):
        return "The cell that you ran last still holds `raise NotImplementedError()`: take it out."
    what = "could not be read by Python" if isinstance(error, SyntaxError) else "stopped"
    return (
        f"The cell that you ran last {what} ({type(error).__name__}). If that is the cell above, "
        "fix this first: the check still sees what an earlier run left behind."
    )


def _look_earlier(
    finding: Finding, table: CheckTable, exercise: str, namespace: dict[str, Any]
) -> str:
    """Return a sentence on the first exercise whose check fails too and on which this one builds,
    since the cause may be there; "" if there is none.

    Args:
        finding: what is wrong with the exercise itself.
    """
    if finding.failed_example is None or finding.stopped:
        return ""
    exercises = table["exercises"]
    for name in exercises[exercise].get("needs", ()):
        earlier = diagnose(exercises[name], namespace, table["hints"])
        if earlier is not None and earlier.failed_example is not None and not earlier.only_extra:
            return f"The check of `{name}` fails too, and this exercise builds on it: fix it first."
    return ""


_DRAWN = (
    "The examples come out right, and some that are drawn at random do not. Try small cases of "
    "your own: none, one, the same one twice."
)


def diagnose(entry: CheckEntry, namespace: dict[str, Any], hints: Hints = ()) -> Finding | None:
    """Return what is wrong with the code in `namespace`; None if examples and sweeps are right.

    A known mistake comes first, then a stub that was not filled in, then what `tell` says.
    """
    examples = entry["examples"]
    observed: list[list[Observation]] = []
    for played in [*examples, *inference.sweep_examples(entry.get("sweeps", ()))]:
        try:
            observed.append(play(played, namespace))
        except KeyboardInterrupt as stop:
            return _stopped(played, failure(stop))
    observed, swept = observed[: len(examples)], observed[len(examples) :]
    judged = [
        (example, not agree_all([seen], [example["right"]]))
        for example, seen in zip(examples, observed, strict=True)
    ]
    wrong = [*judged, *inference.judged_sweeps(entry, swept)]
    is_extra = {bool(part.get("extra")) for part, is_wrong in wrong if is_wrong}
    if not is_extra:
        return None
    only_extra = is_extra == {True}
    mistake, stub = match(entry, observed, inference.digests(entry, swept)), unfinished(observed)
    if mistake is not None:
        says = f"{mistake['says']} {stub or ''}".rstrip()
        shown = None if only_extra else first_wrong(entry, observed)
        return Finding(says, shown, only_extra=only_extra)
    if stub is not None:
        return Finding(stub)
    # If only the extra part of the examples is wrong, a sweep of the core shows more.
    is_shown = any(is_wrong and (only_extra or not part.get("extra")) for part, is_wrong in judged)
    found = tell(entry, observed if is_shown else None, swept, hints, only_extra)
    return replace(found or Finding(_DRAWN), only_extra=only_extra)


def tell(
    entry: CheckEntry,
    observed: list[list[Observation]] | None,
    swept: list[list[Observation]] | None,
    hints: Hints,
    core_is_right: bool,
) -> Finding | None:
    """Return what to say of code that makes no known mistake; None if nothing can be said.

    The first of these that applies is returned: an error in a line of the student's, a result of
    the wrong kind, or what a `tells` expression says; a fact that the course has words for; a
    public example that comes out wrong; a formula that the code computes in the sweeps; a point of
    a sweep that comes out wrong.

    Args:
        observed: the student's results on the public examples; None if they show no failure.
        swept: the student's results on the sweeps; None if they may not be shown.
        core_is_right: whether what is wrong belongs to the extra part.
    """
    if observed is not None:
        says = explain(entry["examples"], observed, hints) or told_message(entry, observed)
        if says:
            return Finding(says, first_wrong(entry, observed, says))
    for declared in (True, False):
        found = swept and inference.infer(entry, swept, core_is_right, declared)
        if found:
            return Finding(found.says, inference.failed_example(entry, swept or [], found))
        if observed is not None and (example := first_wrong(entry, observed)):
            first = example.shown_rows[0].expression
            why = inference.cause(entry, swept, first, core_is_right) if swept else ""
            parts = [example.says, why, why and hint_on(why, hints)]
            says = unfinished_later(observed) or " ".join(filter(None, parts))
            return Finding(says, example)
    if not swept:
        return None
    says, example = inference.explain_raised(entry, swept, hints)
    example = example or (None if says else inference.failed_example(entry, swept, None))
    says = says or (example.says if example else "")
    return Finding(says, example) if says else None


def _stopped(example: PublicExample, error: dict[str, Any]) -> Finding:
    rows = [Row(expression, error, None) for expression in example["observe"]]
    return Finding(interrupted(error), FailedExample(example["code"], rows), stopped=True)


def match(
    entry: CheckEntry,
    observed: list[list[Observation]],
    swept: Sequence[str] = (),
) -> KnownMistake | None:
    """Return the known mistake that has the observed results.

    A mistake with the observed results on all examples comes first. If there is none, the mistake
    with the observed results on the finished part of the core is returned, if it is the only one;
    else None.

    Args:
        observed: the student's results, a list for each public example.
        swept: as in `fitting_mistakes`.
    """
    fitting = fitting_mistakes(entry, observed, swept)
    if fitting:
        return fitting[0]
    fitting = fitting_mistakes(entry, observed, swept, in_core=True)
    return fitting[0] if len(fitting) == 1 else None


def fitting_mistakes(
    entry: CheckEntry,
    observed: list[list[Observation]],
    swept: Sequence[str] = (),
    in_core: bool = False,
) -> list[KnownMistake]:
    """Return the known mistakes that have the observed results on all examples and sweeps.

    Args:
        observed: the student's results, a list for each public example.
        swept: a digest of the student's results on each sweep, if known; a sweep with "" is not
            compared.
        in_core: whether to compare only the finished part of the core: without extra parts, and
            without results that are a stub's NotImplementedError. If there are such results, at
            least two of the others must be wrong, since one is not enough evidence.
    """

    def done(results: list[list[Observation]]) -> list[list[Observation]]:
        return [
            [item for item, mine in zip(row, seen, strict=True) if not in_core or not is_stub(mine)]
            for example, row, seen in zip(entry["examples"], results, observed, strict=True)
            if not in_core or not example.get("extra")
        ]

    seen, right = done(observed), done([example["right"] for example in entry["examples"]])
    pairs = zip(chain.from_iterable(seen), chain.from_iterable(right), strict=True)
    least = 2 if in_core and any(map(is_stub, chain.from_iterable(observed))) else 1
    if sum(not agree(*pair) for pair in pairs) < least:
        return []

    sweeps = entry.get("sweeps", ())

    def fits(mistake: KnownMistake) -> bool:
        shown = done(mistake["results"])
        differ = any(any(map(other_error, *rows)) for rows in zip(seen, shown, strict=True))
        has_same_sweeps = all(
            theirs == mine
            for sweep, theirs, mine in zip(sweeps, mistake.get("sweeps", ()), swept, strict=False)
            if theirs and mine and not (in_core and sweep.get("extra"))
        )
        return agree_all(seen, shown) and not differ and has_same_sweeps

    return [*filter(fits, entry["mistakes"])]


def told_message(entry: CheckEntry, observed: list[list[Observation]]) -> str:
    """Return the message that the `tells` expression of an example gave; "" if none gave one."""
    for example, seen in zip(entry.get("examples", ()), observed, strict=True):
        text = seen[example["observe"].index(example["tells"])] if "tells" in example else ""
        if text and isinstance(text, str):
            return text
    return ""


def first_wrong(
    entry: CheckEntry, observed: list[list[Observation]], says: str = ""
) -> FailedExample | None:
    """Return the first wrong public example, of the core if possible; None if all are right.

    If the sentence `says` is about an error, the example that raised this error is returned.
    """
    error = first_error(only_wrong(entry["examples"], observed))
    is_about = error is not None and (
        f"raised {error_name(error)}" in says or (error.get("message") or "\0") in says
    )
    pairs = zip(entry["examples"], observed, strict=True)
    for example, seen in sorted(pairs, key=lambda pair: _plainness(pair[0])):
        if is_about and not any(item is error for item in seen):
            continue
        if not agree_all([seen], [example["right"]]):
            rows = map(Row, example["observe"], seen, example["right"])
            shown = [row for row in rows if row.expression != example.get("tells")]
            return FailedExample(example["code"], shown)
    return None


def _plainness(example: PublicExample) -> tuple[bool, bool]:
    """Return the sorting key of an example: those of the core first, then those that are short."""
    return bool(example.get("extra")), len(example["code"].splitlines()) > LONG


def load_table(path: Path) -> CheckTable:
    """Return an assignment's table of the visible checks: public examples, right results, and known
    mistakes."""
    return _read_table(path, path.stat().st_mtime_ns)


@lru_cache
def _read_table(path: Path, stamp: int) -> CheckTable:
    table: CheckTable = json.loads(path.read_text("utf-8"))
    return table


def _in_notebook() -> bool:
    return _shell() is not None


def _shell() -> Any:
    """Return IPython's shell; None outside a notebook."""
    # IPython is not imported here: if this is a notebook, its kernel has imported it.
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _show(card: Card) -> None:
    if not _in_notebook():
        print(card)
        return
    from IPython.display import display

    display(card)
