"""Performs what the grader asks for on a live namespace, one small step at a time.

The same code serves a student's process behind the wall and, in the grader's own process, an
author's notebook or a model of a mistake: a grading test cannot tell which it drives.
"""

from __future__ import annotations

import gc
import math
import operator
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

from . import wire
from .programs import BINARY, UNARY, look_up, ready, shape_of_call

_PLAIN = frozenset([type(None), bool, int, float, str])
_SIZED = (str, list, tuple, set, frozenset, dict)
_FEW = 1000
"""How many items a collection may have to be told of unasked."""
MAX_UNNOTED = 1000
"""How many nodes may be made before the grader is told of them."""
NUMBERS: dict[str, Callable[..., Any]] = {
    "number": float,
    **{name: BINARY[name] for name in ("add", "sub", "mul", "truediv", "pow")},
    "radd": lambda right, left: left + right,
    "rsub": lambda right, left: left - right,
    "rmul": lambda right, left: left * right,
    "rtruediv": lambda right, left: left / right,
    "neg": operator.neg,
    "tanh": math.tanh,
    "relu": lambda operand: max(operand, 0.0),
}
"""What the number of a new node may be worked out by where it is made."""
_MOST_SHAPES = 100
"""How many shapes of arguments a function is asked about."""
_LEVELS = 4
"""How many collections inside one another are looked through for objects."""


