"""The visible checks: quick answers on public examples, with the likely mistake by name.

A check runs a few public probes on the student's own code and looks the results up in a table that
comes with the course. The table holds results and messages, and no solution.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import Any

from coursecheck import inference, quiz
from coursecheck.cards import GREEN, GREY, RED, box, example_table, heading, paragraph
from coursecheck.messages import (
    Example,
    Finding,
    Hints,
    Row,
    agree,
    agree_all,
    error_comes_later,
    error_name,
    explain,
    first_error,
    interrupted,
    is_stub,
    only_wrong,
    other_error,
    unfinished,
    unfinished_later,
)
from coursecheck.probes import Observation, Probe, failure, play


class CheckFailed(Exception):
    """A visible check did not pass. JupyterLab shows the message alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        # nbgrader's Validate cuts off long lines. The lines of an example are left alone.
        return [
            part
            for line in str(self).splitlines()
            for part in ([line] if line.startswith("    ") else wrap(line, 80) or [""])
        ]


class Card:
    """The output of a check: a card in a notebook, its text elsewhere."""

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
        tables: the folder that holds a table for each assignment; by default the file `checks.json`
            in the current folder, which lies beside the notebook, is the only one.
    """

    def __init__(self, tables: Path | None = None) -> None:
        self._tables = tables

    def __call__(self, exercise: str, namespace: dict[str, Any] | None = None) -> None:
        """Check one exercise on public examples and show the outcome.

        The answer to a question, a letter or a number, is checked for its form alone, except in a
        self-study edition.

        Args:
            exercise: the exercise's id, such as "add".
            namespace: the names of the answer; the caller's globals by default.

        Raises:
            CheckFailed: the code is not right yet; the results and the likely cause are shown.
            ValueError: there is no such exercise.
        """
        if namespace is None:
            namespace = sys._getframe(1).f_globals
        table = self._table_with(exercise)
        entry = table["exercises"][exercise]
        title = entry["title"] or exercise
        if "form" in entry:
            finding, passed, more = quiz.look_at(exercise, entry["form"], namespace)
        else:
            finding = diagnose(entry, namespace, table["hints"])
            passed = "the public examples come out right."
            more = "Hidden tests will try others."
            if not entry["probes"]:
                passed, more = "there is no public example to try.", "Hidden tests will look at it."
        before = _cell_before()
        if finding is not None and finding.only_extra:
            passed = "the core's public examples come out right."
            more = f"The extra part is open: {finding.says}"
        if finding is None or finding.only_extra:
            text = f"✓ {title}: {passed}"
            parts = [heading(escape(text)), *(paragraph(line, True) for line in more.splitlines())]
            parts += [paragraph(before)] if before else []
            accent = GREY if passed == quiz.NOTED else GREEN
            _show(Card(f"{text} {more} {before}".rstrip(), box(accent, *parts)))
            return
        note = _look_earlier(finding, table, exercise, namespace)
        found = f"✗ {title}. {finding.as_text()}"
        full = "\n\n".join(part for part in (found, before, note) if part)
        if os.environ.get("NBGRADER_VALIDATING") or not _in_notebook():
            raise CheckFailed(full)
        parts = [heading(escape(f"✗ {title}: not right yet"))]
        parts += [paragraph(before)] if before else []
        parts += [paragraph(finding.says)]
        parts += [example_table(finding.example)] if finding.example else []
        parts += [paragraph(note)] if note else []
        _show(Card(full, box(RED, *parts)))
        raise CheckFailed(f"{exercise} is not right yet")

    def all(self, assignment: str, namespace: dict[str, Any] | None = None) -> None:
        """Check every exercise of a notebook, and show its progress and the next step.

        Args:
            assignment: the notebook's name, such as "value".
            namespace: the names of the answers; the caller's globals by default.

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

    def _table_with(self, exercise: str) -> dict[str, Any]:
        """Return the table that holds the exercise."""
        for table in self._each_table():
            if exercise in table["exercises"]:
                return table
        raise ValueError(f"there is no exercise called {exercise!r}; its name is in the cell above")

    def _each_table(self) -> Iterator[dict[str, Any]]:
        beside = Path("checks.json")
        for path in sorted(self._tables.glob("*.json")) if self._tables else [beside]:
            if not path.exists():
                raise ValueError(
                    "checks.json is missing beside this notebook, so nothing can be checked: copy "
                    "it from where the notebook came from"
                )
            yield load_table(path)


