"""Python in hidden tests that works on proxies, and the error for other code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from suites import verdict, verdicts

from autograder.errors import SuiteError

AS_IT_READS = {
    "x is None": ("assert student.nothing() is None", True),
    "x is not None": ("assert student.nothing() is not None", False),
    "x is True": ("assert student.yes() is True and student.one() is not True", True),
    "type(x) is dict": ("assert type(student.table()) is dict", True),
    "type(x) is student.Box": ("assert type(student.Box(1)) is student.Box", True),
    "callable(x)": ("assert callable(student.yes) and not callable(student.table())", True),
    "hasattr(x, name)": ("b = student.Box(1)\n    assert hasattr(b, 'x') and not hasattr(b, 'y')",
                         True),
    "a text in a text": ("assert 'bcd' in student.text() and 'Error' not in student.text()", True),
    "x in a text": ("assert student.letter() in 'abc'", True),
    "a list in a list": ("for row in student.grid(): row.append(9)\n"
                         "    assert student.grid()[0] == [1, 9]", True),
    "pytest.raises": ("with pytest.raises(ValueError):\n        student.refuse(-1)", True),
    "pytest.raises of none": ("with pytest.raises(ValueError):\n        student.refuse(1)", False),
    "pytest.raises of a call": ("pytest.raises(ValueError, student.refuse, -1)", True),
    "an error from before": ("student.refuse(-1)\n    with pytest.raises(ValueError):\n"
                             "        student.refuse(1)", False),
    "pytest.raises of another": ("with pytest.raises((KeyError, OSError)):\n"
                                 "        student.refuse(-1)", False),
    "pytest.raises of the student's": ("with pytest.raises(student.Low):\n"
                                       "        student.sink()", True),
    "pytest.raises of the student's other": ("with pytest.raises((student.High, OSError)):\n"
                                             "        student.sink()", False),
    "Python's after the student's": ("with pytest.raises(student.Low):\n"
                                     "        student.sink()\n"
                                     "    with pytest.raises(student.Low):\n"
                                     "        1 / (student.one() - 1)", False),
    "an error before the student's": ("student.sink()\n    with pytest.raises(student.Low):\n"
                                      "        student.refuse(1)", False),
    "pytest.raises(StopIteration)": ("with pytest.raises(StopIteration):\n        student.end()",
                                     True),
    "student.raises(StopIteration)": ("with student.raises(StopIteration):\n        student.end()",
                                      True),
    "except": ("try:\n        plain(student.refuse(-1))\n"
               "    except (OSError, ValueError) as error:\n"
               "        assert str(error) == 'ValueError'", True),
    "except another": ("try:\n        assert student.refuse(-1) == 1\n"
                       "    except LookupError:\n        pass", False),
    "next with a default": ("x = student.few()\n    assert next(x, 5) == 1 and next(x, 5) == 5",
                            True),
    "next after an end": ("x = student.end()\n    assert next(x, 5) == 5", False),
    "an iterator": ("assert [each for each in student.few()] == [1] == list(student.few())", True),
    "student.raises(OSError)": ("with student.raises(FileNotFoundError):\n        student.read()",
                                True),
    "large whole numbers": ("assert student.large() % 10**6 == 1 and student.large() - 1 > 10**20",
                            True),
    "int of a text": ("assert int(student.digits()) == 120", True),
    "a list times a number": ("assert [0] * student.one() == [0]", True),
    "a slice": ("assert student.text()[1:3] == 'bc' and student.text()[::-1] == 'dcba'", True),
    "a dict of pairs": ("assert dict(student.pairs()) == {'a': 1, 'b': 2}", True),
    "a dict of a dict": ("assert dict(student.table()) == {'a': 1}", True),
    "a slice of nothing": ("assert student.nothing()[1:] == []", False),
}  # fmt: skip


def things() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(
        "class Box:\n"
        "    def __init__(self, x): self.x = x\n"
        "def refuse(n):\n"
        "    if n < 0: raise ValueError\n"
        "class High(ValueError): pass\n"
        "class Low(ValueError): pass\n"
        "def sink(): raise Low\n"
        "rows = [[1], [2]]\n"
        "def grid(): return rows\n"
        "def nothing(): pass\n"
        "def end(): raise StopIteration\n"
        "def few(): yield 1\n"
        "def yes(): return True\n"
        "def one(): return 1\n"
        "def table(): return {'a': 1}\n"
        "def pairs(): return [('a', 1), ('b', 2)]\n"
        "def text(): return 'abcd'\n"
        "def letter(): return 'b'\n"
        "def digits(): return '120'\n"
        "def large(): return 10**20 * 10**6 + 1\n"
        "def read(): open('/no/such/file')\n",
        names,
    )
    return names


@pytest.mark.parametrize("name", AS_IT_READS)
def test_rewritten_python_behaves_as_python(tmp_path: Path, name: str) -> None:
    body, passes = AS_IT_READS[name]
    found = verdict(tmp_path, body, things())
    assert found.passed is passes and not found.broken


STEERED = {
    "map": ("assert list(map(lambda f: f() == 1, [student.f])) == []", StopIteration),
    "zip": ("for _ in zip([1], map(bool, [student.f()])):\n        raise AssertionError",
            StopIteration),
    "a function that an iterator calls": ("assert [*iter(lambda: plain(student.f()), 1)] == []",
                                          StopIteration),
    "next with a default": ("assert next(map(bool, [student.f()]), True)", StopIteration),
    "old-style iteration": (
        "class Old:\n        def __getitem__(self, place):\n            return plain(student.f())\n"
        "    assert list(Old()) == []", IndexError),
    "reversed": ("class Old:\n        def __len__(self):\n            return 1\n"
                 "        def __getitem__(self, place):\n            return plain(student.f())\n"
                 "    assert list(reversed(Old())) == []", IndexError),
    "getattr": ("class Own:\n        @property\n        def x(self):\n"
                "            return plain(student.f())\n"
                "    assert getattr(Own(), 'x', 1) == 1", AttributeError),
    "isinstance": ("assert not isinstance(student.f(), float)", AttributeError),
    "a length hint": (
        "given = student.remote.builtins.iter([1])\n    assert is_object(given)\n    student.f()\n"
        "    assert __import__('operator').length_hint(given, 5) == 5", TypeError),
    "close": ("assert [student.f(), 2] == close([1, 2])", StopIteration),
    "a generator": ("assert any(f() == 2 for f in [student.f])", StopIteration),
}  # fmt: skip
"""Statements in which Python acts on an error's class, such as the end of a loop or a missing
attribute."""


@pytest.mark.parametrize("name", STEERED)
def test_an_error_of_any_class_in_student_code_fails_the_hidden_test(
    tmp_path: Path, name: str
) -> None:
    body, kind = STEERED[name]

    def f() -> None:
        raise kind

    found = verdict(tmp_path, body, {"f": f})
    assert not found.passed and not found.broken
    assert f"raised {kind.__name__}" in found.seen


HINTS = {
    "joined": ("assert ''.join([student.text()]) == 'abcd'", "write plain(answer), str(answer)"),
    "identity of numbers": ("assert student.one() is 1", "write `==` in place of `is`"),
    "the message of an error": ("with pytest.raises(ValueError, match='x'): student.refuse(-1)",
                                "leave `match` out"),
}  # fmt: skip


@pytest.mark.parametrize("name", HINTS)
def test_what_a_hidden_test_cannot_do_with_a_proxy_is_reported_with_a_remedy(
    tmp_path: Path, name: str
) -> None:
    body, says = HINTS[name]
    found = verdict(tmp_path, body, things())
    assert found.blames_test and says in found.broken


def test_a_fixture_that_cannot_affect_student_code_is_refused_by_name(tmp_path: Path) -> None:
    source = "@exercise('x')\ndef test_it(student, monkeypatch):\n    pass\n"
    with pytest.raises(SuiteError, match="asks for monkeypatch"):
        verdicts(tmp_path, source, {})
