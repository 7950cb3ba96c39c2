"""Observations of public examples: numbers, texts, and the items of Python's own collections."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict, defaultdict, deque

import pytest

from autograder.judging.observations import _is_observation, as_in_table
from autograder.testing import close
from coursecheck.examples import plain, play
from coursecheck.messages import agree, describe

KINDS = [
    ([1, 2.5, "a", None, True], '[1, 2.5, "a", None, True]'),
    ((1,), "(1,)"),
    ({3, 20, 1}, "{1, 3, 20}"),
    (set(), "set()"),
    ({}, "{}"),
    ({"b": [1], "a": {2: ()}}, '{"a": {2: ()}, "b": [1]}'),
    (b"a\xff", "b'a\\xff'"),
    ([object()], "[an object]"),
    (list(range(100)), f"[{', '.join(map(str, range(60)))}, … 40 more]"),
]


@pytest.mark.parametrize(("value", "text"), KINDS, ids=lambda each: str(each)[:20])
def test_a_value_is_described_as_python_writes_it(value, text):
    seen = plain(value)
    assert describe(seen) == text
    assert json.loads(json.dumps(seen)) == seen
    assert agree(seen, plain(value))
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
def test_observed_values_agree_if_hidden_tests_compare_them_as_equal(left, right, same):
    assert agree(plain(left), plain(right)) is same


def test_an_error_is_described_by_its_own_class_and_compared_by_its_built_in_class():
    code = "class Odd(ValueError): pass\ndef f(): raise Odd('three')"
    [seen] = play({"code": code, "observe": ["f()"]}, {})
    assert describe(seen) == "an error (Odd)"
    assert agree(seen, {"error": "ValueError"})
    assert _is_observation(seen)
    assert not _is_observation({**seen, "class": 5})


def test_a_collection_that_contains_itself_is_cut_off():
    endless: list = []
    endless.append(endless)
    assert describe(plain(endless)) == "[[[[a list]]]]"


@pytest.mark.parametrize(
    "message",
    [{"list": 5}, {"list": ["x" * 2000]}, {"list": [[1, 2, 3]]}, {"more": "x"}, {"bytes": 5},
     {"more": 2**5000}, {"dict": [[1, {"list": [[2]]}]]}, {"deque": []}, {"list": [], "set": []}],
)  # fmt: skip
def test_invalid_observations_in_a_reply_are_refused(message):
    assert not _is_observation(message)


def test_values_of_later_processes_are_shown_only_if_the_table_contains_them():
    entry = {"examples": [{"right": [plain([1, 2])]}], "mistakes": [{"results": [[plain({1: 2})]]}]}
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
