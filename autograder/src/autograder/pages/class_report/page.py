"""Writes the class report: one self-contained HTML page, and the same tables as CSV files."""

from __future__ import annotations

import hashlib
import logging
import re
import statistics
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Template
from markupsafe import Markup, escape
from nbgrader.api import Gradebook
from nbgrader.exchange.default import Exchange

from ...course_folder.course import Course
from ...errors import CourseError
from ...gradebook.class_results import (
    AutogradedMetadata,
    ClassResults,
    StudentResult,
    class_results,
    read_graded,
)
from ...isolation import isolated_errors
from ...pipeline.classroom import course_directory
from ...texts import command
from ..csv_cells import Field, csv_text
from ..templates import templates
from . import plots
from .analysis import Item, SharedMisconception, items, misconceptions
from .similarity import ALIKE, Pair, equal_texts, similar_pairs

_log = logging.getLogger(__name__)

_HOUR = 3600.0
_MOST_SHOWN = 15

Named = Callable[[str], str]


@dataclass(frozen=True)
class Plot:
    """A plot as an SVG element, and its data as text."""

    svg: Markup
    words: str


def write_report(course: Course, name: str, folder: Path, hide_names: bool = False) -> Path:
    """Write the class report on an assignment.

    Args:
        name: the assignment.
        folder: the target folder, created if missing; an earlier report in it is replaced.
        hide_names: whether to replace students' ids by pseudonyms.

    Returns:
        The page's path.

    Raises `CourseError` if there is no such assignment, or no submission to it was graded.
    """
    assignment, source = course.assignment(name), course.notebook_path(name)
    folders = course_directory(course)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        results = class_results(gradebook, name)
    if not results.submitted:
        raise CourseError(
            f"nothing of {name} is graded yet: run {command('autograder', 'grade', name)} first"
        )
    graded = {}
    for result in results.submitted:
        graded[result.student] = AutogradedMetadata()
        with isolated_errors(result.student) as fault:
            path = folders.format_path(folders.autograded_directory, result.student, source.folder)
            graded[result.student] = read_graded(Path(path) / f"{source.notebook}.ipynb")
        if fault.reason:
            _log.warning("%s is reported without verdicts: %s", result.student, fault.reason)
    stubs = {exercise.id: exercise.stub for exercise in assignment.exercises.values()}
    pairs = equal_texts({student: each.texts for student, each in graded.items()}, stubs)
    pairs += similar_pairs({student: each.answers for student, each in graded.items()}, stubs)
    item_list = items(results, assignment)
    shared = misconceptions({s: notebook.verdicts for s, notebook in graded.items()}, assignment)
    attempts = _attempts(Path(folders.config.Exchange.get("root", Exchange.root.default_value)),
                         folders.course_id, results)  # fmt: skip
    named = _pseudonyms(course, results) if hide_names else str
    page = _template().render(
        assignment=name,
        results=results,
        students=sorted(results.submitted, key=lambda result: named(result.student)),
        named=named,
        hide_names=hide_names,
        spread=_spread(results),
        scores=_score_plot(results),
        item_list=item_list,
        item_plot=_item_plot(item_list),
        shared=shared,
        shared_plot=_shared_plot(shared, len(results.submitted)),
        times=_time_plot(results),
        attempts=attempts,
        waiting=[result for result in results.submitted if result.waiting],
        without_verdicts=sum(not notebook.verdicts for notebook in graded.values()),
        in_notebook=sum(notebook.in_notebook for notebook in graded.values()),
        sandboxes=Counter(notebook.sandbox for notebook in graded.values() if notebook.sandbox),
        pairs=pairs,
        alike=ALIKE,
    )
    folder.mkdir(parents=True, exist_ok=True)
    for file, rows in {
        "students.csv": _student_rows(results, named, hide_names, attempts),
        "exercises.csv": _item_rows(item_list),
        "misconceptions.csv": _shared_rows(shared),
        "similar.csv": _pair_rows(pairs, named),
    }.items():
        (folder / file).write_text(csv_text(rows), "utf-8")
    target = folder / "report.html"
    target.write_text(page, "utf-8")
    return target


def _template() -> Template:
    environment = templates(__package__)
    environment.filters["number"] = lambda value: f"{value:.4g}"
    environment.filters["share"] = plots.two_digits
    environment.filters["breakable"] = lambda name: Markup(
        re.sub(r"([._])", r"\1<wbr>", str(escape(name)))
    )
    environment.filters["length_of_time"] = _length_of_time
    return environment.get_template("page.html")


def _pseudonyms(course: Course, results: ClassResults) -> Named:
    """Return a function that maps a student's id to a numbered pseudonym.

    A student's pseudonym is the same in each report. The numbers follow the order of a keyed hash
    of the ids, which nobody can compute without the course's key.
    """
    key = course.key

    def rank(result: StudentResult) -> bytes:
        return hashlib.blake2b(result.student.encode(), key=key, person=b"pseudonyms").digest()

    order = sorted(results.results, key=rank)
    width = len(str(len(order)))
    names = {result.student: f"student {i:0{width}}" for i, result in enumerate(order, start=1)}
    return names.__getitem__


