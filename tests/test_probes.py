"""Observations of public examples: numbers, texts, and the items of Python's own collections."""

from __future__ import annotations

import json
import re
from collections import Counter, OrderedDict, defaultdict, deque
from textwrap import dedent

import pytest

from autograder.course_folder.assignments import find_course
from autograder.judging.observations import _is_observation, as_in_table
from autograder.testing import close
from coursecheck.messages import agree, describe
from coursecheck.probes import plain, play

KINDS = [
    ([1, 2.5, "a", None, True], '[1, 2.5, "a", None, True]'),
    ((1,), "(1,)"),
    ({3, 20, 1}, "{1, 3, 20}"),
    (set(), "set()"),
    ({}, "{}"),
    ({"b": [1], "a": {2: ()}}, '{"a": {2: ()}, "b": [1]}'),
    (b"a\xff", "b'a\\xff'"),
    ([object()], "[an object of type object]"),
    (list(range(100)), f"[{', '.join(map(str, range(60)))}, … 40 more]"),
]


@pytest.mark.parametrize(("value", "text"), KINDS, ids=lambda each: str(each)[:20])
def test_a_value_is_described_as_python_writes_it(value, text):
    seen = plain(value)
    assert describe(seen) == text
    assert json.loads(json.dumps(seen)) == seen and agree(seen, plain(value))
    assert _is_observation(seen)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ([0.1 + 0.2], [0.3], True),
        ([1, 2], [2, 1], False),
        ([1], (1,), False),
        ([1, 2], [1], False),
        ({1: "a", 2: "b"}, {2: "b", 1: "a"}, True),
        ({1: "a"}, {1: "b"}, False),
        ({1, 2}, frozenset([2, 1]), True),
        ({"a": 2}, Counter("aa"), True),
        ({"a": 2}, defaultdict(int, a=2), True),
        ({"a": 2}, OrderedDict(a=2), True),
        ([1], deque([1]), True),
        (b"a", bytearray(b"a"), True),
        (b"a", "a", False),
        ([True], [1], False),
        (list(range(100)), list(range(101)), False),
    ],
)
def test_values_agree_if_hidden_tests_hold_them_equal(left, right, same):
    assert agree(plain(left), plain(right)) is same


def test_a_probe_can_keep_printed_text_and_errors_as_the_guide_shows():
    """Run the probes of docs/authors.md."""
    guide = (find_course() / "docs" / "authors.md").read_text("utf-8")
    parts = re.findall(
        r"# %% probe: \w+\n    # about.*\n((?: {4}.*\n)+?) {4}# observe: (.*)", guide
    )
    scope = {"greet": print, "TooLittle": IndexError, "withdraw": [].__getitem__}
    found = [play({"code": dedent(code), "observe": [both]}, scope) for code, both in parts]
    assert found == [["Ada\n"], [{"tuple": [True, "list index out of range"]}]]


def test_an_error_has_its_own_class_s_name_and_is_compared_by_its_kind():
    code = "class Odd(ValueError): pass\ndef f(): raise Odd('three')"
    [seen] = play({"code": code, "observe": ["f()"]}, {})
    assert describe(seen) == "an error (Odd)" and agree(seen, {"error": "ValueError"})
    assert _is_observation(seen) and not _is_observation({**seen, "class": 5})


def test_a_collection_that_contains_itself_is_cut_off():
    endless: list = []
    endless.append(endless)
    assert describe(plain(endless)) == "[[[[an object of type list]]]]"


@pytest.mark.parametrize(
    "message",
    [{"list": 5}, {"list": ["x" * 2000]}, {"list": [[1, 2, 3]]}, {"more": "x"}, {"bytes": 5},
     {"more": 2**5000}, {"dict": [[1, {"list": [[2]]}]]}, {"deque": []}, {"list": [], "set": []}],
)  # fmt: skip
def test_observations_that_no_probe_makes_are_refused(message):
    assert not _is_observation(message)


def test_no_item_is_shown_of_a_process_that_was_given_a_solution():
    entry = {"probes": [{"right": [plain([1, 2])]}], "mistakes": [{"results": [[plain({1: 2})]]}]}
    for value, words in (
        ([1.0, 2.0], "[1, 2]"),
        ({1: 2}, "{1: 2}"),
        ([1, "secret"], "another list"),
        (b"secret", "another bytes"),
    ):
        [[seen]] = as_in_table([[plain(value)]], entry)
        assert describe(seen) == words


def test_numbers_in_a_dictionary_are_compared_up_to_rounding():
    assert close({"a": 0.3, "b": [1.0]}) == {"a": 0.1 + 0.2, "b": [1.0]}
    assert close({"a": 0.3}) != {"a": 0.4}
    assert close({"a": 0.3}) != {"b": 0.3}
