"""Runs the hidden pytest suites: collected once, then run for one engine after another.

pytest finds the tests and their fixtures. The running is done here, in a twentieth of the time
that pytest's own hooks around each test take, and with every fixture made anew for each test.
"""

from __future__ import annotations

import inspect
import io
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from _pytest.config import Config, get_config
from _pytest.main import Session
from _pytest.outcomes import OutcomeException

from . import reference
from .assignments import CourseError
from .channels import LocalChannel
from .engines import Engine, StudentError
from .sandbox.bubblewrap import SandboxUnavailable
from .sandbox.conversations import Conversations
from .sandbox.inside import wire
from .sandbox.processes import OtherWords, StudentLost

_ITEM = 60
"""About how many bytes something that was seen takes, beside its text."""


class SuiteError(CourseError):
    """The grading tests themselves are broken. The message says which and how."""


@dataclass
class Verdict:
    """How one hidden test went for one engine.

    Attributes:
        test: the test's name.
        promise: what must hold, from the test's docstring, in words for the student.
        passed: true only if the test ran to its end and every assertion held.
        error: the exception that the code under test raised, if that is what ended the test.
        lost: "timeout", "out_of_memory" or "crashed" where the process was lost.
        seen: everything that the engine showed the test, in order.
    """

    test: str
    promise: str
    passed: bool = False
    error: str | None = None
    lost: str | None = None
    seen: list[Any] = field(default_factory=list)

    @property
    def size(self) -> int:
        """About how many bytes it takes to keep."""
        return sum(_ITEM + (len(each) if isinstance(each, str) else 0) for each in self.seen)


class _Fixtures:
    """The fixtures of grading tests, bound anew for each engine."""

    student: Engine | None = None
    seed: bytes = b""

    def __init__(self) -> None:
        self.refused: list[str] = []

    @pytest.fixture(name="student")
    def _student(self) -> Engine:
        assert self.student is not None
        return self.student

    @pytest.fixture(name="reference")
    def _reference(self) -> Engine:
        return Engine(LocalChannel(vars(reference)))

    @pytest.fixture(name="rng")
    def _rng(self, request: pytest.FixtureRequest) -> random.Random:
        name = request.node.nodeid.partition("::")[2]
        key = blake2b(name.encode(), key=self.seed[:64], digest_size=16)
        return random.Random(key.digest())

    @pytest.fixture(name="positive")
    def _positive(self, rng: random.Random) -> Callable[[], float]:
        return lambda: rng.uniform(1.2, 3.0)

    @pytest.fixture(name="number")
    def _number(self, rng: random.Random) -> Callable[[], float]:
        return lambda: rng.choice([-1, 1]) * rng.uniform(1.2, 3.0)

    def pytest_configure(self, config: Config) -> None:
        config.addinivalue_line("markers", "exercise(name): the exercise that a test grades")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.refused.append(report.longreprtext)


