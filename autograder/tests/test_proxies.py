"""Proxies behave as ordinary Python values, and only plain values cross the sandbox boundary."""

from __future__ import annotations

import json
import marshal
import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from campaigns import size
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replies import Says
from suites import here

from autograder.errors import AuthorError, StudentError, StudentProcessDied
from autograder.sandbox.guest import protocol
from autograder.sandbox.guest.protocol import is_array
from autograder.sandbox.proxies import _IMMUTABLE, Student
from autograder.sandbox.targets import LocalTarget, RemoteTarget
from autograder.testing import close, is_object, plain

CELL = """
import collections, math
import numpy

class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data, self.grad, self._prev, self._op = data, 0.0, tuple(_children), _op
        self.label, self._backward = label, lambda: None

    def __repr__(self):
        return f"Value({self.data})"

    def __eq__(self, other):
        return True

    __hash__ = None

    def __add__(self, other):
        return Value(self.data + getattr(other, "data", other), (self, other), "+")

    def __radd__(self, other):
        return self + other

    def __matmul__(self, other):
        return self.data * other.data

    def __floordiv__(self, other):
        return self.data // getattr(other, "data", other)

    def __lt__(self, other):
        return self.data < other.data

    def __neg__(self):
        return Value(-self.data, (self,), "neg")

    def __iadd__(self, other):
        self.data += other
        return self

    @property
    def broken(self):
        raise KeyError("broken")

    @property
    def locked(self):
        return 1.0

class Child(Value):
    pass

class Nothing(float):
    __sub__ = __rsub__ = __abs__ = __neg__ = __pos__ = lambda *a: 0.0
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = lambda *a: True
    __hash__ = float.__hash__

class Unusual(ArithmeticError):
    pass

def unusual():
    raise Unusual("secret")

def leave():
    raise SystemExit(0)

def wrong():
    raise ValueError("secret")

def swap(left, right, *, sign=1):
    return [sign * right, left]

def numbers():
    yield from (1, 2.5, 3)

class Shelf:
    def __init__(self, *books):
        self.books = books

    def __len__(self):
        return len(self.books)

    def __getitem__(self, place):
        found = self.books[place]
        return Shelf(*found) if isinstance(place, slice) else found

    def __contains__(self, book):
        return book.lower() in self.books

def relay(function, *arguments):
    return function(*arguments)

calls = []

def note(value):
    calls.append(value)

values = {
    "int": 7, "bool": True, "none": None, "text": "tüt", "nan": math.nan, "inf": -math.inf,
    "zero": -0.0, "huge": 10**80, "edge": 2**255, "numpy float": numpy.float64(0.1),
    "numpy int": numpy.int32(-4), "numpy bool": numpy.bool_(True), "tuple": (1, (2.0, "x")),
    "list": [1, [2]], "set": {1, 2}, "dict": {"a": [1], 2: None},
    "bytes": b"t\\x00\\xff", "bytearray": bytearray(b"ab"), "sets": {"a": {1, 2}},
    "deque": collections.deque([1, 2]), "object": object(), "complex": 1j, "empty": (),
    "long text": "x" * 1_000_001, "long": list(range(5000)), "too long": list(range(200_001)),
    "many keys": set(range(10_001)), "one hash": {k * (2**61 - 1) for k in range(1, 9)},
}
def value_called(name):
    return values[name]

float_like = type("F", (float,), {"__float__": lambda self: 99.0, "__eq__": lambda a, b: True})(2.5)
int_like = type("I", (int,), {"__int__": lambda self: 99, "__index__": lambda self: 99})(3)
liar, MSE = Nothing(2.5), lambda: 4.0
"""
_TEXTS = {"tools": "def double(x):\n    return x + x\n\nKEPT = []\n", "wrong": "1 / 0"}
HELPERS = {name: marshal.dumps(compile(text, name, "exec")) for name, text in _TEXTS.items()}


@pytest.fixture(scope="module")
def process(server):
    with server.spawn(1) as process:
        assert process.request({"cell": CELL}, 10)["error"] is None
        yield process


@pytest.fixture
def students(process) -> tuple[Student, Student]:
    """Return the same namespace in this process and in the sandbox."""
    return here(CELL, HELPERS), Student(RemoteTarget(process), HELPERS)


@pytest.fixture
def student() -> Student:
    return here(CELL, HELPERS)


PLAIN_VALUES = [
    "int", "bool", "none", "text", "nan", "inf", "zero", "huge", "edge", "numpy float", "numpy int",
    "numpy bool", "tuple", "list", "set", "dict", "deque", "empty", "long", "bytes", "bytearray",
    "sets",
]  # fmt: skip

