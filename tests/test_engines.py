"""An engine behaves the same in this process and behind the wall; the wire carries plain values."""

from __future__ import annotations

import gc
import json
import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from operator import truediv
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.channels import LocalChannel, RemoteChannel
from autograder.engines import Engine, StudentError
from autograder.sandbox import StudentLost
from autograder.sandbox.inside import wire
from autograder.testing import is_node

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

    def __neg__(self):
        return Value(-self.data, (self,), "neg")

    def __iadd__(self, other):
        self.data += other
        return self

    @property
    def broken(self):
        raise KeyError("broken")

class Child(Value):
    pass

class Half:
    def __init__(self, x):
        self.__dict__["x"] = x

    @property
    def x(self):
        return self.__dict__["x"] / 2

class Unusual(ArithmeticError):
    pass

def unusual():
    raise Unusual("secret")

def leave():
    raise SystemExit(0)

def kind(value):
    return type(value).__name__

def relay(function, *arguments, **keywords):
    return function(*arguments, **keywords)

def call_with_names(function):
    return function(2.0, times=3)

def name_of_error(function):
    try:
        function()
    except Exception as error:
        return type(error).__name__

def swap(left, right, *, sign=1):
    return [sign * right, left]

def numbers():
    yield from (1, 2.5, 3)

values = {
    "int": 7, "bool": True, "none": None, "text": "tüt", "nan": math.nan, "inf": -math.inf,
    "zero": -0.0, "huge": 10**80, "edge": 2**255, "numpy float": numpy.float64(0.1),
    "numpy int": numpy.int32(-4), "numpy bool": numpy.bool_(True), "tuple": (1, (2.0, "x")),
    "list": [1, [2]], "set": {1, 2}, "dict": {"a": [1], 2: None},
    "deque": collections.deque([1, 2]), "object": object(), "complex": 1j, "empty": (),
    "long text": "x" * 1_000_001,
}
def value_called(name):
    return values[name]

