"""Values of certain types cross the sandbox boundary unchanged, and invalid values are refused."""

from __future__ import annotations

import datetime as dt
import math
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from replies import Says
from suites import here

from autograder.errors import AuthorError
from autograder.sandbox.guest import protocol
from autograder.sandbox.proxies import Student
from autograder.sandbox.targets import RemoteTarget
from autograder.testing import close, is_object, plain

CELL = """
import datetime as dt
import math
import numpy as np
from decimal import Decimal
from fractions import Fraction

def made(expression):
    return eval(expression)

def same(value, expression):
    return repr(value) == repr(eval(expression))

kept = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

def grow(array):
    array += 1
"""
EXACT = [
    "1j", "complex(-0.0, math.inf)", "Fraction(-3, 4)", "Decimal('1.50')", "Decimal('-1E+30')",
    "dt.date(2024, 2, 29)", "dt.time(23, 59, 1, 5)", "dt.time(tzinfo=dt.timezone.utc)",
    "dt.datetime(2024, 2, 29, 23, 59)", "dt.timedelta(days=-1, microseconds=1)", "range(9, 0, -2)",
    "range(5000)", "frozenset({1, (2, 3)})", "bytearray(b'ab')", "[Fraction(1, 2), {1j: b'x'}]",
    "np.array([[1.5, -2.0], [3.0, math.inf]])", "np.array([True, False])",
    "np.zeros((0, 3), dtype='f4')", "np.array([1j])", "np.arange(5000)", "np.arange(6)[::2]",
    "(np.arange(6).reshape(2, 3).T, 'x')", "{Fraction(1, 10**30), 2**60}",
    "math.factorial(1000)", "[-(2**13_999)]",
]  # fmt: skip
"""Expressions whose values are the same on both sides of the sandbox boundary."""
OTHERWISE = [
    "dt.time(tzinfo=dt.timezone(dt.timedelta(0), 'here'))", "dt.datetime(2024, 1, 1, fold=1)",
    "Decimal('sNaN')", "Decimal('1E+1000')", "range(10**18)", "type('H', (Fraction,), {})(1, 2)",
    "np.array(['a'])", "np.array([1], dtype='>i4')", "np.ma.array([1])", "np.zeros(10**6)",
    "np.array([None])",
]  # fmt: skip
"""Expressions whose values cannot be sent unchanged, or are too large."""


@pytest.fixture(scope="module")
def process(server):
    with server.spawn(1) as process:
        assert process.request({"cell": CELL}, 10)["error"] is None
        yield process


@pytest.fixture(params=["here", "in the sandbox"])
def student(request, process) -> Student:
    if request.param == "in the sandbox":
        return Student(RemoteTarget(process))
    return here(CELL)


def value_of(expression: str) -> Any:
    return eval(expression, {"dt": dt, "math": math, "np": np, **globals()})


@pytest.mark.parametrize("expression", EXACT)
def test_values_are_sent_unchanged_in_both_directions(student, expression):
    expected = value_of(expression)
    found = student.made(expression)
    assert repr(plain(found)) == repr(expected)
    assert found == expected
    assert expected == found
    assert type(plain(found)) is type(expected)
    assert isinstance(found, type(expected))
    assert student.same(expected, expression)
    assert not [each for each in student.seen if not isinstance(each, str | int | float | complex
                | bytes | bytearray | Fraction | Decimal | dt.date | dt.time | dt.timedelta
                | range)]  # fmt: skip


@pytest.mark.parametrize("expression", OTHERWISE)
def test_values_that_cannot_be_sent_unchanged_are_compared_as_objects(student, expression):
    found = student.made(expression)
    assert is_object(found)
    assert found != value_of(expression)
    assert student.same(found, expression)
    with pytest.raises((AuthorError, ValueError), match=r"cannot be sent|to be sent"):
        student.same(value_of(expression), expression)