def progress(table: dict[str, Any], namespace: dict[str, Any]) -> Card:
    """Return a card that marks each exercise with a check: ✓ right, ½ its core is right, ○ open."""
    exercises = table["exercises"]
    marks = dict.fromkeys(exercises, "○")
    noted = False
    for name, entry in exercises.items():
        if "form" in entry:
            seen = quiz.look_at(name, entry["form"], namespace)
            finding, noted = seen.finding, noted or seen.passed == quiz.NOTED
        else:
            finding = diagnose(entry, namespace, table["hints"])
        if finding is None or finding.only_extra:
            marks[name] = "½" if finding else "✓"
        elif finding.stopped:
            break
    titles = {name: entry["title"] or name for name, entry in exercises.items()}
    counts, lines = [], []
    for kind in ("core", "extra"):
        names = [name for name in marks if ("extra" in exercises[name]) == (kind == "extra")]
        if names:
            counts.append(f"{sum(marks[name] != '○' for name in names)} of {len(names)} {kind}")
            lines.append(", ".join(f"{marks[name]} {titles[name]}" for name in names))
    following = next((name for name, mark in marks.items() if mark == "○"), None)
    more = f"Go on with: {titles[following]}." if following else "Hidden tests will try others."
    if "½" in marks.values():
        more += " Where ½ stands, an extra part is open."
    if noted:
        more += " Answers to questions are noted; only the grader knows which are right."
    head = f"Checks that pass: {', '.join(counts)}"
    parts = [heading(escape(head)), *map(paragraph, lines), paragraph(more, True)]
    return Card("\n".join([head, *lines, more]), box(GREY if following else GREEN, *parts))


def _cell_before() -> str:
    """Return a warning if the cell that was run just before the check stopped with an error."""
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
    finding: Finding, table: dict[str, Any], exercise: str, namespace: dict[str, Any]
) -> str:
    """Return a pointer to the first earlier exercise that is wrong, if this failure has no name."""
    if finding.example is None or finding.stopped:
        return ""
    exercises = table["exercises"]
    # The questions of a quiz do not build on one another.
    if any("form" in entry for entry in exercises.values()):
        return ""
    for name in [*exercises][: [*exercises].index(exercise)]:
        found = diagnose(exercises[name], namespace, table["hints"])
        if found is not None and found.example is not None and not found.only_extra:
            return f"The check of `{name}` fails too. If this exercise builds on it, fix it first."
    return ""


_COMPARE = (
    "This public example comes out wrong. Compare what your code gave with what was expected."
)


def diagnose(entry: dict[str, Any], namespace: dict[str, Any], hints: Hints = ()) -> Finding | None:
    """Return the fault of the code in `namespace`, or None if the public examples are right."""
    probes = entry["probes"]
    observed: list[list[Observation]] = []
    for probe in [*probes, *inference.sample_probes(entry.get("samples", ()))]:
        try:
            observed.append(play(probe, namespace))
        except KeyboardInterrupt as stop:
            return _stopped(probe, failure(stop))
    observed, sampled = observed[: len(probes)], observed[len(probes) :]
    right = [probe["right"] for probe in probes]
    if agree_all(observed, right):
        return _in_samples(entry, sampled, hints, core_is_right=True)
    core = [i for i, probe in enumerate(probes) if not probe.get("extra")]
    only_extra = len(core) < len(probes) and agree_all(
        [observed[i] for i in core], [right[i] for i in core]
    )
    mistake, stub = match(entry, observed, sampled), unfinished(observed)
    if mistake is not None:
        says = f"{mistake['says']} {stub or ''}".rstrip()
        return Finding(says, first_wrong(entry, observed), only_extra=only_extra)
    if stub is not None:
        return Finding(stub)
    says = explain(probes, observed, hints) or own_words(entry, observed)
    if says:
        return Finding(says, first_wrong(entry, observed, says), only_extra=only_extra)
    errors = not error_comes_later(probes, observed)
    found = _in_samples(entry, sampled, hints, only_extra, errors)
    if found is None or found.says == _COMPARE:
        # A public example is the shortest one, where no sentence is about another.
        only_extra = found.only_extra if found else only_extra
        says = unfinished_later(observed) or _COMPARE
        return Finding(says, first_wrong(entry, observed), only_extra=only_extra)
    return found


def _in_samples(
    entry: dict[str, Any],
    sampled: list[list[Observation]],
    hints: Hints,
    core_is_right: bool,
    errors: bool = True,
) -> Finding | None:
    """Return the fault that the samples show, with the formula that the code computes, if known;
    or else, with `errors`, an error that is raised there."""
    inferred = inference.infer(entry, sampled, core_is_right)
    example = inference.example(entry, sampled, inferred)
    if example is None:
        return None
    only_extra = core_is_right and not any(
        is_wrong and not sample.get("extra")
        for sample, is_wrong in inference.wrong_samples(entry, sampled)
    )
    if inferred is not None:
        return Finding(inferred.says, example, only_extra=only_extra)
    says, raising = inference.raised(entry, sampled, hints) if errors else ("", None)
    return Finding(says or _COMPARE, raising or example, only_extra=only_extra)