float_like = type("F", (float,), {"__float__": lambda self: 99.0, "__eq__": lambda a, b: True})(2.5)
int_like = type("I", (int,), {"__int__": lambda self: 99, "__index__": lambda self: 99})(3)
many = list(range(200_001))
"""


@pytest.fixture(scope="module")
def student(server):
    with server.spawn(1) as process:
        assert process.request({"cell": CELL}, 10)["error"] is None
        yield process


@pytest.fixture
def engines(student) -> tuple[Engine, Engine]:
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(CELL, scope)
    return Engine(LocalChannel(scope)), Engine(RemoteChannel(student))


def called_back(engine: Engine) -> list[Any]:
    """Everything that a function of ours is given when it is called from over there."""
    got: list[Any] = []

    def ours(*arguments: Any, **keywords: Any) -> Any:
        got.append((arguments, keywords))
        return [*arguments, keywords]

    return [
        engine.call_with_names(ours),
        engine.items(engine.call(engine.relay, ours, 1, "x")),
        got,
    ]


def failing(kind: type[Exception]) -> Callable[[], Any]:
    def fail() -> Any:
        raise kind("secret")

    return fail


def nested(engine: Engine) -> Any:
    """A function of ours that uses the engine while it is called from it."""
    return engine.relay(lambda x: (x + 1).data, engine.Value(2.0))


PLAIN_VALUES = [
    "int", "bool", "none", "text", "nan", "inf", "zero", "huge", "edge", "numpy float", "numpy int",
    "numpy bool", "tuple", "list", "set", "dict", "deque", "empty",
]  # fmt: skip

OPERATIONS: dict[str, Callable[[Engine], Any]] = {
    **{
        f"value {name}": lambda e, name=name: e.value_called(name)
        for name in PLAIN_VALUES
    },
    "opaque": lambda e: [
        type(e.value_called(name)).__name__
        for name in ("object", "complex", "long text")
    ],
    "too many items": lambda e: type(e.read("many")).__name__,
    "a float that lies": lambda e: e.read("float_like"),
    "an int that lies": lambda e: e.read("int_like"),
    "attributes": lambda e: [e.Value(2.5, label="a").data, e.Value(1).label, e.Value(1).grad],
    "setting": lambda e: (x := e.Value(1.0), setattr(x, "grad", 4.0), x.grad)[2],
    "operators": lambda e: [(e.Value(1) + 2).data, (2.5 + e.Value(1)).data, (-e.Value(3)).data],
    "in place": lambda e: (x := e.Value(1.0), (e.in_place("iadd", x, 2) == x), x.data)[1:],
    "identity": lambda e: [(x := e.Value(1)) == x, x == e.Value(1), (x + 1)._prev[0] == x, x == 5],
    "hash": lambda e: len({x := e.Value(1), (x + 1)._prev[0], e.Value(1)}),
    "isinstance": lambda e: [
        isinstance(e.Child(1), e.Value), isinstance(e.Value(1), e.Child),
        e.is_instance(e.Child(1), e.Value), e.is_instance(1.0, e.Value),
    ],
    "callable": lambda e: [e.is_callable(e.Value(1)._backward), e.is_callable(e.Value(1))],
    "has": lambda e: [e.has(e.Value(1), "data"), e.has(e.Value(1), "x")],
    "text": lambda e: e.text(e.Value(2.5)),
    "keywords": lambda e: [e.swap(1, 2), e.swap(left=1, right=2.5, sign=-1)],
    "sum": lambda e: e.sum([e.Value(1.0), e.Value(2.0), 3]).data,
    "chain": lambda e: e.chain("add", e.Value(0.0), [1, 2, 3]).data,
    "deepened": lambda e: len(e.graph(e.deepened(e.Value(1.0), 3000))),
    "graph": lambda e: (x := e.Value(1.0), sorted(len(o) for _, o in e.graph(x + x + x)))[1],
    "lengths": lambda e: e.lengths(e.swap([1, 2], (3,))),
    "attributes of many": lambda e: e.attributes([e.Value(n) for n in range(3)], "data"),
    "a generator": lambda e: e.items(e.call(e.numbers)),
    "missing name": lambda e: e.nothing(),
    "missing attribute": lambda e: e.Value(1).nothing,
    "a property that raises": lambda e: e.Value(1).broken,
    "wrong arguments": lambda e: e.swap(1),
    "raises": lambda e: e.unusual(),
    "leaves": lambda e: e.leave(),
    "error_of": lambda e: [e.error_of(e.unusual), e.error_of(lambda: e.Value(1) + "x"),
                           e.error_of(lambda: e.leave()), e.error_of(lambda: e.Value(1))],
    "late error": lambda e: (e.Value(1) + "x", e.finish())[1],
    "called back": called_back,
    "nested": nested,
    "our TypeError": lambda e: e.name_of_error(failing(TypeError)),
    "our KeyError": lambda e: e.name_of_error(failing(KeyError)),
    "a TypeError of theirs in ours": lambda e: e.name_of_error(lambda: (e.Value(1) + "x").data),
    "a late TypeError of theirs": lambda e: e.name_of_error(lambda: [e.Value(1) + "x"]),
    "a late error of theirs": lambda e: e.name_of_error(lambda: [e.call(e.unusual)]),
    "another error of theirs in ours": lambda e: e.name_of_error(lambda: e.Value(1).broken),
    "defined": lambda e: (e.define("twice", lambda x: 2 * x), e.twice(4.0))[1],
    "a class of ours": lambda e: (
        e.define_class("Ours", {"__init__": lambda self, x: setattr(self, "x", x),
                                "__add__": lambda self, other: self.x + other}),
        e._ask("binary", "add", e.Ours(2.0), 3),
    )[1],
}  # fmt: skip


def outcome(operation: Callable[[Engine], Any], engine: Engine) -> Any:
    try:
        value = operation(engine)
    except StudentError as error:
        return "StudentError", error.kinds, engine.seen
    return repr(value), engine.seen


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_local_and_a_remote_engine_are_alike(engines, operation):
    local, remote = (outcome(operation, engine) for engine in engines)
    assert repr(local) == repr(remote)
    assert "secret" not in repr(local)


PAIR = {
    "__init__": lambda self, *nodes: setattr(self, "nodes", list(nodes)),
    "grow": lambda self: [setattr(node, "data", 3 * node.data) for node in self.nodes] and None,
    "grown": lambda self, call: [self.nodes[0].data, call(), self.nodes[0].data],
}


def test_what_a_method_reads_is_never_out_of_date(engines):
    for engine in engines:
        node = engine.Value(2.0)
        ours = engine.define_class("Pair", PAIR)(node, node)
        ours.grow()
        assert node.data == 18.0
        assert engine.items(ours.grown(engine.attribute(ours, "grow"))) == [18.0, None, 162.0]


def test_a_method_is_told_what_its_object_holds(engines):
    for engine in engines:
        ours = engine.define_class("Pair", PAIR)(engine.Value(2.0), engine.Value(3.0))
        engine.finish()
        with patch.object(engine._channel, "perform", wraps=engine._channel.perform) as asked:
            engine.invoke(ours, "grow")
            engine.finish()
        assert asked.call_count == 1


def nodes_of_ours(engine: Engine, told: list[Any], **options: Any) -> Any:
    """A class of nodes with usual sums and quotients and unusual products.

    `told` lists what is heard of them, in order: a word and the numbers that each was made from.
    """

    def numbers(values: tuple[Any, ...]) -> list[float]:
        return [each.data if is_node(each) else each for each in values]

    def note(maker: str, node: Any, *given: Any) -> None:
        told.append((maker, *numbers(given)))

    def make(word: str, function: Callable[..., float]) -> Callable[..., None]:
        def maker(node: Any, *given: Any) -> None:
            told.append((word, *numbers(given)))
            nodes = [each for each in given if is_node(each)]
            engine.fill(node, data=function(*numbers(given)), grad=0.0, _prev=nodes)

        return maker

    makers = {
        "__init__": make("leaf", float),
        "__add__": make("sum", lambda a, b: a + b),
        "__truediv__": make("quotient", lambda a, b: a / b),
        "__mul__": make("product", lambda a, b: a * b + 1),
    }
    usual = {"__init__": "number", "__add__": "add", "__truediv__": "truediv"}
    double = {"double": lambda node: 2 * engine.attributes([node], "data")[0]}
    return engine.define_nodes("Ours", double, makers, usual, note, **options)


def test_usual_nodes_are_made_without_asking_and_noted_when_they_matter(engines):
    for engine in engines:
        told: list[Any] = []
        kind = nodes_of_ours(engine, told)
        x, y = kind(2.0), kind(3.0)
        total, other = x + y, x + x
        assert [total.data, total.grad, engine.items(total._prev)] == [5.0, 0.0, [x, y]]
        assert told == []
        # Only what the argument was made from is noted.
        assert total.double() == 10.0
        assert told == [("__init__", 2.0), ("__init__", 3.0), ("__add__", 2.0, 3.0)]
        told.clear()
        assert [(other * total).data, (total + 1.0).data] == [21.0, 6.0]
        assert told == [("__add__", 2.0, 2.0), ("product", 4.0, 5.0)]


def test_nodes_are_noted_with_what_they_hold_by_then(engines):
    for engine in engines:
        told: list[Any] = []
        kind = nodes_of_ours(engine, told)
        x = kind(2.0)
        before = x + x
        x.data = 5.0
        assert [before.data, (x + x).data, x.grad] == [4.0, 10.0, 0.0]
        engine.set_all([x, before], "data", [1.0, 3.0])
        assert (x + before).double() == 8.0
        assert told == [("__init__", 2.0), ("__add__", 1.0, 1.0), ("__add__", 1.0, 3.0)]


def test_some_nodes_keep_no_operands(engines):
    for engine in engines:
        kind = nodes_of_ours(engine, told := [], alone=["__add__"])
        total = kind(2.0) + kind(3.0)
        assert engine.items(total._prev) == [] and total.double() == 10.0
        assert told[-1] == ("__add__", 2.0, 3.0)


def test_what_may_fail_in_a_node_of_ours_fails_at_once(engines):
    for engine in engines:
        kind = nodes_of_ours(engine, [])
        x, zero = kind(1.0), kind(0.0)
        assert engine.error_of(partial(truediv, x, zero)) == "ZeroDivisionError"
        assert engine.error_of(partial(kind, "a")) == "ValueError"
        assert engine.error_of(partial(getattr, x, "missing")) == "AttributeError"
        assert x.data == 1.0


def test_a_graph_of_more_nodes_than_are_noted_at_once(engines):
    for engine in engines:
        kind = nodes_of_ours(engine, told := [])
        x = kind(1.0)
        assert engine.chain("add", x, engine.repeated(x, 2500)).double() == 5002.0
        assert len(told) == 2501


def test_a_property_is_asked_for(engines):
    """What lies under its name in the object may be something else."""
    for engine in engines:
        assert engine.relay(lambda node: node.x, engine.Half(5.0)) == 2.5


def test_errors_carry_class_names_alone(engines):
    for engine in engines:
        with pytest.raises(StudentError) as error:
            engine.unusual()
        assert error.value.kinds == ["Unusual", "ArithmeticError", "Exception", "BaseException"]
        assert str(error.value) == "ArithmeticError"


def test_a_made_up_class_name_is_not_shown(engines):
    """An exception's class may be named after a hidden number."""
    assert str(StudentError(["1.23456789", "Exception"])) == "Exception"
    assert str(StudentError(["1.23456789"])) == str(StudentError([])) == "Exception"


