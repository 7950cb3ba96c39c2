"""What the benchmarks share: tables of figures, and where they come from."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

from autograder.audit.report import write_block

P = ParamSpec("P")
T = TypeVar("T")

CORES = len(os.sched_getaffinity(0))


def machine() -> str:
    """What ran a benchmark, in words."""
    return f"{CORES} {'core' if CORES == 1 else 'cores'}, Python {platform.python_version()}"


def command() -> str:
    """The command that this benchmark was started with."""
    return shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])


def alone(measure: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """What a function gives in a fresh process.

    What graded another assignment before is slower by a third, wall or no wall.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as pool:
        return pool.submit(measure, *given, **named).result()


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its first column text and the others numbers."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--page", type=Path, help="write the figures into this page as well")


def tell(
    name: str, text: str, page: Path | None, made: str | None = None, on: str | None = None
) -> None:
    """Print a table and what it was made with, and put both between a page's markers of that name.

    Args:
        name: of the markers.
        text: the table and what there is to say of it.
        page: where to; if None, the table is only printed.
        made: the command that measured it, where it was not this one.
        on: the machine that it was measured on, then.
    """
    text = f"{text}\n\nBy `{made or command()}`, on {on or machine()}."
    print(text, flush=True)
    if page:
        write_block(page, name, text)