def _stopped(probe: Probe, error: dict[str, Any]) -> Finding:
    rows = [Row(expression, error, None) for expression in probe["observe"]]
    return Finding(interrupted(error), Example(probe["code"], rows), stopped=True)


def match(
    entry: dict[str, Any],
    observed: list[list[Observation]],
    sampled: list[list[Observation]] | None = None,
) -> dict[str, Any] | None:
    """Return the known mistake with the same results on all probes, if there is one; else the only
    one with the same results on the finished part of the core."""
    fitting = fitting_mistakes(entry, observed, sampled)
    if fitting:
        return fitting[0]
    fitting = fitting_mistakes(entry, observed, sampled, in_core=True)
    return fitting[0] if len(fitting) == 1 else None


def fitting_mistakes(
    entry: dict[str, Any],
    observed: list[list[Observation]],
    sampled: list[list[Observation]] | None = None,
    in_core: bool = False,
) -> list[dict[str, Any]]:
    """Return the known mistakes with the observed results on all probes, and on all samples.

    Args:
        sampled: the observations of the samples, if known. Those that met a stub are not compared.
        in_core: whether to compare only the finished part of the core, if that is wrong: an extra
            part may be left alone, and code that raises NotImplementedError is still to come. A
            single wrong result beside it is not enough.
    """

    def done(results: list[list[Observation]]) -> list[list[Observation]]:
        return [
            [item for item, mine in zip(row, seen, strict=True) if not in_core or not is_stub(mine)]
            for probe, row, seen in zip(entry["probes"], results, observed, strict=True)
            if not in_core or not probe.get("extra")
        ]

    seen, right = done(observed), done([probe["right"] for probe in entry["probes"]])
    pairs = zip(chain.from_iterable(seen), chain.from_iterable(right), strict=True)
    least = 2 if in_core and any(map(is_stub, chain.from_iterable(observed))) else 1
    if sum(not agree(*pair) for pair in pairs) < least:
        return []

    samples = entry.get("samples", ())
    digests = inference.digests(entry, sampled) if sampled else []

    def fits(mistake: dict[str, Any]) -> bool:
        shown = done(mistake["results"])
        differ = any(any(map(other_error, *rows)) for rows in zip(seen, shown, strict=True))
        is_sampled_alike = all(
            its == mine
            for sample, its, mine in zip(samples, mistake.get("samples", ()), digests, strict=False)
            if its and mine and not (in_core and sample.get("extra"))
        )
        return agree_all(seen, shown) and not differ and is_sampled_alike

    return [*filter(fits, entry["mistakes"])]


def own_words(entry: dict[str, Any], observed: list[list[Observation]]) -> str:
    """Return the text of a probe's `tells` expression; "" if it has none."""
    for probe, seen in zip(entry.get("probes", ()), observed, strict=True):
        text = seen[probe["observe"].index(probe["tells"])] if "tells" in probe else ""
        if text and isinstance(text, str):
            return text
    return ""


def first_wrong(
    entry: dict[str, Any], observed: list[list[Observation]], says: str = ""
) -> Example | None:
    """Return the first public probe that came out wrong, of the core if possible; or the one that
    raised the error, if the sentence `says` is about one. Return None if every probe is right."""
    error = first_error(only_wrong(entry["probes"], observed))
    is_about = error is not None and f"raised {error_name(error)}" in says
    pairs = zip(entry["probes"], observed, strict=True)
    for probe, seen in sorted(pairs, key=lambda pair: bool(pair[0].get("extra"))):
        if is_about and not any(item is error for item in seen):
            continue
        if not agree_all([seen], [probe["right"]]):
            rows = map(Row, probe["observe"], seen, probe["right"])
            shown = [row for row in rows if row.expression != probe.get("tells")]
            return Example(probe["code"], shown)
    return None


def load_table(path: Path) -> dict[str, Any]:
    """Return the table of an assignment's public probes, their right results and known mistakes."""
    return _read_table(path, path.stat().st_mtime_ns)


@lru_cache
def _read_table(path: Path, stamp: int) -> dict[str, Any]:
    table: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return table


def _in_notebook() -> bool:
    return _shell() is not None


def _shell() -> Any:
    """Return the notebook's shell, if there is one."""
    # Code that runs in a notebook has IPython imported already.
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _show(card: Card) -> None:
    if not _in_notebook():
        print(card)
        return
    from IPython.display import display

    display(card)