def test_objects_of_two_engines_do_not_mix(engines):
    local, remote = engines
    with pytest.raises(TypeError, match="another engine"):
        remote.call(remote.Value(1), local.Value(1))


def test_our_functions_get_nothing_that_explodes(engines):
    """`x ** n` and `text * n` in a function of ours end at once, whatever they are given."""
    got: list[Any] = []
    for engine in engines:
        engine.call(engine.relay, lambda *numbers: got.append(numbers), 3, 10**10, -101)
        engine.finish()
        assert engine.name_of_error(lambda e=engine: e.items(e.call(e.swap, "x" * 10**5, 1))) == (
            "ValueError"
        )
    assert got == [(3, 1e10, -101.0)] * 2
    assert [type(number) for number in got[1]] == [int, float, float]


def test_what_is_written_down_is_bounded(engines):
    for engine in engines:
        engine.seen = []
        for _ in range(5):
            engine.swap("x" * 900_000, 1)
        assert sum(len(str(entry)) for entry in engine.seen) < 1_000_100


@pytest.mark.parametrize(
    "answer",
    ["{'error': 5}", "{'error': [1]}", "{'value': [1]}", "{'value': {'object': 'x'}}", "[]", "None",
     "{'value': {'list': [{'dict': [[1]]}]}}", "{'value': 2**300}", "{'value': {'function': 0}}"],
)  # fmt: skip
def test_a_forged_answer_ends_the_process_or_the_test(server, answer):
    cell = f"import inside.objects\ninside.objects.Objects.perform = lambda self, steps: {answer}\n"
    with server.spawn(1) as student:
        student.request({"cell": cell}, 5)
        with pytest.raises((StudentLost, wire.WireError)):
            Engine(RemoteChannel(student)).read("x")