def test_values_of_different_types_are_unequal(student):
    for one, other in [("Fraction(1, 3)", "1 / 3"), ("range(3)", "[0, 1, 2]"),
                       ("np.array([1.0, 2.0])", "[1.0, 2.0]"), ("np.array([1])", "np.array([[1]])"),
                       ("np.array([True])", "np.array([1])"), ("bytearray(b'a')", "'a'"),
                       ("np.array([math.nan])", "np.array([math.nan])")]:  # fmt: skip
        assert student.made(one) != value_of(other) != student.made(one)
    assert student.made("frozenset({1})") == {1}
    assert not isinstance(student.made("frozenset({1})"), set)


def test_arithmetic_on_values_gives_the_results_of_python(student):
    half, day = student.made("Fraction(1, 2)"), student.made("dt.date(2024, 2, 28)")
    assert half + half / 3 == Fraction(2, 3)
    assert half**-2 == 4
    assert half < Fraction(2, 3)
    assert student.made("1j") ** 2 == -1
    assert abs(student.made("3 + 4j")) == 5
    assert student.made("Decimal('0.1')") * 3 == Decimal("0.3")
    assert day + dt.timedelta(2) == dt.date(2024, 3, 1)
    assert (day - day).days == 0
    assert day.year == 2024
    assert [each.month for each in student.made("[dt.date(1, 2, 3)]")] == [2]
    assert student.made("frozenset({1, 2})") | {3} == {1, 2, 3}
    assert 2 in student.made("range(3)")
    assert [plain(each) for each in student.made("range(0, 9, 4)")] == [0, 4, 8]
    for fails, kind in [(lambda: half / 0, "ZeroDivisionError"), (lambda: half + "x", "TypeError"),
                        (lambda: student.made("Decimal('NaN')") < 1, "ArithmeticError"),
                        (lambda: student.made("Decimal(1)") / 0, "ZeroDivisionError"),
                        (lambda: student.made("1j") < 1, "TypeError")]:  # fmt: skip
        assert student.error_of(fails) == kind


def test_close_compares_numbers_of_every_type_and_arrays(student):
    assert student.made("Fraction(1, 3)") == close(1 / 3)
    assert student.made("Decimal('0.1') * 3") == close(0.1 * 3)
    assert student.made("(1 + 1e-12) * 1j") == close(1j)
    assert student.made("1j") != close(1.0)
    assert student.made("kept / 3") == close(np.array([[1, 2, 3], [4, 5, 6]]) / 3)
    assert student.made("kept") != close(np.arange(6.0))
    assert student.made("kept") != close([1.0])
    assert student.made("[1.0]") != close(np.ones(1))
    assert student.made("dt.timedelta(1)") != close(1)


def test_an_array_without_dimensions_is_sent_as_a_number(student):
    for value in (7, 2.5, True, 1j):
        found = student.made(f"np.array({value})")
        assert found == value
        assert type(plain(found)) is type(value)


def test_an_array_is_used_as_in_numpy(student):
    found = student["kept"]
    assert found.shape == (2, 3)
    assert found.sum() == 21.0
    assert len(found) == 2
    assert found[0, 1] == 2.0
    assert found[1][2] == 6.0
    assert found[:, 1] == np.array([2.0, 5.0])
    assert found[..., 0] == np.array([1.0, 4.0])
    assert found[1:] == np.array([[4.0, 5.0, 6.0]])
    assert [row == np.array([1.0, 2.0, 3.0]) for row in found] == [True, False]
    assert [plain(each) for each in found[0]] == [1.0, 2.0, 3.0]
    assert 2.0 in found[0]
    assert np.allclose(found, np.arange(1, 7).reshape(2, 3))
    assert abs(found - 1).max() == 5.0
    assert (found < 3).sum() == 2
    assert found @ np.ones(3) == np.array([6.0, 15.0])
    assert (found - 1).shape == (2, 3)
    assert (found - 1)[0, 2] == 2.0
    assert (found - 1).max() == close(5)
    assert student.error_of(lambda: (found - 1).nothing) == "AttributeError"
    assert student.error_of(lambda: (found - 1)[9]) == "IndexError"
    assert np.abs(found).mean() == 3.5
    assert plain(found).dtype == np.float64
    for fails in (lambda: bool(found), lambda: found + np.ones(7)):
        assert student.error_of(fails) == "ValueError"
    for fails in (lambda: found[:, 7], lambda: found[9]):
        assert student.error_of(fails) == "IndexError"