READS: dict[str, Callable[[Student], Any]] = {
    **{
        f"value {name}": lambda s, name=name: plain(s.value_called(name))
        for name in PLAIN_VALUES if name != "long"
    },
    "opaque": lambda s: [is_object(s.value_called(n)) for n in ("object", "long text")],
    "a long list": lambda s: [len(s.value_called("long")), s.value_called("long")[-1] == 4999,
                              s.value_called("long") == list(range(5000)),
                              plain(s.value_called("long")) == list(range(5000))],
    "a list that is too long": lambda s: [len(s.value_called("too long")),
                                          s.value_called("too long") == []],
    "many keys": lambda s: [len(s.value_called("many keys")), 5 in s.value_called("many keys")],
    "keys of one hash": lambda s: [len(s.value_called("one hash")),
                                   2**61 - 1 in s.value_called("one hash")],
    "a float that lies": lambda s: [s.float_like == 2.5, s.float_like == 99.0],
    "an int that lies": lambda s: [s.int_like == 3, int(s.int_like), s.int_like == 99],
    "attributes": lambda s: [plain(s.Value(2.5, label="a").label), s.Value(1).grad == 0.0],
    "setting": lambda s: (x := s.Value(1.0), setattr(x, "grad", 4.0), plain(x.grad))[2],
    "operators": lambda s: [plain((s.Value(1) + 2).data), plain((2.5 + s.Value(1)).data),
                            plain((-s.Value(3)).data), plain(s.Value(3) @ s.Value(2)),
                            plain(s.Value(7) // s.Value(2)), plain(s.Value(7) // 2)],
    "comparisons": lambda s: [bool(s.Value(1) < s.Value(2)), bool(s.Value(2) < s.Value(1))],
    "identity": lambda s: [(x := s.Value(1)) == x, x == s.Value(1), (x + 1)._prev[0] == x, x == 5],
    "its own equality": lambda s: bool(s.equal(s.Value(1), s.Value(2))),
    "hash": lambda s: len({x := s.Value(1), (x + 1)._prev[0], s.Value(1)}),
    "isinstance": lambda s: [
        isinstance(s.Child(1), s.Value), isinstance(s.Value(1), s.Child),
        isinstance(s.Value(1).data, int), isinstance(s.Value(1).data, float),
        isinstance(s.value_called("text"), str),
    ],
    "truth": lambda s: [bool(s.value_called("zero")), bool(s.value_called("list")),
                        bool(s.Value(0.0)), not s.value_called("none")],
    "length": lambda s: [len(s.swap(1, 2)), len(s.value_called("text")), len(s.value_called("set"))
                         ],
    "iteration": lambda s: [plain(each) for each in s.swap(1, 2)] + [plain(e) for e in s.numbers()],
    "items": lambda s: [s.swap(1, 2)[0] == 2, 2 in s.swap(1, 2), 5 in s.swap(1, 2),
                        (x := s.Value(1)) in s.swap(x, 1), s.Value(1) in s.swap(x, 1)],
    "unpacking": lambda s: [plain(each) for each in (lambda a, b: (b, a))(*s.swap(1, 2))],
    "bytes": lambda s: [(x := s.value_called("bytes")) == b"t\x00\xff", x[0] == 116, len(x), 0 in x,
                        plain(x[1:]), b"\xff" in x, [plain(each) for each in x], plain(x + b"!"),
                        s.relay(s.value_called, "bytearray") == b"ab", isinstance(x, bytes)],
    "bytes that change": lambda s: [(x := s.value_called("bytearray")) == b"ab", x.append(99),
                                    x == b"abc", x.pop() == 99, len(x)],
    "like a list": lambda s: [len(x := s.Shelf("a", "b", "c")), x[1] == "b", x[-1] == "c", "A" in x,
                              "d" in x, len(x[1:]), x[:2][0] == "a", [plain(each) for each in x]],
    "beyond the last": lambda s: plain(s.Shelf("a")[1]),
    "one by one": lambda s: [next(x := s.numbers()) == 1, next(x) == 2.5, plain(next(x)),
                             s.error_of(lambda: next(x))],
    "text": lambda s: [repr(s.Value(2.5)), str(s.value_called("text")), f"{s.Value(2.5).data:.2f}"],
    "numbers": lambda s: [float(s.value_called("int")), math.sqrt(s.Value(4.0).data),
                          round(s.Value(2.25).data, 1), [0, 1, 2, 3][s.value_called("int") - 4]],
    "keywords": lambda s: [plain(s.swap(1, 2)), plain(s.swap(left=1, right=2.5, sign=-1))],
    "sums": lambda s: [sum([s.Value(1).data, s.Value(2.5).data]) == 3.5,
                       plain(sum([s.Value(1.0), s.Value(2.0)]).data)],
    "a list as it is by now": lambda s: [(calls := s.remote.tools.KEPT.copy()) == [],
                                         calls.append(1), calls == [1], len(calls)],
    "builtins": lambda s: [bool(s.remote.builtins.callable(s.Value(1)._backward)),
                           bool(s.remote.builtins.hasattr(s.Value(1), "x"))],
    "helper modules": lambda s: [plain(s.remote.tools.double(s.Value(2.0)).data),
                                 plain(s.relay(s.remote.tools.double, 3.0))],
    "names decide nothing": lambda s: s.MSE() == 4.0,
    "a name that is taken": lambda s: bool(s.remote.builtins.callable(s["relay"])),
    "missing name": lambda s: plain(s.nothing()),
    "missing attribute": lambda s: plain(s.Value(1).nothing),
    "a property that raises": lambda s: plain(s.Value(1).broken),
    "a property that cannot be set": lambda s: (setattr(s.Value(1), "locked", 3.0), s.finish())[1],
    "wrong arguments": lambda s: plain(s.swap(1)),
    "raises": lambda s: plain(s.unusual()),
    "leaves": lambda s: plain(s.leave()),
    "a helper that raises": lambda s: plain(s.remote.wrong),
    "not a number": lambda s: float(s.value_called("text")),
    "no length": lambda s: len(s.Value(1)),
    "no items": lambda s: list(s.Value(1.0).data),
    "arithmetic of what is none": lambda s: plain(s.value_called("none") + 1),
    "an order of what has none": lambda s: s.value_called("none") < 1.0,
    "error_of": lambda s: [s.error_of(s.unusual), s.error_of(lambda: s.Value(1) + "x"),
                           s.error_of(lambda: s.leave()), s.error_of(lambda: s.Value(1))],
    "late error": lambda s: (s.Value(1) + "x", s.finish())[1],
}  # fmt: skip


EXPECTED = {
    "opaque": [True, True],
    "a long list": [5000, True, True, True],
    "a list that is too long": [200_001, False],
    "many keys": [10_001, True],
    "keys of one hash": [8, True],
    "a float that lies": [True, False],
    "an int that lies": [True, 3, False],
    "operators": [3, 3.5, -3, 6, 3, 3],
    "comparisons": [True, False],
    "identity": [True, False, True, False],
    "its own equality": True,
    "hash": 2,
    "isinstance": [True, False, True, False, True],
    "truth": [False, True, True, True],
    "length": [2, 3, 2],
    "iteration": [2, 1, 1, 2.5, 3],
    "items": [True, True, False, True, False],
    "unpacking": [1, 2],
    "bytes": [True, True, 3, True, b"\x00\xff", True, [116, 0, 255], b"t\x00\xff!", True, True],
    "bytes that change": [True, None, True, True, 2],
    "like a list": [3, True, True, True, False, 2, True, ["a", "b", "c"]],
    "one by one": [True, True, 3, "StopIteration"],
    "text": ["Value(2.5)", "tüt", "2.50"],
    "numbers": [7.0, 2.0, 2.2, 3],
    "sums": [True, 3.0],
    "a list as it is by now": [True, None, True, 1],
    "builtins": [True, False],
    "helper modules": [4.0, 6.0],
    "names decide nothing": True,
}


ERRORS = {
    "missing name": "NameError", "missing attribute": "AttributeError",
    "a property that raises": "KeyError", "a property that cannot be set": "AttributeError",
    "wrong arguments": "TypeError", "raises": "ArithmeticError", "leaves": "SystemExit",
    "a helper that raises": "ZeroDivisionError", "not a number": "TypeError",
    "beyond the last": "IndexError",
    "no length": "TypeError", "no items": "TypeError", "late error": "TypeError",
    "arithmetic of what is none": "TypeError", "an order of what has none": "TypeError",
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_proxies_behave_as_python_values_in_local_and_remote_namespaces(students, name):
    found = []
    for each in students:
        try:
            value = READS[name](each)
        except StudentError as error:
            assert str(error) == error.kind == ERRORS[name]
            found.append((error.kind, each.seen))
        else:
            assert name not in ERRORS
            if isinstance(value, list):
                value = [None if type(item).__name__ == "Proxy" else item for item in value]
            if name in EXPECTED:
                assert value == EXPECTED[name]
            found.append((repr(value), each.seen))
    local, remote = map(repr, found)
    assert local == remote
    assert "secret" not in local
    assert "AuthorError" not in local


def test_student_raises_accepts_the_error_s_built_in_class_and_its_base_classes(student):
    with student.raises(ArithmeticError):
        student.unusual()
    with pytest.raises(AssertionError, match="nothing was raised"), student.raises(ValueError):
        student.Value(1.0)
    with pytest.raises(AssertionError, match="raised ValueError"), student.raises(TypeError):
        student.wrong()


def test_an_error_class_name_that_student_code_made_up_is_not_shown(student):
    """An exception's class may be named after a hidden number."""
    for names in (["1.23", "Exception"], ["1.23"], []):
        with pytest.raises(StudentError) as error:
            plain(Student(Says({"values": [], "error": names})).x)
        assert error.value.kind == "Exception"


def test_each_use_of_a_failed_step_raises_its_error_again(student):
    with student.raises(ValueError):
        answer = student.wrong()
    assert student.error_of(lambda: plain(answer)) == "ValueError"
    assert student.error_of(lambda: student.relay(student.MSE, answer)) == "ValueError"
    assert student.Value(2.0).data == 2.0


# Size and time of requests.


class Counting:
    """A target that records the requests that it performs."""

    def __init__(self, target: LocalTarget) -> None:
        self.modules: set[str] = target.modules
        self.taken = 0.0
        self._target = target
        self.requests: list[Any] = []

    def perform(self, request: Any) -> Any:
        self.requests.append(request)
        return self._target.perform(request)

    def seconds(self) -> float:
        return 0.0


@pytest.fixture
def counted() -> tuple[Student, list[Any]]:
    target = Counting(here(CELL)._target)
    return Student(target, HELPERS), target.requests


def test_one_request_fetches_the_values_of_all_open_proxies(counted):
    student, requests = counted
    x, y = student.Value(2.0), student.Value(3.0)
    x.grad = 4.0
    total = x + y
    assert [x.grad, total.data, y.grad] == close([4.0, 5.0, 0.0])
    assert len(requests) == 1
    assert requests[0]["new"] is True


def test_numbers_to_compare_with_are_never_sent(counted):
    student, requests = counted
    answer = student.Value(2.5).data
    assert abs(answer - 7.25) == 4.75
    assert answer * 3.75 != 7.0
    assert 9.125 - answer > 6.5
    assert answer + student.Value(1.5).data - 8.5 < 0
    assert (answer - 0.625) * student.Value(3.0).data == close(1.875 * 3.0)
    sent = json.dumps(requests)
    assert "2.5" in sent
    assert "1.5" in sent
    for secret in ("7.25", "3.75", "9.125", "6.5", "8.5", "0.625", "1.875"):
        assert secret not in sent


def test_operators_of_a_student_s_number_class_do_not_affect_arithmetic_in_the_test(students):
    """An object's float claims that every difference is 0, and that it equals anything."""
    for student in students:
        liar = student.liar
        assert liar != 3.0
        assert abs(liar - 3.0) != 0.0
        assert not liar < 1.0
        assert abs(liar - student.Value(3.0).data) != 0.0
        assert -liar == -2.5
        assert abs(liar) == 2.5


def test_a_helper_module_is_sent_once(counted):
    student, requests = counted
    assert student.remote.tools.double(1.0) == 2.0
    assert student.remote.tools.double(2.0) == 4.0
    assert json.dumps(requests).count(HELPERS["tools"].hex()) == 1


def test_a_helper_module_used_twice_in_one_request_is_loaded_once(students):
    for student in students:
        first, second = student.remote.tools.KEPT, student.remote.tools.KEPT
        first.append(1.0)
        assert [len(first), len(second)] == [len(first)] * 2


def test_a_helper_module_is_sent_again_if_its_request_failed(counted):
    student, _ = counted
    assert (
        student.error_of(lambda: (student.wrong(), student.remote.tools.double(1.0)))
        == "ValueError"
    )
    assert student.remote.tools.double(2.0) == 4.0


def test_the_steps_of_a_long_test_are_sent_in_several_requests(counted):
    student, requests = counted
    total = student.Value(0.0)
    for _ in range(5000):
        total += 1.0
    assert total.data == 5000.0
    assert len(requests) > 3


def test_arithmetic_on_plain_values_takes_bounded_time_and_memory(student):
    """A student may answer with any numbers and texts."""
    huge, text = student.value_called("edge"), student.value_called("text")
    for explode in (lambda: plain(huge**huge), lambda: plain(text * huge), lambda: plain(1 << huge),
                    lambda: plain(text * 10**9), lambda: plain(huge**0.5 ** -200)):  # fmt: skip
        assert student.error_of(explode) in ("OverflowError", "TypeError")


def test_seconds_are_measured_outside_the_student_process(process):
    stopped = "import time\ntime.process_time = lambda: 0.0\n"
    work = "def work():\n    return sum(range(3_000_000))\n"
    assert process.request({"cell": stopped + work}, 10)["error"] is None
    student = Student(RemoteTarget(process), HELPERS)
    assert student.seconds(lambda: student.work()) > 0.01


def test_the_record_of_values_that_a_test_saw_has_a_bounded_size(student):
    for _ in range(5):
        plain(student.swap("x" * 900_000, 1))
    assert sum(len(str(entry)) for entry in student.seen) < 1_000_100


# Mistakes of a test's author.


def test_a_function_of_the_hidden_test_as_an_argument_is_refused_with_a_remedy(student):
    with pytest.raises(AuthorError, match=r"grading_tests/remote/NAME\.py.*student\.remote\.NAME"):
        student.relay(lambda x: x, 1.0)
    with pytest.raises(AuthorError, match=r"remote\.builtins\.int"):
        student.relay(int)
    with pytest.raises(AuthorError, match=r"let a helper module, .*, make the slice there"):
        student.relay(slice(1))


def test_sending_a_value_that_is_too_large_raises_a_value_error(student):
    for answer in ([0] * 100_001, 1 << 15_000):
        with pytest.raises(ValueError, match="too large or too deep to be sent"):
            student.relay(answer)


def test_an_unknown_helper_module_is_reported_with_a_list_of_all_helper_modules(student):
    with pytest.raises(AuthorError, match=r"remote/tolls\.py.*tools"):
        student.remote.tolls  # noqa: B018


def test_an_object_of_another_student_process_is_refused_as_an_argument(students):
    local, remote = students
    with pytest.raises(AuthorError, match="another student"):
        remote.relay(local.Value(1))


# Possible replies.


@pytest.mark.parametrize(
    "reply",
    [{"error": 5}, {"values": [], "error": [1]}, {"values": [[1]]}, {"values": [{"object": "x"}]},
     {}, {"values": {}}, {"values": [1.0, 1.0]}, {"values": [{"list": [{"dict": [[1]]}]}]},
     {"values": [2**15_000]}, {"values": [{"step": 0}]}, {"values": [{"object": -1}]},
     {"values": [{"object": 2**40}]}, {"values": [{"set": [{"list": []}]}]}, {"values": []}],
)  # fmt: skip
def test_a_forged_reply_raises_a_protocol_error(reply):
    with pytest.raises(protocol.ProtocolError):
        plain(Student(Says(reply)).x)


def test_a_reply_to_bool_that_is_no_truth_value_is_refused():
    """`bool` of an object is a claim, but it has to be a truth value."""
    with pytest.raises(protocol.ProtocolError):
        bool(Student(Says({"values": [{"object": 0}]})).x)


def test_recorded_values_of_a_set_do_not_show_the_identity_of_objects(students):
    for each in students:
        assert plain(each.value_called("set")) == {1, 2}
        assert each.seen == ["a set of 2", 1, 2]
        several = each.remote.builtins.set([each.relay, 7, each.numbers, "a"])
        plain(several)
        assert each.seen[-5:] == ["a set of 4", "an object", "an object", "a", 7]


@pytest.mark.parametrize("reply", ["[]", "None", "5", "{'values': 5}", "{'callback': 1}"])
def test_an_invalid_reply_ends_the_test_with_an_error(server, reply):
    cell = f"import guest.steps\nguest.steps.Steps.perform = lambda self, request: {reply}\n"
    with server.spawn(1) as process:
        process.request({"cell": cell}, 5)
        with pytest.raises((StudentProcessDied, protocol.ProtocolError)):
            plain(Student(RemoteTarget(process)).x)


# The protocol.

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**255), 2**255)
    | st.floats()
    | st.text()
    | st.binary()
    | st.binary().map(bytearray)
    | st.complex_numbers()
    | st.fractions()
    | st.decimals(allow_nan=False, places=4, min_value=-(10**9), max_value=10**9)
    | st.dates()
    | st.times().map(lambda time: time.replace(fold=0))
    | st.datetimes().map(lambda time: time.replace(fold=0))
    | st.timedeltas()
    | st.builds(range, st.integers(-99, 99), st.integers(-99, 99), st.integers(1, 9)),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(-9, 9) | st.tuples(st.booleans()), inner)
        | st.frozensets(st.text() | st.integers(-9, 9)).map(set)
        | st.frozensets(st.text() | st.dates() | st.frozensets(st.integers(-9, 9)))
    ),
    max_leaves=20,
)
TAGS = ["object", "large", "step", *protocol._BY_TAG]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner, max_size=3)
    | st.builds(lambda tag, body: {tag: body}, st.sampled_from(TAGS), inner),
    max_leaves=30,
)  # fmt: skip