def test_arithmetic_is_worked_out_where_the_engine_lives(engines):
    for engine in engines:
        f = engine.expression(lambda x, y: 2 * x - (y / x) ** 2 + 1 / y)
        assert engine.relay(f, 2.0, 3.0) == 2 * 2.0 - (3.0 / 2.0) ** 2 + 1 / 3.0
        assert engine.relay(engine.expression(lambda: 7.0)) == 7.0
        assert engine.relay(engine.kind, f) == "function"
        node = engine.relay(engine.expression(lambda x: x + x), engine.Value(4.0))
        assert node.data == 8.0 and len(engine.items(node._prev)) == 2


def test_arithmetic_goes_through_other_functions(engines):
    def through(double):
        return lambda x: 3 * x.through(double) - x

    for engine in engines:
        double = engine.expression(lambda x: x + x)
        assert engine.relay(engine.expression(through(double)), 1.5) == 7.5


def test_operations_have_the_gradients_that_they_are_given(engines):
    for engine in engines:
        product = engine.operation(lambda x, y: x * y, lambda x, y: y, lambda x, y: 10.0)
        x, y = engine.Value(2.0), engine.Value(3.0)
        x.grad = y.grad = 1.0
        out = engine.relay(product, x, y)
        assert out.data == 6.0 and engine.items(out._prev) == [x, y]
        out.grad = 0.5
        engine.invoke(out, "_backward")
        assert [x.grad, y.grad] == [1.0 + 3.0 * 0.5, 1.0 + 10.0 * 0.5]