class Objects:
    """A namespace whose objects are reached by number.

    Args:
        namespace: the live globals that the student's cells left behind.
        callback: calls a function that lives on the grader's side, given its number and wire
            arguments, and returns the wire form of its result.
    """

    def __init__(
        self, namespace: dict[str, Any], callback: Callable[[int, list[Any]], Any]
    ) -> None:
        self.namespace = namespace
        self._callback = callback
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._ours: set[type] = set()
        self._nodes: set[type] = set()
        self._test = 0
        self._first: tuple[dict[int, Any], dict[int, int], set[type]] | None = None

    def start_over(self) -> None:
        """Forget the last test's objects, but not those from before the first test.

        Functions of the grader's that the last test sent here fail from now on.
        """
        if self._first is None:
            self._first = self._objects, self._numbers, self._ours
        objects, numbers, ours = self._first
        self._objects, self._numbers, self._ours = dict(objects), dict(numbers), set(ours)
        self._nodes = set()
        self._test += 1

    def perform(self, steps: list[Any]) -> dict[str, Any]:
        """Perform the steps in order; the answer holds the last one's value, or the first error.

        Each step is `[name, into, *arguments]`; a step with a number `into` keeps its result
        under that number instead of sending it back. Unasked, the answer says which results are
        objects that had a `same` number before, and, as one who reads a number mostly reads
        others, is `told` what the results hold.
        """
        answer: dict[str, Any] = {"value": None}
        same: list[list[int]] = []
        told: dict[int, dict[str, Any]] = {}
        try:
            for name, into, *arguments in steps:
                decoded = [self._decoded(each) for each in arguments]
                result = getattr(self, f"_{name}")(*decoded)
                if into is None:
                    answer["value"] = wire.encode(result, self._handle)
                else:
                    self._objects[into] = result
                    if type(result) not in _PLAIN:
                        known = self._numbers.setdefault(id(result), into)
                        if known != into:
                            same.append([into, known])
            if steps and steps[-1][0] == "get" and len(steps) <= _FEW:
                for _, into, *_ in steps:
                    self._tell(self._objects.get(into), told)
        except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
            gc.enable()  # Where a time was being measured, its end is not reached.
            answer = {"error": _type_names(error)}
        if same:
            answer["same"] = same
        if told:
            answer["told"] = list(told.items())
        return answer

    def _decoded(self, message: Any) -> Any:
        """As `wire.decode`, which is asked for what comes seldom."""
        kind = type(message)
        if kind is str or kind is float:
            return message
        if kind is dict:
            if "object" in message:
                return self._objects[message["object"]]
            if "list" in message:
                return [self._decoded(each) for each in message["list"]]
        return wire.decode(message, self._resolve)

    def _encoded(self, value: Any) -> Any:
        """As `wire.encode`, which is asked for what comes seldom."""
        kind = type(value)
        if kind in self._nodes:
            return self._handle(value)
        if kind is float and math.isfinite(value):
            return value
        return wire.encode(value, self._handle)

    def _resolve(self, kind: str, number: int) -> Any:
        if kind == "object":
            return self._objects[number]
        return self._lent(number) if kind == "lent" else self._function(number)

    def _function(
        self, number: int, unnoted: dict[int, list[Any]] | None = None, is_method: bool = False
    ) -> Callable[..., Any]:
        """A function that is carried out on the grader's side.

        The grader is told unasked what the arguments hold, and which nodes were made meanwhile.
        It answers with the steps that are to be done before the result is used.

        Args:
            unnoted: nodes that the grader knows nothing of yet: it is told of those behind the
                arguments or, where there are no arguments, of all.
        """
        test = self._test

        def function(*arguments: Any, **keywords: Any) -> Any:
            if test and test != self._test:
                raise failure("")
            told: dict[int, dict[str, Any]] = {}
            nodes = _taken(unnoted, arguments) if unnoted else {}
            noted = [self._note(*node) for node in nodes.values()]
            for _, _, *behind in nodes.values():
                for each in behind:
                    if id(each) not in nodes:
                        self._tell(each, told)
            for argument in arguments:
                if id(argument) not in nodes:
                    self._tell(argument, told)
            if is_method:
                self._tell_all(arguments[0], told)
            both = [wire.encode(arguments, self._handle), wire.encode(keywords, self._handle)]
            answer = self._callback(number, [*both, list(told.items()), noted])
            done = self.perform(answer["steps"])
            if "error" in done:
                raise failure(next(filter(_FAILURES.__contains__, done["error"]), ""))
            return wire.decode(answer["value"], self._resolve)

        return function

    def _lent(self, number: int, is_method: bool = False) -> Callable[..., Any]:
        """A function of the grader's, of which one answer holds for all arguments of a shape.

        The next number is that of its tracer, which gives the program of what it does with
        arguments of a shape, or None where there is none: then it is asked each time.
        """
        ask, tracer = self._function(number, is_method=is_method), number + 1
        programs: dict[Any, Callable[..., Any] | None] = {}

        def function(*arguments: Any, **keywords: Any) -> Any:
            held = _held(arguments[0]) if is_method and arguments else None
            shape, inputs = shape_of_call(arguments, keywords, held or {}, self.namespace)
            if shape not in programs and len(programs) < _MOST_SHAPES:
                found = wire.decode(self._callback(tracer, [shape]), self._resolve)
                programs[shape] = None if found is None else ready(found, self.namespace)
            program = programs.get(shape)
            return ask(*arguments, **keywords) if program is None else program(*inputs)

        return function

    def _note(self, index: int, node: Any, *operands: Any) -> list[Any]:
        """A node of ours as the grader is told of it: its maker, name, numbers and operands."""
        held = vars(node)
        parts = (node, held.get("data"), held.get("grad"), *operands)
        return [index, *map(self._encoded, parts)]

    def _tell(self, value: Any, told: dict[int, dict[str, Any]], depth: int = 0) -> None:
        """Note the numbers that an object holds, or that the objects in a short list hold."""
        if isinstance(value, (list, tuple)):
            if len(value) <= _FEW and depth < _LEVELS:
                for item in value:
                    self._tell(item, told, depth + 1)
        elif (held := _held(value)) is not None:
            noted = told.setdefault(self._handle(value)["object"], {})
            for name, item in held.items():
                if isinstance(item, (int, float)):
                    noted[name] = wire.encode(item, self._handle)

    def _tell_all(self, value: Any, told: dict[int, dict[str, Any]]) -> None:
        """Note whatever an object holds, and the numbers of what it lists."""
        number = self._handle(value)["object"]
        for name, item in (_held(value) or {}).items():
            if len(item if isinstance(item, _SIZED) else ()) <= _FEW:
                told.setdefault(number, {})[name] = wire.encode(item, self._handle)
                self._tell(item, told, depth=1)

    def _handle(self, value: Any) -> dict[str, int]:
        """The name of an object: the same number each time for the same object."""
        number = self._numbers.get(id(value))
        if number is None:
            number = len(self._numbers) + 1
            self._numbers[id(value)] = number
            self._objects[number] = value
        return {"object": number}

    # The steps. Each takes decoded arguments.

    def _name(self, name: str) -> Any:
        return look_up(self.namespace, name)

    def _define(self, name: str, value: Any) -> None:
        self.namespace[name] = value

    def _class(self, name: str, methods: dict[str, int], bases: list[Any], lent: bool) -> Any:
        make = self._lent if lent else self._function
        functions = {key: make(number, is_method=True) for key, number in methods.items()}
        created = type(name, tuple(bases), functions)
        self._ours.add(created)
        self.namespace[name] = created
        return created

    def _node_class(
        self,
        name: str,
        methods: dict[str, int],
        makers: dict[str, int],
        usual: dict[str, list[Any]],
        alone: list[str],
        note: int,
    ) -> Any:
        """A class of nodes, most of which are made here, without asking.

        Args:
            makers: how a node is made on the grader's side, by method.
            usual: those that need not ask: what notes the node there, and which of `NUMBERS`
                works out its number.
            alone: those whose nodes keep no operands.
            note: asked to note all.
        """
        unnoted: dict[int, list[Any]] = {}
        functions = {key: self._function(number, unnoted, True) for key, number in methods.items()}
        note_all = self._function(note, unnoted)

        def maker(key: str, number: int) -> Callable[..., Any]:
            ask = self._function(number, unnoted, True)
            index, number_of = usual.get(key, (0, ""))
            work_out = NUMBERS.get(number_of)

            def method(node: Any, *operands: Any) -> Any:
                made = node if key == "__init__" else object.__new__(created)
                given = operands if key == "__init__" else (node, *operands)
                if work_out is not None:
                    numbers = [
                        vars(each)["data"] if type(each) is created else each
                        for each in given
                        if type(each) in known
                    ]
                    data = work_out(*numbers) if len(numbers) == len(given) else None
                    if type(data) is float:
                        nodes = [] if key in alone else [e for e in given if type(e) is created]
                        vars(made).update(data=data, grad=0.0, _prev=nodes)
                        unnoted[id(made)] = [index, made, *given]
                        if len(unnoted) >= MAX_UNNOTED:
                            note_all()
                        return None if made is node else made
                ask(made, *given)
                return None if made is node else made

            return method

        functions |= {key: maker(key, number) for key, number in makers.items()}
        created = type(name, (), functions)
        known = (float, int, created)
        self._nodes.add(created)
        self.namespace[name] = created
        return created

    def _fill(self, target: Any, *attributes: Any) -> None:
        """Set attributes of a node of ours, given as name, value, name, value …"""
        for name, value in zip(attributes[::2], attributes[1::2], strict=True):
            object.__setattr__(target, name, value)

    def _get(self, target: Any, name: str) -> Any:
        return getattr(target, name)

    def _set(self, target: Any, name: str, value: Any) -> None:
        setattr(target, name, value)

    def _set_all(self, targets: list[Any], name: str, values: list[Any]) -> None:
        for target, value in zip(targets, values, strict=True):
            setattr(target, name, value)

    def _attributes(self, targets: list[Any], name: str) -> list[Any]:
        return [getattr(target, name) for target in targets]

    def _graph(self, root: Any) -> list[tuple[Any, list[Any]]]:
        found: list[tuple[Any, list[Any]]] = []
        seen, waiting = {id(root)}, [root]
        while waiting and len(found) < wire.MAX_ITEMS:
            node = waiting.pop()
            operands = list(node._prev)
            found.append((node, operands))
            for operand in operands:
                if id(operand) not in seen:
                    seen.add(id(operand))
                    waiting.append(operand)
        return found

    def _differentiate(self, root: Any, leaves: list[Any], upstream: float) -> list[Any]:
        """A backward pass by hand: the root's number, the leaves' gradients, the graph's shape."""
        graph = self._graph(root)
        order = results_first(graph)
        for node in order:
            node.grad = 0.0
        root.grad = upstream
        # A leaf's step does nothing, however often it runs: one that was put there by mistake
        # shows.
        for node in (*leaves, *order):
            node._backward()
        shape = [len(operands) for _, operands in graph]
        return [root.data, [leaf.grad for leaf in leaves], shape]

    def _invoke(self, target: Any, name: str) -> None:
        getattr(target, name)()

    def _clock(self) -> float:
        """For how many seconds this thread has computed, whatever else keeps the machine busy.

        Garbage is not looked for in a time that is measured. A process's own clock is no help:
        where its processor time is limited the kernel brings it up to date only now and then.
        """
        gc.disable()
        return time.thread_time()

    def _since(self, start: float) -> float:
        gc.enable()
        return time.thread_time() - start

    def _is_shorter(self, seconds: float, times: float, parts: list[float]) -> bool:
        return seconds < times * len(parts) * min(parts)

    def _has(self, target: Any, name: str) -> bool:
        return hasattr(target, name)

    def _call(self, target: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        return target(*arguments, **keywords)

    def _binary(self, name: str, left: Any, right: Any) -> Any:
        return BINARY[name](left, right)

    def _unary(self, name: str, operand: Any) -> Any:
        return UNARY[name](operand)

    def _fold(self, name: str, start: Any, items: list[Any]) -> Any:
        for item in items:
            start = BINARY[name](start, item)
        return start

    def _deepen(self, kind: Any, node: Any, count: int) -> Any:
        if kind in self._ours:
            # Its `__init__` is the grader's: asked once, it tells what every such node holds.
            node = kind(1.0, (node,), "+")
            held = dict(vars(node))
            for _ in range(count - 1):
                operands = type(held["_prev"])([node])
                node = object.__new__(kind)
                vars(node).update(held, _prev=operands)
            return node
        for _ in range(count):
            node = kind(1.0, (node,), "+")
        return node

    def _expression(self, program: list[Any]) -> Callable[..., Any]:
        return ready(program, self.namespace)

    def _operation(
        self, kind: Any, program: list[Any], slopes: list[list[Any]], adds: bool
    ) -> Callable[..., Any]:
        number = self._expression(program)
        factors = [self._expression(slope) for slope in slopes]

        def operation(*nodes: Any) -> Any:
            inputs = [node.data for node in nodes]
            out = kind(number(*inputs), nodes, "planted")

            def backward() -> None:
                for node, factor in zip(nodes, factors, strict=True):
                    before = node.grad if adds else 0.0
                    node.grad = before + factor(*inputs) * out.grad

            out._backward = backward
            return out

        return operation

    def _sum(self, items: list[Any]) -> Any:
        return sum(items)

    def _items(self, target: Any) -> list[Any]:
        return list(islice(target, wire.MAX_ITEMS))

    def _lengths(self, target: Any) -> list[int]:
        return [len(part) for part in target]

    def _isinstance(self, value: Any, kind: Any) -> bool:
        return isinstance(value, kind)

    def _callable(self, value: Any) -> bool:
        return callable(value)

    def _repr(self, value: Any) -> str:
        return str(repr(value))[: wire.MAX_TEXT]


def _taken(unnoted: dict[int, list[Any]], wanted: tuple[Any, ...]) -> dict[int, list[Any]]:
    """Take out the nodes that `wanted` was made from, in the order in which they were made.

    Without `wanted`, all of them. What is known of each is given by its id.
    """
    if wanted:
        found: set[int] = set()
        waiting = list(wanted)
        while waiting:
            key = id(waiting.pop())
            if key in unnoted and key not in found:
                found.add(key)
                waiting += unnoted[key][2:]
    else:
        found = set(unnoted)
    return {key: unnoted.pop(key) for key in list(unnoted) if key in found}


def _held(value: Any) -> dict[str, Any] | None:
    """What an object holds under names of its own; None where it has no such names.

    A property is left out: it need not be what the attribute gives.
    """
    kind: Any = type(value)
    held = getattr(value, "__dict__", None)
    if type(held) is not dict or kind.__getattribute__ is not object.__getattribute__:
        return None
    for base in kind.__mro__:
        names = base.__dict__
        for name in held:
            if name in names:
                return {each: held[each] for each in held if not hasattr(kind, each)}
    return held


def results_first(graph: list[tuple[Any, list[Any]]], key: Callable[[Any], Any] = id) -> list[Any]:
    """The nodes of a graph, each after all that it feeds: the root first.

    Args:
        graph: each node with its operands.
        key: tells one node from another.
    """
    nodes = {key(node): (node, operands) for node, operands in graph}
    uses = dict.fromkeys(nodes, 0)
    for _, operands in graph:
        for operand in operands:
            uses[key(operand)] += 1
    order: list[Any] = []
    ready = [name for name, count in uses.items() if count == 0]
    while ready:
        node, operands = nodes[ready.pop()]
        order.append(node)
        for operand in operands:
            uses[key(operand)] -= 1
            if uses[key(operand)] == 0:
                ready.append(key(operand))
    return order


_FAILURES = {kind.__name__: kind for kind in (TypeError, ValueError, ZeroDivisionError)}


def failure(name: str) -> Exception:
    """What student code meets where a function of the grader's raised the exception `name`."""
    return _FAILURES.get(name, RuntimeError)("the function given to this code failed")


def _type_names(error: BaseException) -> list[str]:
    """The names of the exception's class and of its ancestors, nearest first."""
    return [kind.__name__[:80] for kind in type(error).__mro__ if kind is not object][:12]
