"""Runs the hidden pytest suites: collected once, then run for one student after another.

pytest collects the tests, sets up their fixtures and runs them; each test gets new fixtures. The
hooks with which pytest reports on a test are not called. A suite that uses a feature of pytest that
is not supported here, such as `unittest.TestCase`, is refused when it is loaded, with a message
that names the feature.
"""

from __future__ import annotations

import inspect
import io
import linecache
import marshal
import os
import random
import re
import sys
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook
from _pytest.config import Config, get_config
from _pytest.fixtures import FixtureLookupError
from _pytest.main import Session
from _pytest.outcomes import OutcomeException
from _pytest.skipping import evaluate_skip_marks, evaluate_xfail_marks

from ..course_folder.modules import importable
from ..errors import (
    AuthorError,
    SandboxUnavailable,
    StudentError,
    StudentProcessDied,
    SuiteError,
)
from ..records import Status, Verdict
from ..sandbox.guest import protocol
from ..sandbox.proxies import Student
from ..sandbox.targets import Target
from .plain_python import PlainPython

_OF_THIS_PROCESS = {"cache", "capfd", "capfdbinary", "caplog", "capsys", "capsysbinary",
                    "monkeypatch", "recwarn", "tmp_path", "tmp_path_factory", "tmpdir"}  # fmt: skip
_KINDS = ("extra", "broad", "essential")
_MARKS = {"exercise", *_KINDS, "parametrize", "usefixtures", "skip", "skipif", "xfail"}
_NONE = 'there are none in it: write one for each exercise, under `@exercise("…")` with its name'
_ABOUT_ANSWERS = (ArithmeticError, LookupError, ValueError)
_RAISES = pytest.raises
_ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
"""Environment variables that keep this machine's pytest settings away from hidden tests."""


class _Fixtures:
    """Fixtures that every course's hidden tests have."""

    student: Student | None = None
    seed: bytes = b""
    test: str = ""

    def __init__(self) -> None:
        self.refused: list[str] = []

    @pytest.fixture(name="student")
    def _student(self) -> Student:
        assert self.student is not None
        return self.student

    @pytest.fixture(name="rng")
    def _rng(self) -> random.Random:
        return self.drawn(self.test)

    def drawn(self, use: str) -> random.Random:
        """Return a random number generator for a purpose, such as a test's name; its seed is made
        from the purpose and the submission's seed."""
        key = blake2b(use.encode(), key=self.seed[:64], digest_size=16)
        return random.Random(key.digest())

    def pytest_configure(self, config: Config) -> None:
        config.addinivalue_line("markers", "exercise(name): the exercise that a test grades")
        config.addinivalue_line("markers", "extra: the test is of an exercise's extra part")
        config.addinivalue_line("markers", "broad: the test is of many things at once")
        config.addinivalue_line("markers", "essential: without it at most half of the points count")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.refused.append(report.longreprtext)