class Suite:
    """The collected tests of one assignment.

    Args:
        path: the test module, such as `grading_tests/test_value.py`.
    """

    def __init__(self, path: Path) -> None:
        self._fixtures = _Fixtures()
        self._conversations = Conversations()
        with _quiet(), _environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"):
            self._config = _configured(path, self._fixtures)
            self._session = Session.from_config(self._config)
            self._config.hook.pytest_sessionstart(session=self._session)
            try:
                self._config.hook.pytest_collection(session=self._session)
            except pytest.UsageError as error:
                raise SuiteError(f"{path}: {error}") from error
            finally:
                # Another course's tests of the same name must not be taken for these.
                sys.modules.pop(path.stem, None)
        if self._session.testsfailed or not self._session.items:
            why = "\n".join(self._fixtures.refused) or "there are none in it"
            raise SuiteError(f"{path}: the tests cannot be collected\n{why}")
        self._tests: dict[str, list[_Test]] = {}
        for item in self._session.items:
            marker = item.get_closest_marker("exercise")
            if not isinstance(item, pytest.Function):
                raise SuiteError(f"{path}: {item.name} is not a test function")
            if marker is None:
                raise SuiteError(f"{path}: {item.name} names no exercise")
            self._tests.setdefault(marker.args[0], []).append(_Test(item))

    @property
    def exercises(self) -> list[str]:
        return list(self._tests)

    def close(self) -> None:
        with _quiet():
            self._config.hook.pytest_sessionfinish(session=self._session, exitstatus=0)
            self._config._ensure_unconfigure()

    def __enter__(self) -> Suite:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def promises(self, exercise: str) -> list[Verdict]:
        """The verdicts of tests that were not run: none passed."""
        return [Verdict(test.name, test.promise) for test in self._tests.get(exercise, [])]

    def run(self, exercise: str, engine: Callable[[], Engine], seed: bytes) -> Iterator[Verdict]:
        """Run the exercise's tests in order, each on `engine()`, and give each one's verdict.

        Args:
            exercise: the exercise's id.
            engine: called for each test; may give a new engine where the last one was lost.
            seed: 1 to 64 bytes that the tests' random numbers are drawn from.
        """
        for test in self._tests.get(exercise, []):
            yield self._run_one(test, engine, seed)

    def _run_one(self, test: _Test, engine: Callable[[], Engine], seed: bytes) -> Verdict:
        for follows in (True, False):
            try:
                student = engine()
                topic = (test.id, seed, student.lent)
                known = student.follow(self._conversations.about(topic)) if follows else None
            except StudentLost as lost:
                return Verdict(test.name, test.promise, lost=lost.reason)
            if isinstance(known, Verdict):
                return known
            with suppress(OtherWords):
                verdict = self._lead(test, student, seed)
                if student.said is not None and verdict.lost is None:
                    self._conversations.learn(topic, student.said, verdict, verdict.size)
                return verdict
        raise AssertionError("a conversation that follows none goes its own way")

    def _lead(self, test: _Test, student: Engine, seed: bytes) -> Verdict:
        verdict = Verdict(test.name, test.promise)
        self._fixtures.student, self._fixtures.seed = student, seed
        student.seen = verdict.seen
        try:
            test.run()
            verdict.passed = True
        except (SandboxUnavailable, OtherWords):
            raise
        except StudentLost as lost:
            verdict.lost = lost.reason
        except wire.WireError:
            verdict.lost = "crashed"
        except StudentError as error:
            verdict.error = error.kind
        except (Exception, OutcomeException):
            pass  # An assertion, or whatever else ended the test: it did not pass.
        finally:
            self._fixtures.student = None
            student.forget()
        return verdict


class _Test:
    """A collected test, and what is to be known of it and of its fixtures to run it."""

    def __init__(self, item: pytest.Function) -> None:
        self.id = item.nodeid
        self.name = item.name
        self.promise = " ".join((item.function.__doc__ or item.name).split())
        self._owner = item.cls
        self._function = item.obj
        self._given: dict[str, Any] = {"request": item._request}
        if hasattr(item, "callspec"):
            self._given |= item.callspec.params
        about = item._fixtureinfo
        self._arguments = about.argnames
        self._all = about.names_closure
        self._fixtures = {
            name: (found[-1].func, found[-1].argnames, inspect.isgeneratorfunction(found[-1].func))
            for name, found in about.name2fixturedefs.items()
        }

    def run(self) -> None:
        """Run the test with its fixtures, and end those that yield."""
        instance = self._owner() if self._owner else None
        values = dict(self._given)

        with ExitStack() as ends:

            def value(name: str) -> Any:
                if name not in values:
                    function, needed, yields = self._fixtures[name]
                    function = _bound(function, instance)
                    arguments = {each: value(each) for each in needed}
                    if yields:
                        values[name] = ends.enter_context(contextmanager(function)(**arguments))
                    else:
                        values[name] = function(**arguments)
                return values[name]

            for name in self._all:
                value(name)
            arguments = {name: values[name] for name in self._arguments}
            _bound(self._function, instance)(**arguments)


def _bound(function: Callable[..., Any], instance: Any) -> Callable[..., Any]:
    """The function, as a method of this very instance if it is one of its class."""
    owner = getattr(function, "__self__", None)
    if instance is None or not isinstance(instance, type(owner)):
        return function
    method: Callable[..., Any] = function.__func__.__get__(instance)  # type: ignore[attr-defined]
    return method


def _configured(path: Path, fixtures: _Fixtures) -> Config:
    arguments = [
        str(path), "-q", "--import-mode=importlib", "--rootdir", str(path.parent),
        "-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:faulthandler",
        "-p", "no:logging", "-p", "no:doctest", "-p", "no:unraisableexception",
        "-p", "no:threadexception", "-p", "no:stepwise", "-p", "no:junitxml", "-p", "no:pastebin",
        "-p", "no:capture", "-p", "no:warnings", "--assert=plain",
    ]  # fmt: skip
    config = get_config(arguments)
    config.pluginmanager.register(fixtures, "grading-fixtures")
    parsed: Config = config.pluginmanager.hook.pytest_cmdline_parse(
        pluginmanager=config.pluginmanager, args=arguments
    )
    parsed._do_configure()
    return parsed


@contextmanager
def _quiet() -> Iterator[None]:
    printed = io.StringIO()
    # pytest writes bytecode beside the tests; leave their folder as it is.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            yield
    finally:
        sys.dont_write_bytecode = before


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