def test_an_array_that_was_changed_is_read_with_its_new_items(student):
    given = student.remote.builtins.getattr(student.np, "zeros")(3)
    assert given == np.zeros(3)
    student.grow(given)
    assert given == np.ones(3)
    given[0] = 5.0
    assert given == np.array([5.0, 1.0, 1.0])
    for row in student["kept"]:
        student.grow(row)
    assert student["kept"][0] == np.array([2.0, 3.0, 4.0])


def test_numbers_of_a_hidden_test_are_not_sent_for_arithmetic_with_arrays(student):
    sent: list[Any] = []
    perform = student._target.perform
    student._target.perform = lambda request: sent.append(request) or perform(request)
    assert (student["kept"] - 0.15625 > 0).any()
    assert (student["kept"] * 0.15625).max() != 2
    assert (student["kept"] + 0.15625)[0][0] > 1
    assert (0.15625 - student["kept"]).sum() < 0
    student.finish()
    assert "15625" not in str(sent)
    assert np.array([0.15625]).tobytes().hex() not in str(sent)


def test_operations_on_huge_answers_take_little_time(student):
    """Whatever operators and functions a test uses on them."""
    started = time.thread_time()
    one, two, three = [student.made(f"np.ones({shape})") for shape in
                       ((900, 1, 1), (1, 900, 1), (1, 1, 900))]  # fmt: skip
    large, huge = student.made("Fraction(2**3000, 3)"), student.made("Decimal('9E+999')")
    rows, columns = plain(student.made("np.ones((9000, 0))")), student.made("np.ones((0, 900))")
    tall, wide = plain(student.made("np.ones((9000, 1, 0))")), student.made("np.ones((1, 900, 0))")
    for explode in (lambda: plain(one + two) + three, lambda: rows @ columns, lambda: tall + wide,
                    lambda: large**large, lambda: 2**large, lambda: huge**huge,
                    lambda: plain(student.made("2**4000")) ** student.made("Fraction(99999, 1)"),
                    lambda: student.made("dt.timedelta(1)") * 10**300, lambda: large**9,
                    lambda: student.made("bytearray(99)") * 10**9):  # fmt: skip
        with student.raises(ArithmeticError, TypeError):
            plain(explode())
    assert time.thread_time() - started < 10


MALFORMED = [
    {"complex": "1"}, {"complex": " 1j"}, {"complex": "1_0j"}, {"complex": 1.0},
    {"complex": "nanj("},
    {"fraction": "2/4"}, {"fraction": "1e999999999"}, {"fraction": "1/0"}, {"fraction": "9" * 5000},
    {"fraction": "1/3 "}, {"fraction": "\u0661"}, {"fraction": ["1"]}, {"fraction": "0.5"},
    {"decimal": "1E+999999999"}, {"decimal": "sNaN"}, {"decimal": "NaN1"}, {"decimal": "1e5"},
    {"decimal": "1_0"}, {"decimal": "+1"}, {"date": "2024-02-30"}, {"date": "20240229"},
    {"date": "2024-W01-1"}, {"date": "0000-01-01"}, {"date": 0.5}, {"time": "24:00:00"},
    {"time": "10:00"}, {"time": "10:00:00+99:00"}, {"time": "10:00:00.5"}, {"time": "10:00:00Z"},
    {"datetime": "2024-02-29 10:00:00"}, {"datetime": "2024-02-29"}, {"timedelta": "1.5"},
    {"timedelta": "9" * 20}, {"timedelta": "+1"}, {"timedelta": "-0"}, {"range": "1 2"},
    {"range": "1 2 0"}, {"range": "0 999999999999999 1"}, {"range": "0 1 1 1"},
    {"range": "0 200001 1"},
    {"bytearray": "0"}, {"bytearray": [1]}, {"frozenset": [{"bytearray": "61"}]},
    {"frozenset": 0.5},
    {"set": [{"array": ["|b1", [0], ""]}]},
    {"array": ["|O", [1], "00" * 8]}, {"array": ["<f8", [1], "00"]}, {"array": ["<f8", [-1], ""]},
    {"array": ["<f8", [2**40, 0], ""]}, {"array": ["<f8", [True], "00" * 8]}, {"array": "<f8"},
    {"array": ["|b1", [1], "02"]}, {"array": ["<f8", [0] * 40, ""]}, {"array": ["|V8", [0], ""]},
    {"array": ["<f8,<f8", [0], ""]}, {"array": ["<f8", 1, "00" * 8]}, {"array": [["<f8"], [], ""]},
    {"array": ["|i1", [100_000, 100_000, 100_000], ""]}, {"array": ["<f8", [0] + [90_000] * 9, ""]},
    {"array": ["<f8", [1000, 1000, 0], ""]},
    {"array": ["|u1", [500_001], "00" * 500_001]},
    {"array": ["<f8", [1], "0G" * 8]}, {"array": ["<M8[D]", [0], ""]}, {"date": {"list": []}},
]  # fmt: skip