class Suite:
    """The collected hidden tests of one assignment. A context manager that closes them.

    Args:
        path: the test module, such as `grading_tests/test_value.py`. The tests can import modules
            beside it; the remote helper modules are in the folder `remote` beside it.
        core_only: whether tests of extra parts are left out.

    Attributes:
        helpers: the compiled remote helper modules, by name.
        skipped: by exercise, the names and reasons of the tests marked with `skip` or `xfail`.
            These tests are not run and count for nothing.
    """

    def __init__(self, path: Path, core_only: bool = False) -> None:
        self._path = path
        self._core_only = core_only
        self._fixtures = _Fixtures()
        self.helpers = _read_helpers(path.parent / "remote")
        self._tests: dict[str, list[pytest.Function]] = {}
        self.skipped: dict[str, list[str]] = {}
        with _quiet(), patch.dict(os.environ, _ENVIRONMENT), _importable(path.parent):
            self._config = _configured(path, self._fixtures)
            self._session = Session.from_config(self._config)
            self._config.hook.pytest_sessionstart(session=self._session)
            try:
                self._config.hook.pytest_collection(session=self._session)
            except pytest.UsageError as error:
                raise SuiteError(f"{path}: {error}") from error
        if self._session.testsfailed or not self._session.items:
            why = "\n".join(self._fixtures.refused) or _NONE
            raise SuiteError(f"{path}: the tests cannot be collected\n{why}")
        self._refuse_hooks()
        for item in self._session.items:
            self._add(item)

    def _refuse_hooks(self) -> None:
        for plugin in self._config.pluginmanager.get_plugins():
            file = getattr(plugin, "__file__", None)
            if file and Path(file).is_relative_to(self._path.parent):
                for name in vars(plugin):
                    if name.startswith(("pytest_runtest_", "pytest_report", "pytest_terminal")):
                        raise SuiteError(
                            f"{file}: the hook {name} is not called here. Use a fixture instead."
                        )

    def _add(self, item: pytest.Item) -> None:
        where = f"{self._path}: {item.name}"
        if type(item) is not pytest.Function:
            raise SuiteError(
                f"{where} is a {type(item).__name__}, which is not run here: make it a function, "
                "or a method of a class without a context"
            )
        if inspect.iscoroutinefunction(item.function):
            raise SuiteError(f"{where} is a coroutine, which is not run here: make it a function")
        exercise = item.get_closest_marker("exercise")
        if exercise is None or not exercise.args:
            raise SuiteError(
                f'{where} names no exercise: write `@exercise("…")` before it, or before its class'
            )
        for mark in item.iter_markers():
            if mark.name not in _MARKS:
                raise SuiteError(f"{where}: the mark {mark.name} does nothing here: delete it")
        for fixture in _OF_THIS_PROCESS.intersection(item.fixturenames):
            raise SuiteError(
                f"{where} asks for {fixture}, which has no hold on a student's process: do it "
                "there, in a helper module"
            )
        if self._core_only and item.get_closest_marker("extra"):
            return
        name = exercise.args[0]
        tests = self._tests.setdefault(name, [])
        skip, xfail = evaluate_skip_marks(item), evaluate_xfail_marks(item)
        if skip is None and xfail is None:
            tests.append(item)
        else:
            reason = skip.reason if skip else xfail.reason if xfail else ""
            self.skipped.setdefault(name, []).append(f"{item.name} ({reason or 'no reason given'})")

    @property
    def exercises(self) -> list[str]:
        return list(self._tests)

    @property
    def without_docstring(self) -> list[str]:
        """The names of the tests that have no docstring, which is the criterion that a student
        reads."""
        items = (item for tests in self._tests.values() for item in tests)
        return [item.name for item in items if not item.function.__doc__]

    def without_tests(self, exercise: str) -> str:
        """Return the reason why an exercise has no test to run, and advice for the author.

        The text continues a message that begins with "the hidden test".
        """
        if skipped := self.skipped.get(exercise):
            return f"of {exercise} is skipped: {', '.join(skipped)}"
        remedy = f'write one in {self._path.name} under `@exercise("{exercise}")`'
        return f"of {exercise} is missing: {remedy}"

    def close(self) -> None:
        with _quiet():
            self._config.hook.pytest_sessionfinish(session=self._session, exitstatus=0)
            self._config._ensure_unconfigure()

    def __enter__(self) -> Suite:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def criteria(self, exercise: str) -> list[Verdict]:
        """Return a verdict for each test of the exercise, as if none had run: with its criterion,
        and not passed."""
        return [_unrun(item) for item in self._tests.get(exercise, [])]

    def run(
        self,
        exercise: str,
        target: Callable[[str], Target],
        seed: bytes,
        only: Collection[str] | None = None,
    ) -> Iterator[Verdict]:
        """Run the exercise's tests in order, and yield the verdict of each.

        Args:
            target: a function that gets the name of a test and returns the target on which to run
                it: the same one each time, or a new one if the last process ended.
            seed: the seed of the tests' random numbers, 1 to 64 bytes.
            only: the names of the tests to run; by default all.
        """
        for item in self._tests.get(exercise, []):
            if only is None or item.name in only:
                yield self._run_one(item, target, seed)

    def run_test(self, exercise: str, test: str, target: Target, seed: bytes) -> Verdict:
        """Run a single test of an exercise. If the test does not pass, its verdict names the line
        at which it ended."""
        item = next(each for each in self._tests[exercise] if each.name == test)
        return self._run_one(item, lambda _: target, seed, has_line=True)

    def _run_one(
        self,
        item: pytest.Function,
        target: Callable[[str], Target],
        seed: bytes,
        has_line: bool = False,
    ) -> Verdict:
        verdict = _unrun(item)
        try:
            student = Student(target(item.name), self.helpers)
            student.seen = verdict.seen
            self._fixtures.student, self._fixtures.seed = student, seed
            self._fixtures.test = item.nodeid.partition("::")[2]
            _run_item(item, student, self._fixtures.drawn(f"{item.nodeid}, a product"))
            verdict.passed = True
        except SandboxUnavailable:
            raise
        except StudentProcessDied as lost:
            verdict.lost = lost.reason
        except protocol.ProtocolError:
            verdict.lost = Status.UNREADABLE
        except (StudentError, AssertionError, MemoryError, RecursionError) as error:
            # The test did not pass. A reply that is large may cause a MemoryError in this process,
            # and one that is deeply nested a RecursionError.
            if isinstance(error, StudentError) and error.is_remote:
                verdict.raised = error.kind
            verdict.line = _line(error, self._path.parent) if has_line else ""
        except (Exception, OutcomeException) as error:
            if type(error) is pytest.fail.Exception:
                return verdict
            verdict.broken = _traceback(error, self._path.parent)
            is_missing = isinstance(error, FixtureLookupError)
            verdict.blames_test = is_missing or not isinstance(error, _ABOUT_ANSWERS)
        finally:
            self._fixtures.student = None
        return verdict


