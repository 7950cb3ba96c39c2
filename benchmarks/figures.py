"""From measurements to the documentation: `docs/performance.json`, its tables, and its plots.

    python benchmarks/figures.py [--to FOLDER]

writes tables and plots anew from the file of measurements into `docs/performance.md` and
`README.md`, or into copies of these two in another folder. The benchmarks do so when they end.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from honest_class import HOSTILE

from autograder.authoring.audit.report import write_block
from autograder.course_folder.assignments import find_course

COURSE = find_course(Path(__file__).parent)
RESULTS = COURSE / "docs" / "performance.json"

Measured = Any
"""What a benchmark measured, as JSON holds it."""


def machine() -> str:
    """What ran a benchmark, in words."""
    cores = len(os.sched_getaffinity(0))
    return f"{cores} {'core' if cores == 1 else 'cores'}, Python {platform.python_version()}"


def tell(what: str, measured: Measured, keep: bool = True) -> None:
    """Print what was measured, and keep it: in the file of measurements, the pages and the plots.

    Args:
        what: one of `TEXTS`.
        measured: what it is made of.
        keep: whether to write anything.
    """
    command = shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    found = {"by": command, "on": machine(), "measured": json.loads(json.dumps(measured))}
    print(f"\n{TEXTS[what](found['measured'])}\n\nBy `{command}`, on {machine()}.")
    if keep:
        known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
        known[what] = found
        RESULTS.write_text(json.dumps(known) + "\n", "utf-8")
        publish(known, COURSE / "README.md", COURSE / "docs" / "performance.md")


def publish(known: dict[str, Measured], readme: Path, page: Path) -> None:
    """Write the tables of all that was measured into these two pages, and plots beside the second.

    Args:
        known: the measurements, as the file has them.
    """
    for what, found in known.items():
        measured, made = found["measured"], f"By `{found['by']}`, on {found['on']}."
        text = f"{TEXTS[what](measured)}\n\n{made}"
        if what == "class":
            write_block(readme, what, text)
        if what in PLOTS:
            name, alt, draw = PLOTS[what]
            draw(page.with_name(name), measured)
            text += f"\n\n![{alt}]({name})"
        write_block(page, what, text)


# Tables.


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its first column text and the others numbers."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def class_text(measured: Measured) -> str:
    """A class beside stock nbgrader: a row for each assignment, for what does harm, and for all."""
    parts, notebooks = measured["parts"], measured["notebooks"]
    harmless = [part for part in parts if not part["harmful"]]
    harmful = [part for part in parts if part["harmful"]]
    calm = [each for each in notebooks if each[1] not in HOSTILE]
    wild = [each for each in notebooks if each[1] in HOSTILE]
    seconds, taken = _sum(harmless, "ours"), sum(each[2] for each in calm)
    rows = []
    for name in measured["names"]:
        own = [each for each in calm if each[0] == name]
        stock = sum(part["stock"].get(name, 0.0) for part in harmless)
        rows.append(_row(f"`{name}`", own, stock, seconds * sum(each[2] for each in own) / taken))
    rows.append(_row("these together", calm, _stock(harmless), seconds))
    if wild:
        rows.append(_row("loop, crash, eat memory", wild, _stock(harmful), _sum(harmful, "ours")))
        rows.append(_row("the whole class", notebooks, _stock(parts), _sum(parts, "ours")))
    heads = ["", "notebooks", "stock nbgrader, ms each", "this, ms each", "stock / this",
             "this: median, ms", "90th percentile", "slowest"]  # fmt: skip
    mean, slower = taken / len(calm), _stock(harmless) / taken
    peak = max(part["peak"] for part in parts) / 1e6
    stock_pages, own_pages = measured["pages"]
    times = measured["feedback"].values()
    slow = 1000 * sum(stock for stock, _ in times) / stock_pages
    fast = 1000 * sum(ours for _, ours in times) / own_pages
    cut_wild, cut_calm = measured["cut"]
    stock_full, own_full = measured["full"]
    lines = [
        f"{measured['students']} students, {len(notebooks)} notebooks:",
        table(heads, rows),
        f"- Of the {len(calm)} notebooks that do no harm, one takes its worker "
        f"{1000 * mean:,.0f} ms on average, and stock nbgrader {slower:.1f} times as long.",
        f"- The grader's peak memory: {peak:,.0f} MB.",
        f"- Of the {len(wild)} notebooks that loop, crash or eat memory, stock nbgrader left "
        f"{measured['lost']} without marks, and stopped cells of {cut_wild} at its limit of 30 s; "
        f"of the {len(calm)} others, it stopped cells of {cut_calm}. This project graded all.",
        f"- Of the {measured['exercises']:,} exercises in the {len(calm)} others, {stock_full:,} "
        f"got full points from stock nbgrader and {own_full:,} from this project.",
        f"- A feedback page: {slow:,.0f} ms by stock nbgrader, {fast:,.0f} ms by this project; "
        f"{slow / fast:.1f} times.",
    ]
    if measured["otter"]:
        name, version = measured["otter"]["name"], measured["otter"]["version"]
        count = sum(each[0] == name for each in calm)
        each = 1000 * sum(part["otter"][0] for part in harmless) / count
        own = 1000 * sum(e[2] for e in calm if e[0] == name) / taken * seconds / count
        lines.append(
            f"- The {count} notebooks of `{name}` without those that do harm, by otter-grader "
            f"{version}: {each:,.0f} ms each, {each / own:.1f} times as long as by this project."
        )
    return "\n\n".join([*lines[:2], "\n".join(lines[2:])])


def _sum(parts: Iterable[Measured], key: str) -> float:
    return sum(part[key] for part in parts)


def _stock(parts: Iterable[Measured]) -> float:
    return sum(sum(part["stock"].values()) for part in parts)


def _row(what: str, notebooks: list[Measured], stock: float, ours: float) -> list[str]:
    count = len(notebooks)
    each = _quantiles([each[2] for each in notebooks])
    numbers = [f"{1000 * stock / count:,.0f}", f"{1000 * ours / count:,.0f}"]
    return [what, f"{count:,}", *numbers, f"{stock / ours:.1f}", *each]


def _quantiles(seconds: list[float]) -> list[str]:
    """Median, 90th percentile and maximum, in milliseconds."""
    ordered = sorted(seconds)
    ninth = ordered[min(len(ordered) - 1, round(0.9 * (len(ordered) - 1)))]
    return [f"{1000 * each:,.0f}" for each in (statistics.median(ordered), ninth, ordered[-1])]


def large_text(measured: Measured) -> str:
    rows = [
        [
            listed(each["names"]),
            f"{each['students']:,}",
            f"{each['seconds']:,.0f}",
            f"{1000 * each['seconds'] / len(each['each']):,.0f}",
            *_quantiles(each["each"]),
            f"{each['peak'] / 1e6:,.0f}",
        ]
        for each in measured
    ]
    heads = ["", "students", "seconds", "ms a notebook", "median, ms", "90th percentile",
             "slowest", "the grader's peak memory, MB"]  # fmt: skip
    return table(heads, rows)


def engine_text(measured: Measured) -> str:
    rows = [
        [each["what"], f"{1000 * each['other']:.2f}", f"{1000 * each['ours']:.2f}",
         f"{each['ratio']:.2f}"]
        for each in measured["tasks"]
    ]  # fmt: skip
    heads = ["forward and backward pass", f"micrograd {measured['version']}, ms",
             "the reference engine, ms", "times as fast"]  # fmt: skip
    return f"Medians of {measured['rounds']} rounds:\n\n{table(heads, rows)}"


TEXTS: dict[str, Callable[[Measured], str]] = {
    "class": class_text,
    "large": large_text,
    "engine": engine_text,
}


# Plots.

INK, PAPER, FAINT = "#1f2328", "#ffffff", "#d0d4d9"
LINES = ["#0072b2", "#b35900", "#007a5a", "#8a3f8f"]
ON_DARK = dict(
    zip(
        [INK, PAPER, FAINT, *LINES],
        ["#e6e9ec", "#16181b", "#3c4147", "#56b4e9", "#f0a04b", "#4cc9a0", "#d48ad8"],
        strict=True,
    )
)
DARK = "".join(
    f'[style*="{kind}: {light}"] {{ {kind}: {dark} !important }}\n'
    for light, dark in ON_DARK.items()
    for kind in ("fill", "stroke")
)


def draw_class(path: Path, measured: Measured) -> None:
    """Plot each assignment's notebooks, from the fastest to the slowest."""

    def plot(axes: Any) -> None:
        for name, color in zip(measured["names"], LINES, strict=False):
            own = sorted(1000 * each[2] for each in measured["notebooks"] if each[0] == name)
            shares = [100 * (number + 1) / len(own) for number in range(len(own))]
            axes.plot(shares, own, ".-", color=color, label=name)
        axes.set(xlabel="share of the class (%)", ylabel="time for the notebook (ms)")
        axes.set(xlim=(0, 101), yscale="log")

    _draw(path, [plot])


