"""What grading tests hold in their hands: an engine, wherever it lives.

`Engine` looks like a module with the student's names in it. Each operation on it, or on an object
that came from it, is one small message; only plain numbers, text, truth values and opaque objects
come back. The namespace behind it may be a student process in the sandbox, an author's live
notebook or a model of a mistake: a test cannot tell.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from .channels import Channel
from .sandbox.conversations import Exchange, Turn
from .sandbox.inside import wire
from .sandbox.inside.objects import MAX_UNNOTED, failure
from .tracing import traced

T = TypeVar("T")

Tracer = Callable[[Callable[..., Any], Any], Any]
"""Gives what a function does with arguments of a shape: a program in a wire message, or None."""

_BUILT_IN = frozenset(dir(builtins))

_ROOM = 1_000_000
"""How many characters of what came back are written down in one test."""

_MAKE_NODES = frozenset(["exp", "log", "tanh", "relu", "sigmoid", "sin", "cos", "sqrt", "backward"])
"""Methods whose result is an object, or nothing, so that nobody need wait for it."""

_MOST_REMOTES = 50_000
_SMALL = 100
"""Up to where whole numbers stay whole in the hands of functions that student code calls."""


class StudentError(Exception):
    """The code under test raised.

    Attributes:
        kinds: the class names, nearest first, as the student's process tells them.
        kind: the nearest built-in one, which alone may be shown: any other name may have been
            made up to hold a hidden number.
    """

    def __init__(self, kinds: list[str]) -> None:
        self.kinds = kinds
        self.kind = next((kind for kind in kinds if kind in _BUILT_IN), "Exception")
        super().__init__(self.kind)


class Engine:
    """The names that a namespace defines, each usable as if it were here.

    Args:
        channel: where the namespace lives.

    Attributes:
        seen: every plain value and exception that came back, in order. Two engines that show
            the same in the same test behave alike as far as the test can tell.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._waiting: list[Any] = []
        self._serving = 0
        self._tracer: Tracer | None = None
        self._told: dict[Any, dict[str, Any]] = {}
        self._same: dict[int, int] = {}
        self._remotes: dict[int, Remote] = {}
        self._notes: list[Callable[..., None]] = []
        self._room = _ROOM
        self._first: tuple[dict[int, int], dict[int, Remote]] | None = None
        self.seen: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = self._later("name", name)
        object.__setattr__(found, "_gives_object", name[0].isupper())
        return found

    def read(self, name: str, tidy: Callable[[Any], Any] = lambda value: value) -> Any:
        """The plain value that a name stands for, such as an answer `q3 = "b"`.

        Args:
            tidy: brings answers that mean the same into one form, before anything looks at them.
        """
        value = tidy(self._ask("name", name, remember=False))
        self._remember(value)
        return value

    # What Python writes as operators and built-in functions on ordinary objects.

    def sum(self, items: Iterable[Any]) -> Any:
        """The built-in `sum`, called where the engine lives."""
        return self._ask("sum", list(items))

    def chain(self, operation: str, start: Any, items: Iterable[Any] | Remote) -> Any:
        """`start` combined with each item in turn by "add", "mul", …: a long chain in one step."""
        items = items if isinstance(items, Remote) else list(items)
        return self._later("fold", operation, start, items)

    def repeated(self, item: Any, count: int) -> Any:
        """A list that holds the same item `count` times, made where the engine lives."""
        return self._later("binary", "mul", [item], count)

    def deepened(self, node: Any, count: int) -> Any:
        """The end of a chain of `count` nodes, each with the one before as its only operand."""
        return self._later("deepen", self.Value, node, count)

    def in_place(self, operation: str, target: Any, value: Any) -> Any:
        """The result of `target += value` ("iadd"), `-=`, `*=` or `/=`."""
        return self._later("binary", operation, target, value)

    def items(self, collection: Any) -> list[Any]:
        """The items of any iterable that the engine returned."""
        if isinstance(collection, (list, tuple, set, frozenset)):
            return list(collection)
        if isinstance(collection, Remote):
            return list(self._ask("items", collection))
        raise StudentError(["TypeError"])

    def attribute(self, target: Any, name: str) -> Any:
        """An attribute as the object it is, also where it is a number or a collection."""
        return self._later("get", target, name)

    def attributes(self, targets: list[Any], name: str) -> list[Any]:
        """The same attribute of many objects, in one question."""
        told = [self._told.get(getattr(each, "_number", None), {}) for each in targets]
        if all(name in held for held in told):
            return list(self._told_before([held[name] for held in told]))
        return list(self._ask("attributes", targets, name))

    def set_all(self, targets: list[Any], name: str, values: list[Any]) -> None:
        """Set the same attribute of many objects."""
        self._told = {}
        self._later("set_all", targets, name, values)

    def graph(self, root: Any) -> list[tuple[Any, list[Any]]]:
        """Every node that `root` was computed from, with its `_prev`, in no special order."""
        return [(node, list(operands)) for node, operands in self._ask("graph", root)]

    def differentiate(self, root: Any, leaves: list[Any], upstream: float) -> tuple[Any, list[Any]]:
        """A backward pass by hand, each node's step after those of all that it feeds.

        Returns the root's number and the leaves' gradients.
        """
        number, grads, _ = self._ask("differentiate", root, leaves, upstream)
        return number, grads

    def invoke(self, target: Any, name: str) -> None:
        """Call a method without arguments, for what it does and not for what it returns."""
        self._later("invoke", target, name)

    def call(self, function: Any, *arguments: Any) -> Any:
        """The result of a call as the object it is, also where it is a collection."""
        return self._later("call", function, list(arguments), {})

    def lengths(self, collections: Any) -> list[Any]:
        """The length of each part of a collection of collections."""
        return self.items(self._ask("lengths", collections))

    def has(self, target: Any, name: str) -> bool:
        return self._ask("has", target, name) is True

    def is_callable(self, value: Any) -> bool:
        return isinstance(value, Remote) and self._ask("callable", value) is True

    def is_instance(self, value: Any, kind: Any) -> bool:
        return isinstance(value, Remote) and self._ask("isinstance", value, kind) is True

    def text(self, value: Any) -> str:
        """`repr(value)`, made where the engine lives."""
        return str(self._ask("repr", value))

    def error_of(self, action: Callable[[], Any]) -> str | None:
        """The nearest built-in exception that `action` raises in the engine, or None."""
        self._flush()
        try:
            action()
            self._flush()
        except StudentError as error:
            return error.kind
        return None

    def define(self, name: str, value: Any) -> None:
        """Put a name into the namespace; functions stay here and are called back."""
        self._later("define", name, value)

    def define_class(
        self, name: str, methods: dict[str, Callable[..., Any]], bases: Iterable[Any] = ()
    ) -> Any:
        """Make a class there whose methods stay here; its bases are classes there."""
        numbers = {name: self._number(method) for name, method in methods.items()}
        return self._later("class", name, numbers, list(bases), self._tracer is not None)

    @contextmanager
    def lending(self, tracer: Tracer) -> Iterator[None]:
        """What is defined meanwhile is called back only where the tracer gives no program."""
        self._tracer = tracer
        try:
            yield
        finally:
            self._tracer = None

    def define_nodes(
        self,
        name: str,
        methods: dict[str, Callable[..., Any]],
        makers: dict[str, Callable[..., None]],
        usual: dict[str, str],
        note: Callable[..., None],
        alone: Iterable[str] = (),
    ) -> Any:
        """Make a class there of many small nodes, such as an engine is made of.

        A node holds a number `data`, a gradient `grad` and a list `_prev` of nodes.

        Args:
            methods: what a node can do. They stay here and are called with the node.
            makers: methods that give a new node, `__init__` among them. They stay here and are
                called with the node, which is there already, and what it is made from; they
                `fill` it.
            usual: makers that need not be called, with which of `NUMBERS` works out `data` there.
                Where it gives no float they are called all the same.
            note: called with the maker's name, the node and what it is made from, for each node
                that was made without its maker, before another function is called with it or with
                what was made from it.
            alone: usual makers whose nodes hold an empty list.
        """
        called = {key: self._number(method) for key, method in methods.items()}
        made = {key: self._number(maker) for key, maker in makers.items()}
        noted = {}
        for key, number in usual.items():
            self._notes.append(partial(note, key))
            noted[key] = [len(self._notes) - 1, number]
        note_all = self._number(lambda: None)
        self._later("node_class", name, called, made, noted, list(alone), note_all)
        return getattr(self, name)

    def fill(self, target: Any, **attributes: Any) -> None:
        """Set attributes of an object that was not looked at before."""
        encoded = {name: self._encode(value) for name, value in attributes.items()}
        if self._serving:
            self._told[target._number] = encoded
        flat = [part for pair in encoded.items() for part in pair]
        self._waiting.append(["fill", None, self._encode(target), *flat])

    def expression(self, function: Callable[..., Any]) -> Remote:
        """A function that does there, to nodes or numbers, the arithmetic that `function` does.

        It may not depend on what its arguments are.
        """
        return self._later("expression", traced(function))

    def operation(
        self,
        number: Callable[..., Any],
        *slopes: Callable[..., Any],
        adds: bool = True,
    ) -> Remote:
        """An operation on nodes, carried out there, whose gradients may be wrong.

        Args:
            number: arithmetic that gives the new node's number from its operands' numbers.
            slopes: for each operand, arithmetic that gives what is taken for its derivative.
            adds: whether the backward step adds to gradients, or overwrites them.
        """
        programs = [traced(slope) for slope in slopes]
        return self._later("operation", self.Value, traced(number), programs, adds)

    def timed(self, action: Callable[[], T]) -> tuple[Remote, T]:
        """For how many seconds `action` computes where the engine lives, and what it gives.

        The seconds stay there, for they are never the same twice: `is_shorter` compares them.
        """
        start = self._later("clock")
        result = action()
        return self._later("since", start), result

    def is_shorter(self, seconds: Remote, times: float, parts: list[Remote]) -> bool:
        """Whether a time is shorter than `times` the time of all parts, undisturbed.

        All parts are as much work, and the shortest is taken for each. Leave much room: who shares
        a processor's caches makes it slower.
        """
        return self._ask("is_shorter", seconds, times, parts, remember=False) is True

    def finish(self) -> None:
        """Carry out every step that was not waited for. Raises `StudentError` if one failed."""
        self._flush()

    def follow(self, turn: Turn) -> Any:
        """How a conversation ends that goes as one before; None where a test has to lead it."""
        return self._channel.follow(turn)

    @property
    def said(self) -> list[Exchange] | None:
        """What was said, if it was written down."""
        return self._channel.said

    @property
    def lent(self) -> tuple[str, ...]:
        """As `Channel.lent`."""
        return self._channel.lent

    def start_over(self) -> None:
        """Forget the objects that came up since this was called first, as their process does."""
        if self._first is None:
            self._first = self._same, self._remotes
        same, remotes = self._first
        self._same, self._remotes = dict(same), dict(remotes)
        self._told, self._waiting = {}, []

    def forget(self) -> None:
        """Let go of the objects that it knows, which hold on to it: a test has ended."""
        self._remotes = {}

    # Messages.

    def _later(self, name: str, *arguments: Any) -> Remote:
        """A step whose result is an object: sent along with the next question."""
        number = self._channel.next_number()
        self._outdate()
        self._waiting.append([name, number, *map(self._encode, arguments)])
        if len(self._waiting) > 500:
            self._flush()
        return Remote(self, number)

    def _ask(self, name: str, *arguments: Any, remember: bool = True) -> Any:
        """A step whose result is wanted now."""
        self._outdate()
        self._waiting.append([name, None, *map(self._encode, arguments)])
        return self._flush(remember)

    def _outdate(self) -> None:
        """What the test was told unasked holds until the next step."""
        if not self._serving:
            self._told = {}

    def _flush(self, remember: bool = True) -> Any:
        if not self._waiting:
            return None
        steps, self._waiting = self._waiting, []
        answer = self._channel.perform(steps)
        if "same" in answer:
            self._same.update(_numbers(answer["same"]))
        kinds = answer.get("error")
        if kinds is not None:
            if type(kinds) is not list or not all(type(kind) is str for kind in kinds):
                raise wire.WireError("not an error")
            error = StudentError(kinds[:12])
            if not self._serving:
                self._write_down(("error", error.kind))
            raise error
        value = wire.decode(answer.get("value"), self._resolve)
        # What a function of ours reads while it is called is no answer to the test.
        if self._serving:
            return _harmless(value)
        if remember:
            self._remember(value)
        self._told = _by_number(answer.get("told", []))
        return value

    def _value(self, message: Any) -> Any:
        return wire.decode(message, self._resolve)

    def _told_before(self, message: Any) -> Any:
        """A value, or a list of them, that was told before it was asked for."""
        if type(message) is list:
            value: Any = [wire.decode(each, self._resolve) for each in message]
        else:
            value = self._value(message)
        if self._serving:
            return _harmless(value)
        self._remember(value)
        return value

    def _remember(self, value: Any) -> None:
        """Write down what came back: objects count, but which they are does not."""
        if isinstance(value, (list, tuple, set, frozenset)):
            self._write_down(("items", len(value)))
            if not isinstance(value, (set, frozenset)):
                for item in value:
                    self._remember(item)
        elif not isinstance(value, Remote):
            self._write_down(value)

    def _write_down(self, value: Any) -> None:
        self._room -= 10 + (len(value) if isinstance(value, str) else 0)
        if self._room >= 0:
            self.seen.append(value)

    def _resolve(self, kind: str, number: int) -> Any:
        if kind != "object":
            raise wire.WireError("not an object")
        known = self._remotes.get(number)
        if known is None:
            known = Remote(self, number, known=number)
            # Student code may send any number of numbers.
            if len(self._remotes) < _MOST_REMOTES:
                self._remotes[number] = known
        return known

    def _encode(self, value: Any) -> Any:
        if type(value) is Remote and value._engine is self:  # as most are
            return {"object": value._number}
        return wire.encode(value, self._handle)

    def _handle(self, value: Any) -> dict[str, int]:
        if isinstance(value, Remote):
            if value._engine is not self:
                raise TypeError("this object belongs to another engine")
            return {"object": value._number}
        if callable(value):
            return {"lent" if self._tracer else "function": self._number(value)}
        raise TypeError(f"a {type(value).__name__} cannot be sent to an engine")

    def _number(self, function: Callable[..., Any]) -> int:
        """The number that a function of ours is called by; the next one is its tracer's."""
        number = self._channel.register(self._calling(function))
        if self._tracer is not None:
            self._channel.register(partial(self._tracer, function))
        return number

    def _calling(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as student code calls it: with wire arguments, for a wire value.

        It is told what its arguments hold at the time, and which nodes were made before.
        With its value come the steps that are to be done before the value is used.
        """

        def call(arguments: Any, keywords: Any, told: Any, noted: Any) -> dict[str, Any]:
            positional = _harmless(wire.decode(arguments, self._resolve))
            named = _harmless(wire.decode(keywords, self._resolve))
            if len(noted) > MAX_UNNOTED:
                raise wire.WireError("too many nodes at once")
            self._told = _by_number(told)
            self._serving += 1
            try:
                for index, node, data, grad, *operands in noted:
                    if type(index) is not int or not 0 <= index < len(self._notes):
                        raise wire.WireError("no such maker")
                    made, *given = _harmless([self._value(each) for each in (node, *operands)])
                    if type(made) is not Remote:
                        raise wire.WireError("not a node")
                    self._told.setdefault(made._number, {}).update(data=data, grad=grad)
                    self._notes[index](made, *given)
                value = self._encode(function(*positional, **named))
            except StudentError as error:
                raise failure(error.kind) from error
            finally:
                self._serving -= 1
                self._told = {}
            steps, self._waiting = self._waiting, []
            return {"value": value, "steps": steps}

        return call


def _numbers(pairs: Any) -> dict[int, int]:
    """Which numbers mean the same object as another, as student code's side tells."""
    found = {}
    for number, known in pairs if type(pairs) is list else ():
        if type(number) is not int or type(known) is not int:
            raise wire.WireError("not numbers of objects")
        found[number] = known
    return found


def _by_number(pairs: Any) -> dict[int, dict[str, Any]]:
    """What objects hold, by their numbers, as student code's side tells."""
    found = {}
    for number, held in pairs if type(pairs) is list else ():
        if type(number) is not int or type(held) is not dict:
            raise wire.WireError("not what objects hold")
        found[number] = held
    return found


def _harmless(value: Any) -> Any:
    """What student code gives to a function of ours, with nothing in it that explodes.

    `3 ** 10**10`, or a long text times 10**9, would keep the grader busy or fill its memory in
    one operation that nothing can interrupt. So whole numbers stay whole while they are small
    and are floats beyond, and long texts are refused.
    """
    kind = type(value)
    if kind is Remote or kind is float:
        return value
    if kind is int and abs(value) > _SMALL:
        return float(value)
    if kind is str and len(value) > 10_000:
        raise ValueError("the text is too long")
    if kind is dict:
        return {key: _harmless(item) for key, item in value.items()}
    if kind is tuple or kind is list or kind is set:
        return kind(map(_harmless, value))
    return value


class Remote:
    """An object that lives where the engine does; only its name is here."""

    __slots__ = ("_engine", "_gives_object", "_known", "_number")

    def __init__(self, engine: Engine, number: int, known: int | None = None) -> None:
        object.__setattr__(self, "_engine", engine)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_known", known)
        object.__setattr__(self, "_gives_object", False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        told = self._engine._told.get(self._number, {})
        if name in told:
            return self._engine._told_before(told[name])
        if name in _MAKE_NODES:
            method = self._engine._later("get", self, name)
            object.__setattr__(method, "_gives_object", True)
            return method
        return self._engine._ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._number in self._engine._told:
            self._engine._told[self._number].pop(name, None)
        elif self._number < 0:  # it may be any of the others
            self._engine._told = {}
        self._engine._later("set", self, name, value)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        # An object that is made need not be waited for.
        if self._gives_object:
            return self._engine._later("call", self, list(arguments), keywords)
        # Whatever is called may change what an object holds.
        self._engine._told = {}
        return self._engine._ask("call", self, list(arguments), keywords)

    def _identity(self) -> int:
        """The number that stands for the object itself, however it was reached."""
        if self._known is None:
            self._engine.finish()
            known = self._engine._same.get(self._number, self._number)
            object.__setattr__(self, "_known", known)
        number: int = self._known
        return number

    def __eq__(self, other: object) -> bool:
        """Whether both are the very same object; the object's own `__eq__` is never asked."""
        if self is other:
            return True
        if not isinstance(other, Remote):
            return False
        same: bool = self._engine is other._engine and self._identity() == other._identity()
        return same

    def __hash__(self) -> int:
        known = self._known
        return self._identity() if known is None else known

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[()]:
        """Lets `class Neuron(Module)` stand here, too: what it inherits is there."""
        return ()

    def __instancecheck__(self, value: Any) -> bool:
        inside: bool = self._engine.is_instance(value, self)
        return inside

    def __repr__(self) -> str:
        return "<an object of the engine>"

    def __neg__(self) -> Any:
        return self._engine._later("unary", "neg", self)


def _binary(name: str) -> Callable[[Remote, Any], Any]:
    def method(self: Remote, other: Any) -> Any:
        return self._engine._later("binary", name, self, other)

    return method


def _reflected(name: str) -> Callable[[Remote, Any], Any]:
    def method(self: Remote, other: Any) -> Any:
        return self._engine._later("binary", name, other, self)

    return method


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Remote, f"__{_name}__", _binary(_name))
    setattr(Remote, f"__r{_name}__", _reflected(_name))