def _unrun(item: pytest.Function) -> Verdict:
    """Return the verdict of a test that has not run: not passed, with its docstring as criterion.

    Without a docstring, the criterion is the name of the test function in words, without the
    test's parameters, which may be hidden numbers. `{name}` in a docstring is replaced by the value
    of the parameter NAME, or else of the test class's attribute NAME.
    """
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    name_in_words = item.originalname.removeprefix("test").replace("_", " ")
    words = " ".join((item.function.__doc__ or name_in_words).split())

    def filled(found: re.Match[str]) -> str:
        name = found[1]
        return str(parameters.get(name, getattr(item.cls, name, found[0])))

    extra, broad, essential = (item.get_closest_marker(kind) is not None for kind in _KINDS)
    criterion = re.sub(r"\{(\w+)\}", filled, words)
    return Verdict(item.name, criterion, extra=extra, broad=broad, essential=essential)


def _run_item(item: pytest.Function, student: Student, rng: random.Random) -> None:
    """Set up, run and tear down a test as pytest does, with an instance and fixtures of its own.

    All steps of the test are performed before it ends. The first step multiplies two random
    numbers, and the product is compared at the end, so that no test passes on a process that makes
    up its replies.
    """
    left, right = rng.uniform(1, 2), rng.uniform(1, 2)
    product = student._step("mul", left, right)
    state = item.session._setupstate
    vars(item).pop("_instance", None)
    vars(item).pop("_obj", None)
    item._initrequest()
    try:
        with _raises_of_steps(student):
            state.setup(item)
            item.runtest()
            student.finish()
    except BaseException:
        # The first error decides the verdict. Steps that the teardown of fixtures has queued are
        # still performed, and errors in the teardown are ignored.
        waiting = len(student._queue)
        with suppress(Exception, OutcomeException):
            state.teardown_exact(None)
        if len(student._queue) > waiting:
            with suppress(Exception):
                student.finish()
        raise
    state.teardown_exact(None)
    student.finish()
    assert product._proxy_.value == left * right