def draw_large(path: Path, measured: Measured) -> None:
    """Plot how the largest class was graded: notebooks done, and the grader's memory, over time."""
    largest = max(measured, key=lambda each: len(each["each"]))
    times = [at for at, _, _ in largest["memory"]]

    def done(axes: Any) -> None:
        counts = [count for _, _, count in largest["memory"]]
        axes.plot(times, counts, color=LINES[0], label="notebooks graded")
        axes.set(ylabel="notebooks graded", ylim=(0, None), xlim=(0, None))

    def held(axes: Any) -> None:
        axes.plot(times, [held / 1e6 for _, held, _ in largest["memory"]], color=LINES[1],
                  label="the grader's memory")  # fmt: skip
        axes.set(xlabel="time (s)", ylabel="memory (MB)", ylim=(0, None), xlim=(0, None))

    _draw(path, [done, held])


def _draw(path: Path, plots: list[Callable[[Any], None]]) -> None:
    """Write plots below one another as SVG, readable on light and on dark pages."""
    import matplotlib
    from matplotlib.figure import Figure

    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": "performance",
        "font.family": "sans-serif",
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(6.4, 1.6 + 2.0 * len(plots)), facecolor=PAPER,
                        layout="constrained")  # fmt: skip
        for axes, plot in zip(figure.subplots(len(plots), squeeze=False)[:, 0], plots, strict=True):
            plot(axes)
            axes.set_facecolor(PAPER)
            axes.grid(color=FAINT, linewidth=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside upper left", ncols=4, frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    style = f"<style>@media (prefers-color-scheme: dark) {{\n{DARK}}}</style>"
    head, end, rest = path.read_text("utf-8").partition("<defs>")
    lines = f"{head}{style}\n {end}{rest}".splitlines()
    path.write_text("\n".join(line.rstrip() for line in lines) + "\n", "utf-8")


PLOTS: dict[str, tuple[str, str, Callable[[Path, Measured], None]]] = {
    "class": (
        "performance-class.svg",
        "Milliseconds a notebook against the share of the class, from the fastest to the slowest, "
        "one line for each assignment",
        draw_class,
    ),
    "large": (
        "performance-large.svg",
        "Notebooks graded, and below them the grader's memory, against the time",
        draw_large,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--to", type=Path, help="a folder that holds copies of both pages")
    to = parser.parse_args().to
    readme, page = COURSE / "README.md", COURSE / "docs" / "performance.md"
    if RESULTS.exists():
        known = json.loads(RESULTS.read_text("utf-8"))
        publish(known, to / readme.name if to else readme, to / page.name if to else page)


if __name__ == "__main__":
    main()