def refuse(value: Any) -> Any:
    raise AssertionError(f"{value!r} is not plain")


def alike(left: Any, right: Any) -> bool:
    """Return whether two values are equal, of the same types all through, NaN and the sign of zero
    included."""
    if type(left) is not type(right):
        return False
    if isinstance(left, complex):
        return alike([left.real, left.imag], [right.real, right.imag])
    if isinstance(left, float):
        same_sign = math.copysign(1, left) == math.copysign(1, right)
        return (left != left and right != right) or (left == right and same_sign)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, dict):
        return alike(list(left.items()), list(right.items()))
    return bool(left == right)


def examples(usual: int) -> settings:
    """Return settings for this many examples, the same each time; more and others in a campaign."""
    return settings(
        derandomize=not size(0, 1),
        deadline=None,
        max_examples=size(usual, 5000),
        suppress_health_check=[HealthCheck.too_slow],
    )


@pytest.mark.sized
@examples(300)
@given(PLAIN)
def test_plain_values_are_decoded_unchanged(value):
    message = json.loads(json.dumps(protocol.encode(value, refuse), allow_nan=False))
    assert alike(protocol.decode(message, refuse), value)


@pytest.mark.sized
@examples(600)
@given(JSON)
def test_malformed_messages_raise_only_protocol_errors(message):
    with suppress(protocol.ProtocolError):
        value = protocol.decode(message, lambda kind, number: (kind, number))
        assert type(value) in _IMMUTABLE | {tuple, list, set, dict, bytearray} or is_array(value)


