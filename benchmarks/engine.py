"""The reference engine beside micrograd, in turns within one process.

    python benchmarks/engine.py [--rounds 30] [--only-print]

micrograd comes from the package index by name, into an environment of its own that has nothing
else. Both engines compute the same expressions, which are written once, from the operations that
both have; gradients have to agree. In each round each engine does each task once, and who comes
first changes from round to round. Garbage is collected as Python does it of itself: micrograd's
graphs hold cycles, and what it takes to find these counts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

VERSION = "0.1.0"


def network(value: Any) -> list[Any]:
    """Twenty points through layers of 2, 16, 16 and 1 relu neurons, squared error, backward."""
    rng = random.Random(0)

    def layer(inputs: int, outputs: int) -> list[tuple[list[Any], Any]]:
        return [
            ([value(rng.uniform(-1, 1)) for _ in range(inputs)], value(0.0)) for _ in range(outputs)
        ]

    layers = [layer(2, 16), layer(16, 16), layer(16, 1)]
    loss = value(0.0)
    for _ in range(20):
        signals: list[Any] = [rng.uniform(-1, 1), rng.uniform(-1, 1)]
        for each in layers:
            signals = [
                sum((w * x for w, x in zip(weights, signals, strict=True)), bias).relu()
                for weights, bias in each
            ]
        loss = loss + (signals[0] - rng.choice([0.0, 1.0])) ** 2
    loss.backward()
    return [w for each in layers for weights, _ in each for w in weights]


def chain(value: Any) -> list[Any]:
    """A chain of 300 operations, no deeper than micrograd's recursion can go, backward."""
    start = value(0.5)
    end = start
    for _ in range(100):
        end = (end * 0.99 + start) / 1.01
    end.backward()
    return [start]


def shared(value: Any) -> list[Any]:
    """A sum of 100 squares, each of both leaves, in ten partial sums, backward."""
    a, b = value(1.5), value(-0.5)
    total = value(0.0)
    parts = [(a - b * number) ** 2 / 1000 for number in range(100)]
    for first in range(10):
        total = total + sum(parts[first::10], value(0.0))
    total.backward()
    return [a, b]


TASKS: dict[str, Callable[[Any], list[Any]]] = {
    "a network of 2, 16, 16 and 1 neurons on 20 points": network,
    "a chain of 300 operations": chain,
    "a sum of 100 squares of two leaves": shared,
}


def measure(rounds: int) -> Any:
    """In the environment that has micrograd: seconds for each task, medians over the rounds."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "grading_tests"))
    from micrograd.engine import Value as Other

    from reference import Value as Ours

    tasks = []
    for what, task in TASKS.items():
        grads = [[leaf.grad for leaf in task(engine)] for engine in (Other, Ours)]
        if not all(map(math.isclose, *grads)):
            raise SystemExit(f"{what}: the engines disagree")
        taken: dict[Any, list[float]] = {Other: [], Ours: []}
        for number in range(rounds):
            for engine in (Other, Ours) if number % 2 else (Ours, Other):
                started = time.perf_counter()
                task(engine)
                taken[engine].append(time.perf_counter() - started)
        ratio = statistics.median(map(lambda a, b: a / b, taken[Other], taken[Ours]))
        other, ours = map(statistics.median, taken.values())
        tasks.append({"what": what, "other": other, "ours": ours, "ratio": ratio})
    return {"version": VERSION, "rounds": rounds, "tasks": tasks}


def main() -> None:
    import figures

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only-print", action="store_true", help="write nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin" / "python"
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([python, *pip, f"micrograd=={VERSION}"], check=True)
        done = subprocess.run(
            [python, __file__, "--inside", str(options.rounds)],
            env={**os.environ, "PYTHONPATH": str(figures.COURSE)},
            check=True,
            stdout=subprocess.PIPE,
        )
    figures.tell("engine", json.loads(done.stdout), keep=not options.only_print)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        print(json.dumps(measure(int(sys.argv[2]))))
    else:
        main()