def test_an_operation_that_overwrites_keeps_the_last_use_alone(engines):
    for engine in engines:
        for adds, grad in ((True, 1.0 + 2 * 5.0), (False, 5.0)):
            total = engine.operation(
                lambda x, y: x + y, lambda x, y: 5.0, lambda x, y: 5.0, adds=adds
            )
            x = engine.Value(2.0)
            x.grad = 1.0
            out = engine.relay(total, x, x)
            out.grad = 1.0
            engine.invoke(out, "_backward")
            assert x.grad == grad


# The wire.

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**255), 2**255) | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(-9, 9) | st.tuples(st.booleans()), inner)
        | st.frozensets(st.text() | st.integers(-9, 9)).map(set)
    ),
    max_leaves=20,
)
TAGS = ["list", "tuple", "set", "dict", "float", "object", "function"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner, max_size=3)
    | st.builds(lambda tag, body: {tag: body}, st.sampled_from(TAGS), inner),
    max_leaves=30,
)  # fmt: skip


def refuse(value: Any) -> Any:
    raise AssertionError(f"{value!r} is not plain")


def alike(left: Any, right: Any) -> bool:
    """Equal, of the same types all through, NaN and the sign of zero included."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        same_sign = math.copysign(1, left) == math.copysign(1, right)
        return (left != left and right != right) or (left == right and same_sign)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, dict):
        return alike(list(left.items()), list(right.items()))
    return bool(left == right)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(PLAIN)
def test_plain_values_come_through_unchanged(value):
    message = json.loads(json.dumps(wire.encode(value, refuse), allow_nan=False))
    assert alike(wire.decode(message, refuse), value)


@settings(derandomize=True, deadline=None, max_examples=600)
@given(JSON)
def test_malformed_messages_raise_wire_errors_alone(message):
    with suppress(wire.WireError):
        wire.decode(message, lambda kind, number: (kind, number))


def inside_lists(depth: int) -> Any:
    message: Any = 1
    for _ in range(depth):
        message = {"list": [message]}
    return message


@pytest.mark.parametrize(
    "message",
    [
        2**256 + 2**255, "x" * 1_000_001, {"list": [0] * 200_001}, inside_lists(30), {}, [1],
        {"list": [], "tuple": []}, {"float": "1e5"}, {"float": []}, {"object": True},
        {"object": 1.0}, {"set": [{"list": []}]}, {"set": [{"tuple": [{"list": []}]}]},
        {"dict": [[{"tuple": [{"set": []}]}, 1]]}, {"dict": [[1, 2, 3]]}, {"pickle": "x"},
    ],
)  # fmt: skip
def test_what_encode_never_makes_is_refused(message):
    with pytest.raises(wire.WireError):
        wire.decode(message, lambda kind, number: number)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (deque([1]), {"list": [1]}),
        (frozenset([1]), {"set": [1]}),
        (type("T", (tuple,), {})([1]), {"tuple": [1]}),
        (type("S", (str,), {})("a"), "a"),
        (math.inf, {"float": "inf"}),
    ],
)
def test_relatives_travel_as_the_plain_form(value, message):
    assert wire.encode(value, refuse) == message


@pytest.mark.parametrize("base", [list, tuple, dict, float, str])
@pytest.mark.parametrize(
    "own", [{"__call__": lambda self, x: x}, {"__eq__": object.__eq__, "__hash__": object.__hash__}]
)
def test_a_part_or_a_node_that_builds_on_a_collection_or_number_is_an_object(base, own):
    """Such as a network that is the list of its layers: by value, it could not be called."""
    made = type("Own", (base,), own)()
    assert wire.encode([made], lambda value: {"object": 7}) == {"list": [{"object": 7}]}


def test_garbage_is_looked_for_again_after_a_time_was_measured(engines):
    """Also where what was to be measured fails; the local engine's process is this one."""
    local, _ = engines
    local.timed(lambda: local.Value(1.0))
    local.finish()
    assert gc.isenabled()
    local.timed(lambda: local.no_such_name)
    with pytest.raises(StudentError):
        local.finish()
    assert gc.isenabled()