@contextmanager
def _raises_of_steps(student: Student) -> Iterator[None]:
    """Make `pytest.raises` perform the queued steps twice: before its block is entered, so that
    earlier errors are not caught, and at the block's end, so that errors of its steps are."""
    before = pytest.raises

    @contextmanager
    def block(expected: Any, **options: Any) -> Iterator[Any]:
        kinds = expected if isinstance(expected, tuple) else (expected,)
        student.finish()
        classes = (kind for kind in kinds if isinstance(kind, type))
        with _RAISES((StudentError, *classes), **options) as raised:
            yield raised
            student.finish()
        if isinstance(raised.value, StudentError) and not student.has_raised(raised.value, *kinds):
            raise raised.value

    def raises(expected: Any, *call: Any, **options: Any) -> Any:
        if options.get("match") is not None:
            raise AuthorError(
                "the text of a student's error does not come by itself: leave `match` out, and "
                "compare str(student.error(function, …)) with the text that it must be"
            )
        if not call:
            return block(expected, **options)
        with block(expected) as raised:
            call[0](*call[1:], **options)
        return raised

    setattr(pytest, "raises", raises)  # noqa: B010 (its type is a set of overloads)
    try:
        yield
    finally:
        setattr(pytest, "raises", before)  # noqa: B010


def _line(error: BaseException, folder: Path) -> str:
    """Return the innermost line in an error's traceback that is in a file of `folder`, with the
    file's name and the line's number; "" if there is none."""
    found, trace = "", error.__traceback__
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.is_relative_to(folder):
            text = linecache.getline(str(path), trace.tb_lineno).strip()
            found = f"{path.name}, line {trace.tb_lineno}: {text}"
        trace = trace.tb_next
    return found


def _traceback(error: BaseException, folder: Path) -> str:
    """Return an error of a test as text for its author: the traceback from the first line in
    `folder` on, or a sentence."""
    if isinstance(error, FixtureLookupError):
        return f"fixture {error.argname!r} not found"
    if isinstance(error, OutcomeException):
        name = type(error).__name__
        return f"{name}: {error}. Whether a test counts cannot depend on an answer: mark it instead"
    trace = error.__traceback__
    while trace and not Path(trace.tb_frame.f_code.co_filename).is_relative_to(folder):
        trace = trace.tb_next
    lines = traceback.format_exception(type(error), error, trace or error.__traceback__)
    text = "".join(lines).strip()
    if "Proxy" in str(error):
        text += (
            "\nWhat came from the student is a proxy, which this cannot take: write "
            "plain(answer), str(answer), float(answer) or list(answer)."
        )
    return text


def _read_helpers(folder: Path) -> dict[str, bytes]:
    """Return the remote helper modules by name: compiled, and serialized by `marshal`.

    Raises `SuiteError` if a module has a syntax error, or if the folder has its former name.
    """
    former = folder.with_name("inside")
    if former.is_dir() and not folder.is_dir():
        raise SuiteError(f"{former} is called remote now: rename it, and write student.remote")
    helpers = {}
    for path in sorted(folder.glob("*.py")):
        name = path.stem
        try:
            code = compile(path.read_text("utf-8"), f"<{name}>", "exec", dont_inherit=True)
        except SyntaxError as error:
            raise SuiteError(f"{folder}/{name}.py: line {error.lineno}: {error.msg}") from error
        helpers[name] = marshal.dumps(code)
    return helpers


def _configured(path: Path, fixtures: _Fixtures) -> Config:
    arguments = [
        str(path), "-q", "--import-mode=importlib", "--rootdir", str(path.parent),
        "--confcutdir", str(path.parent), "-c", os.devnull,
        "-p", "no:cacheprovider", "-p", "no:faulthandler",
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
def _importable(folder: Path) -> Iterator[None]:
    """Make the modules in `folder` importable, compiled by `PlainPython`."""
    # If the grader itself is under test, the pytest that tests it would rewrite the assertions of
    # the hidden tests.
    others = [each for each in sys.meta_path if not isinstance(each, AssertionRewritingHook)]
    finders, sys.meta_path[:] = sys.meta_path[:], [PlainPython(folder), *others]
    try:
        with importable(folder):
            yield
    finally:
        sys.meta_path[:] = finders


@contextmanager
def _quiet() -> Iterator[None]:
    printed = io.StringIO()
    # pytest would write bytecode into the folder of the tests.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            yield
    finally:
        sys.dont_write_bytecode = before