@pytest.mark.parametrize("message", MALFORMED, ids=lambda message: str(message)[:60])
def test_malformed_values_in_a_reply_are_refused_quickly(message):
    started = time.thread_time()
    with pytest.raises(protocol.ProtocolError):
        plain(Student(Says({"values": [{"list": [message]}]})).x)
    assert time.thread_time() - started < 5


def test_parts_of_a_value_that_are_too_long_together_are_refused():
    """Many ranges and arrays in one reply are as long together as one may be."""
    for part in ({"range": "0 90000 1"}, {"array": ["|i1", [90_000], "00" * 90_000]}):
        with pytest.raises(protocol.ProtocolError, match="together"):
            plain(Student(Says({"values": [{"list": [part] * 3}]})).x)


def test_more_keys_with_one_hash_than_allowed_are_refused():
    """Try as many keys with one hash as are allowed, and one more."""
    started, count = time.thread_time(), protocol.MAX_SHARED
    whole = [n * (2**61 - 1) + 1 for n in range(count + 1)]
    parts = [complex(10**9 - 1_000_003 * n, n) for n in range(count + 1)]
    shared = {
        "whole": whole,
        "fractions": [{"fraction": str(Fraction(n, 1))} for n in whole],
        "complex": [{"complex": repr(each)} for each in parts],
        "tuples": [{"tuple": [n, "x"]} for n in whole],
    }
    for keys in shared.values():
        pairs = {"dict": [[key, 0] for key in keys]}
        for message in ({"set": keys}, {"frozenset": keys}, pairs, {"list": [{"set": keys}]}):
            with pytest.raises(protocol.ProtocolError, match="of one hash"):
                protocol.decode(message, lambda tag, number: number)
        assert len(protocol.decode({"set": keys[1:]}, lambda tag, number: number)) == count
    mixed = [n * (2**61 - 1) + k for n in range(count) for k in range(1, 900)]
    protocol.decode({"set": mixed}, lambda tag, number: number)
    assert time.thread_time() - started < 5


LARGE = [
    "[{'name': f'n{i}', 'mark': i / 7, 'is_late': i % 2 == 0} for i in range(2000)]",
    "{i for i in range(0, 10**6, 11)}", "{f'k{i}': i for i in range(20_000)}",
    "{(i, i * i) for i in range(9000)}", "({*range(1500)}, {str(i) for i in range(1500)})",
    "{i: {j: (j,) for j in range(50)} for i in range(50)}", "{2**64 + i: i for i in range(3000)}",
    "{Fraction(i, 7 * i + 1) for i in range(2500)}", "[frozenset({i, i + 1}) for i in range(1200)]",
]  # fmt: skip


@pytest.mark.parametrize("expression", LARGE)
def test_large_collections_are_compared_as_values(student, expression):
    expected, found = value_of(expression), student.made(expression)
    assert found == expected
    assert len(found) == len(expected)
    assert type(plain(found)) is type(expected)
    assert plain(found) == expected
    assert student.made(f"type({expression})()") != expected


def test_without_numpy_in_the_grader_an_array_is_refused(monkeypatch):
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(protocol, "import_module", missing)
    with pytest.raises(protocol.ProtocolError, match=r"student_code\.packages in course\.toml"):
        protocol.decode({"array": ["<f8", [0], ""]}, lambda tag, number: number)