def inside_lists(depth: int) -> Any:
    message: Any = 1
    for _ in range(depth):
        message = {"list": [message]}
    return message


@pytest.mark.parametrize(
    "message",
    [
        2**14_000, "x" * 1_000_001, {"list": [0] * 200_001}, inside_lists(30), {}, [1],
        {"list": [], "tuple": []}, {"float": "1e5"}, {"float": []}, {"object": True},
        {"object": 1.0}, {"set": [{"list": []}]}, {"set": [{"tuple": [{"list": []}]}]},
        {"dict": [[{"tuple": [{"set": []}]}, 1]]}, {"dict": [[1, 2, 3]]}, {"pickle": "x"},
        {"bytes": "0"}, {"bytes": "0G"}, {"bytes": "A0"}, {"bytes": [1]}, {"bytes": "00" * 600_000},
    ],
)  # fmt: skip
def test_messages_that_the_encoder_never_writes_are_refused(message):
    with pytest.raises(protocol.ProtocolError):
        protocol.decode(message, lambda kind, number: number)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (deque([1]), {"list": [1]}),
        (type("T", (tuple,), {})([1]), {"tuple": [1]}),
        (type("S", (str,), {})("a"), "a"),
        (type("A", (bytearray,), {"hex": None})(b"a"), {"bytearray": "61"}),
        (type("B", (bytes,), {"hex": None})(b"a"), {"bytes": "61"}),
        (math.inf, {"float": "inf"}),
    ],
)
def test_instances_of_subclasses_are_sent_as_built_in_values(value, message):
    assert protocol.encode(value, refuse) == message


@pytest.mark.parametrize("base", [list, tuple, dict, float, str, bytes])
@pytest.mark.parametrize(
    "own", [{"__call__": lambda self, x: x}, {"__eq__": object.__eq__, "__hash__": object.__hash__}]
)
def test_an_object_of_a_subclass_of_a_built_in_type_with_own_methods_stays_an_object(base, own):
    """A network that is the list of its layers, for example: by value, it could not be called."""
    made = type("Own", (base,), own)()
    assert protocol.encode([made], lambda value: {"object": 7}) == {"list": [{"object": 7}]}