def _attempts(exchange: Path, course_id: str, results: ClassResults) -> dict[str, int]:
    """Return by student the number of submissions in nbgrader's exchange; {} without an exchange.

    Students without a submission there are left out.
    """
    try:
        names = [path.name for path in (exchange / course_id / "inbound").iterdir()]
    except OSError:
        return {}
    counts = {
        result.student: sum(
            name.startswith(f"{result.student}+{results.assignment}+") for name in names
        )
        for result in results.submitted
    }
    return {student: count for student, count in counts.items() if count}


def _spread(results: ClassResults) -> dict[str, float]:
    """Return the five-number summary of the marks, and their mean."""
    marks = [result.mark for result in results.submitted]
    low, middle, high = statistics.quantiles(marks, method="inclusive") if len(marks) > 1 else (
        marks * 3)  # fmt: skip
    return {
        "lowest": min(marks),
        "lower quartile": low,
        "median": middle,
        "mean": statistics.fmean(marks),
        "upper quartile": high,
        "highest": max(marks),
    }


def _score_plot(results: ClassResults) -> Plot:
    edges = [results.max_score * tenth / 10 for tenth in range(11)]
    bins = Counter(bisect_right(edges[1:-1], result.mark) for result in results.submitted)
    counts = [bins[index] for index in range(10)]
    words = "; ".join(
        f"{low:g} to {high:g} points: {count}"
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
        if count
    )
    alt = f"Histogram of the marks. {words}."
    label = f"points of {results.max_score:g}"
    return Plot(Markup(plots.histogram(counts, edges, label, alt, "scores")), words)


def _item_plot(item_list: list[Item]) -> Markup:
    alt = "Bars for the mean share of points and the item-rest correlation of each exercise. "
    alt += "The table below has the same numbers."
    return Markup(
        plots.item_bars(
            [item.id for item in item_list],
            [item.share for item in item_list],
            [item.discrimination for item in item_list],
            alt,
            "items",
        )
    )


def _shared_plot(shared: list[SharedMisconception], students: int) -> Markup | None:
    if not shared:
        return None
    shown = shared[:_MOST_SHOWN]
    alt = f"Bars for the {len(shown)} most frequent misconceptions among {students} students. "
    alt += "The table below has the same numbers."
    names = [each.id for each in shown]
    return Markup(plots.count_bars(names, [each.count for each in shown], alt, "misconceptions"))


def _time_plot(results: ClassResults) -> Plot | None:
    """Plot the times of submission relative to the due date; None if no time is known."""
    due = results.duedate
    hours = [
        (result.timestamp - due).total_seconds() / _HOUR
        for result in results.submitted
        if due is not None and result.timestamp is not None
    ]
    if not hours:
        return None
    edges = [-168.0, -72.0, -24.0, -6.0, 0.0, 24.0, 72.0]
    names = ["over a week before", "up to a week before", "up to 3 days before",
             "up to a day before", "up to 6 hours before", "up to a day late",
             "up to 3 days late", "later"]  # fmt: skip
    bins = Counter(bisect_left(edges, hour) for hour in hours)
    counts = [bins[index] for index in range(len(names))]
    words = "; ".join(f"{each}: {count}" for each, count in zip(names, counts, strict=True))
    alt = f"Bars for how long before the due date submissions came. {words}."
    return Plot(Markup(plots.count_bars(names, counts, alt, "times")), words)


def _length_of_time(seconds: float) -> str:
    days, hours = divmod(round(seconds / _HOUR), 24)
    return f"{days} d {hours} h" if days else f"{hours} h" if hours else "under an hour"


def _student_rows(
    results: ClassResults, named: Named, hide_names: bool, attempts: dict[str, int]
) -> list[Sequence[Field]]:
    exercises = list(results.max_points)
    # A time of submission, to the second, would identify a student.
    times = [] if hide_names else ["submitted (UTC)", "hours late"]
    head = ["student", *exercises, "score", "penalty", "mark", "of", "waiting", "attempts"]
    rows: list[Sequence[Field]] = [head + times]
    for result in sorted(results.submitted, key=lambda result: named(result.student)):
        row: list[Field] = [named(result.student)]
        row += [result.points.get(exercise) for exercise in exercises]
        row += [result.score, result.penalty, result.mark, results.max_score]
        row += [" ".join(result.waiting), attempts.get(result.student)]
        if not hide_names:
            when = result.timestamp
            row += [f"{when:%Y-%m-%d %H:%M:%S}" if when else None, result.late_seconds / _HOUR]
        rows.append(row)
    return rows


def _item_rows(item_list: list[Item]) -> list[Sequence[Field]]:
    head = ("exercise", "title", "max points", "mean share", "item-rest correlation",
            "all points", "no points", "marked")  # fmt: skip
    return [
        head,
        *(
            (item.id, item.title, item.max_points, item.share, item.discrimination, item.full,
             item.nothing, item.marked)
            for item in item_list
        ),
    ]  # fmt: skip


def _shared_rows(shared: list[SharedMisconception]) -> list[Sequence[Field]]:
    rows = [(each.id, each.exercise, each.count, each.keeps, each.says) for each in shared]
    return [("misconception", "exercise", "students", "keeps", "what the tutor says"), *rows]


def _pair_rows(pairs: list[Pair], named: Named) -> list[Sequence[Field]]:
    rows = [
        (named(pair.first), named(pair.second), round(pair.similarity, 3), pair.size, pair.what)
        for pair in pairs
    ]
    head = ("student", "other student", "similarity", "characters compared", "of")
    return [head, *rows]
