"""The visible checks: quick answers on public examples, with the likely mistake by name.

A check plays a few public probes on the student's own code and looks the results up in a table
that comes with the course. The table holds results and messages, no solution and no engine.
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

from course.messages import Example, Row, agree_all, explain_error
from course.probes import Observation, play

_TABLES = Path(__file__).parent / "tables"


class CheckFailed(Exception):
    """A visible check did not pass. JupyterLab shows the message alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        # nbgrader's Validate cuts off long lines. The lines of an example are left alone.
        return [
            part
            for line in str(self).splitlines()
            for part in ([line] if line.startswith("    ") else wrap(line, 80) or [""])
        ]


class Passed:
    """What a passed check shows."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return (
            '<div style="font-family:system-ui,sans-serif;color:#1b1f24;background:#fff;'
            "border:1px solid #c9ced6;border-left:6px solid #1a7f4b;border-radius:6px;"
            f'padding:8px 12px;display:inline-block">{escape(self.text)}</div>'
        )


def check(exercise: str, namespace: dict[str, Any] | None = None) -> None:
    """Check one exercise on public examples and show the outcome.

    Args:
        exercise: the exercise's id, such as "add".
        namespace: where the answer lives; the caller's globals by default.

    Raises:
        CheckFailed: the code is not right yet; the message says what was seen and the likely
            cause.
        ValueError: there is no such exercise.
    """
    if namespace is None:
        namespace = sys._getframe(1).f_globals
    entry, earlier = _find(exercise)
    message = diagnose(entry, namespace)
    if message is None:
        _show(Passed(f"✓ {exercise}: the public examples come out right. "
                     "Hidden tests will try other numbers."))  # fmt: skip
        return
    broken = next((e for e in earlier if diagnose(_find(e)[0], namespace) is not None), None)
    if broken is not None:
        message += f"\n\nThe check of `{broken}` fails too, and `{exercise}` may build on it: "
        message += f"mend `{broken}` first."
    raise CheckFailed(f"✗ {exercise}: {message}")


def diagnose(entry: dict[str, Any], namespace: dict[str, Any]) -> str | None:
    """What is wrong with the code in `namespace`, or None if the public examples are right."""
    probes = entry["probes"]
    observed = [play(probe, namespace) for probe in probes]
    right = [probe["right"] for probe in probes]
    if agree_all(observed, right):
        return None
    mistake = match(entry, observed)
    example = first_wrong(entry, observed)
    if mistake is not None:
        return f"{mistake['says']}\n\n{example.as_text()}"
    if _unfinished(observed):
        return (
            "not finished yet: the stub still raises NotImplementedError. "
            "Replace that line with your code and run the cell again."
        )
    head = explain_error(observed) or "this public example comes out wrong."
    return f"{head}\n\n{example.as_text()}"


def match(entry: dict[str, Any], observed: list[list[Observation]]) -> dict[str, Any] | None:
    """The known mistake whose results on all probes are the ones observed, if there is one."""
    for mistake in entry["mistakes"]:
        if agree_all(observed, mistake["results"]):
            found: dict[str, Any] = mistake
            return found
    return None


def first_wrong(entry: dict[str, Any], observed: list[list[Observation]]) -> Example:
    """The first public probe that came out wrong."""
    for probe, seen in zip(entry["probes"], observed, strict=True):
        if not agree_all([seen], [probe["right"]]):
            rows = map(Row, probe["observe"], seen, probe["right"])
            return Example(probe["code"], list(rows))
    raise ValueError("every probe is right")


def _unfinished(observed: list[list[Observation]]) -> bool:
    return any(
        isinstance(seen, dict) and seen.get("error") == "NotImplementedError"
        for probe in observed
        for seen in probe
    )


def _find(exercise: str) -> tuple[dict[str, Any], list[str]]:
    for path in sorted(_TABLES.glob("*.json")):
        exercises = load_table(path.stem)["exercises"]
        if exercise in exercises:
            names = list(exercises)
            return exercises[exercise], names[: names.index(exercise)]
    raise ValueError(f"there is no exercise called {exercise!r}; its name is in the cell above")


@lru_cache
def load_table(assignment: str) -> dict[str, Any]:
    """The table of an assignment's public probes, their right results and known mistakes."""
    table: dict[str, Any] = json.loads((_TABLES / f"{assignment}.json").read_text("utf-8"))
    return table


def _show(result: Passed) -> None:
    try:
        from IPython import get_ipython
    except ImportError:
        get_ipython = None
    if get_ipython is None or get_ipython() is None:
        print(result)
        return
    from IPython.display import display

    display(result)
