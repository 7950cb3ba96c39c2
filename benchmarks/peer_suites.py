"""Runs published test suites of scalar autograd engines on this project's wrong engines.

    python benchmarks/peer_suites.py --page docs/audit.md

Each misconception about the engine itself becomes a whole engine with that one mistake. The
suites come from the package index by name, into a folder of their own, and are run as they are,
with the wrong engine in the place of the package's own. A suite catches an engine if a test fails
that passes on the right engine. Nothing fetched is kept in the clone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import types
from pathlib import Path

SUITES = {
    # package: (version, test files, module and name that the tests import the engine from)
    "micrograd": ("0.1.0", ["test/test_engine.py"], "micrograd.engine", "Value"),
    "propgrad": ("0.1.1", ["test/test_engine.py"], "propgrad.engine", "Value"),
    "lilgrad": ("0.6.0", [f"tests/test_day0{n}.py" for n in range(1, 6)], "micrograd", "Value"),
    "scalargrad": ("1.0.5", ["tests/test_core.py"], "scalargrad", "Scalar"),
}
NEEDS = ["torch==2.13.0", "pytest"]
ENGINE = {
    "value": ["node", "add", "mul", "pow", "neg_sub", "div", "reverse"],
    "backward": ["exp", "log", "tanh", "relu", "sigmoid", "topological_order", "backward"],
}
SECONDS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="write the table into this page")
    parser.add_argument("--folder", type=Path, help="where to fetch to; kept if it is given")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        run_inside(options.inside)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.folder or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        engines = wrong_engines()
        (folder / "engines.json").write_text(json.dumps(engines))
        python = fetch(folder)
        subprocess.run([python, __file__, "--inside", str(folder)], check=True)
        found = json.loads((folder / "found.json").read_text())
    text = table(engines, found)
    print(text)
    if options.page:
        from autograder.authoring.audit.report import write_block

        write_block(options.page, "peers", text)


def wrong_engines() -> dict[str, list[str]]:
    """The cells of the right engine under "", and of each wrong one under its mistake's id."""
    from autograder.course_folder.assignments import find_course, load_assignment

    course = find_course()
    notebooks = {name: load_assignment(course, name) for name in ENGINE}

    def cells(name: str = "", source: str = "") -> list[str]:
        kept = ["import math"]
        for notebook, exercises in ENGINE.items():
            solutions = notebooks[notebook].exercises
            kept += [source if each == name else solutions[each].solution for each in exercises]
        return kept

    engines = {"": cells()}
    for notebook, exercises in ENGINE.items():
        for exercise in exercises:
            for mistake in notebooks[notebook].exercises[exercise].mistakes:
                engines[mistake.id] = cells(exercise, mistake.source)
    return engines


def fetch(folder: Path) -> str:
    """Get the suites, and an interpreter that has what they need; returns its path."""
    for package, (version, *_) in SUITES.items():
        if not (folder / f"{package}-{version}").exists():
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            wanted = [f"{package}=={version}", "--no-binary", ":all:", "-d", str(folder)]
            subprocess.run([*pip, *wanted], check=True)
            with tarfile.open(folder / f"{package}-{version}.tar.gz") as archive:
                archive.extractall(folder, filter="data")
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *NEEDS], check=True)
    return str(python)


def table(engines: dict[str, list[str]], found: dict[str, dict[str, object]]) -> str:
    """The outcome as Markdown, with this project's own hidden tests in the last row."""
    total = len(engines) - 1
    lines = ["| suite | tests that fit | wrong engines caught |", "| --- | ---: | ---: |"]
    for package, result in found.items():
        caught, version = len(result["caught"]), SUITES[package][0]  # type: ignore[arg-type]
        lines.append(f"| {package} {version} | {result['tests']} | {caught} of {total} |")
    tests, caught = ours()
    lines.append(f"| the hidden tests of these exercises | {tests} | {caught} of {total} |")
    return "\n".join(lines)


def ours() -> tuple[int, int]:
    """How many hidden tests the same exercises have, and how many of the mistakes they catch."""
    from autograder.authoring.audit.cases import all_cases
    from autograder.authoring.audit.judging import Judge
    from autograder.course_folder.assignments import find_course, load_assignment

    course, tests, caught = find_course(), 0, 0
    with Judge(course, "peers") as judge:
        for name, exercises in ENGINE.items():
            for case in all_cases(course, load_assignment(course, name), "peers"):
                if case.kind == "mistake" and case.exercise in exercises:
                    caught += not all(passed for _, passed in judge.verdicts(case))
            tests += sum(judge.count_tests(name, exercise) for exercise in exercises)
    return tests, caught


# In the interpreter that has PyTorch and pytest, each run in a process of its own.


def run_inside(folder: Path) -> None:
    import pytest  # noqa: F401 (imported before the processes are forked)
    import torch  # noqa: F401

    engines = json.loads((folder / "engines.json").read_text())
    found = {}
    for package in SUITES:
        fitting = passing(folder, package, engines[""])
        caught = []
        for name, cells in engines.items():
            if name and not fitting <= passing(folder, package, cells):
                caught.append(name)
        found[package] = {"tests": len(fitting), "caught": caught}
        print(f"{package}: {len(caught)} of {len(engines) - 1}", file=sys.stderr, flush=True)
    (folder / "found.json").write_text(json.dumps(found))


def passing(folder: Path, package: str, cells: list[str]) -> set[str]:
    """Which of the suite's tests pass with this engine; those never reached do not."""
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        _run_suite(folder, package, cells, answer)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if os.waitpid(child, os.WNOHANG)[0]:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
    return set(json.loads(answer.read_text())) if answer.exists() else set()


def _run_suite(folder: Path, package: str, cells: list[str], answer: Path) -> None:
    import pytest

    version, files, module, name = SUITES[package]
    passed: list[str] = []

    class Listener:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.when == "call" and report.passed:
                passed.append(report.nodeid)

    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        scope: dict[str, object] = {"__name__": "engine"}
        for cell in cells:
            exec(cell, scope)
        for part in {module, module.partition(".")[0]}:
            sys.modules[part] = types.ModuleType(part)
        setattr(sys.modules[module], name, scope["Value"])
        root = folder / f"{package}-{version}"
        paths = [str(root / file) for file in files]
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        options = ["-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:unraisableexception"]
        where = ["--import-mode=importlib", "--rootdir", str(root), "-c", os.devnull]
        pytest.main([*options, *where, *paths], [Listener()])
        answer.write_text(json.dumps(passed))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
