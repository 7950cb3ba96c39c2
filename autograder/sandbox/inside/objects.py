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

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "pow": operator.pow,
    "iadd": operator.iadd,
    "isub": operator.isub,
    "imul": operator.imul,
    "itruediv": operator.itruediv,
}
UNARY: dict[str, Callable[[Any], Any]] = {"neg": operator.neg, "pos": operator.pos}


_PLAIN = frozenset([type(None), bool, int, float, str])
_SIZED = (str, list, tuple, set, frozenset, dict)
_FEW = 1000
"""How many items a collection may have to be told of unasked."""
MAX_UNMADE = 1000
"""How many objects may wait to be made."""
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
"""What the number of a new object may be worked out by where it is made."""
_MAY_FAIL = frozenset(["__truediv__", "__rtruediv__", "__pow__", "__rpow__"])
"""Operations that raise for some numbers, which a program may wait for."""
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
                decoded = [wire.decode(each, self._resolve) for each in arguments]
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
            answer = {"error": _type_names(error)}
        if same:
            answer["same"] = same
        if told:
            answer["told"] = list(told.items())
        return answer

    def _resolve(self, kind: str, number: int) -> Any:
        return self._objects[number] if kind == "object" else self._function(number)

    def _function(
        self, number: int, unmade: dict[int, list[Any]] | None = None, is_method: bool = False
    ) -> Callable[..., Any]:
        """A function that is carried out on the grader's side.

        The grader is told unasked what the arguments hold, and which objects are to be made
        first. It answers with the steps that are to be done before the result is used.

        Args:
            unmade: objects that wait to be made: those behind the arguments are, or, where there
                are no arguments, all.
        """

        def function(*arguments: Any, **keywords: Any) -> Any:
            told: dict[int, dict[str, Any]] = {}
            made_first = _taken(unmade, arguments) if unmade else []
            known = {id(made) for _, made, *_ in made_first}
            for _, _, *operands in made_first:
                self._tell([each for each in operands if id(each) not in known], told)
            for argument in arguments:
                self._tell(argument, told)
            if is_method:
                self._tell_all(arguments[0], told)
            both = [wire.encode(arguments, self._handle), wire.encode(keywords, self._handle)]
            made = [
                [number, *(wire.encode(each, self._handle) for each in rest)]
                for number, *rest in made_first
            ]
            answer = self._callback(number, [*both, list(told.items()), made])
            done = self.perform(answer["steps"])
            if "error" in done:
                raise failure(next(filter(_FAILURES.__contains__, done["error"]), ""))
            return wire.decode(answer["value"], self._resolve)

        return function

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
        try:
            return self.namespace[name]
        except KeyError:
            raise NameError(name) from None

    def _define(self, name: str, value: Any) -> None:
        self.namespace[name] = value

    def _class(self, name: str, methods: dict[str, int], bases: list[Any]) -> Any:
        functions = {key: self._function(number, is_method=True) for key, number in methods.items()}
        created = type(name, tuple(bases), functions)
        self._ours.add(created)
        self.namespace[name] = created
        return created

    def _node_class(
        self,
        name: str,
        methods: dict[str, int],
        makers: dict[str, int],
        numbers: dict[str, str],
        make: int,
    ) -> Any:
        """A class whose `makers` give a new object at once, to be made when it is looked at.

        Of most objects nobody wants more than the number, which `numbers` says how to work out.
        """
        unmade: dict[int, list[Any]] = {}
        functions = {key: self._function(number, unmade, True) for key, number in methods.items()}
        make_all = self._function(make, unmade)

        def maker(key: str, number: int) -> Callable[..., Any]:
            number_of = NUMBERS.get(numbers.get(key, ""))

            def method(node: Any, *operands: Any) -> Any:
                made = node if key == "__init__" else object.__new__(created)
                at_work = operands if key == "__init__" else (node, *operands)
                waits = all(type(each) in (float, int, created) for each in at_work)
                # What may fail, fails here and now.
                if number_of is None:
                    waits = waits and key not in _MAY_FAIL
                elif waits:
                    result = number_of(*(getattr(each, "data", each) for each in at_work))
                    waits = type(result) is float
                    if waits:
                        vars(made)["data"] = result
                unmade[id(made)] = [number, made, *at_work]
                if not waits or len(unmade) >= MAX_UNMADE:
                    make_all()
                return None if made is node else made

            return method

        def look(node: Any, name: str) -> Any:
            if unmade:
                make_all()
            return object.__getattribute__(node, name)

        def change(node: Any, name: str, value: Any) -> None:
            # What is not made yet is to be made of what there was.
            if unmade and (not numbers or name == "data" or id(node) in unmade):
                make_all()
            object.__setattr__(node, name, value)

        functions |= {key: maker(key, number) for key, number in makers.items()}
        functions |= {"__getattr__": look, "__setattr__": change}
        created = type(name, (), functions)
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

    def _clock(self, collect: bool) -> float:
        """The time in seconds; garbage is not looked for in a time that is measured."""
        (gc.enable if collect else gc.disable)()
        return time.perf_counter()

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


def _taken(unmade: dict[int, list[Any]], wanted: tuple[Any, ...]) -> list[list[Any]]:
    """Take out the objects that `wanted` was made from, in the order in which they were made.

    Without `wanted`, all of them.
    """
    if wanted:
        found: set[int] = set()
        waiting = list(wanted)
        while waiting:
            key = id(waiting.pop())
            if key in unmade and key not in found:
                found.add(key)
                waiting += unmade[key][2:]
    else:
        found = set(unmade)
    return [unmade.pop(key) for key in list(unmade) if key in found]


def _held(value: Any) -> dict[str, Any] | None:
    """What an object holds under names of its own; None where it has no such names.

    A property is left out: it need not be what the attribute gives.
    """
    kind: Any = type(value)
    held = getattr(value, "__dict__", None)
    if type(held) is not dict or kind.__getattribute__ is not object.__getattribute__:
        return None
    return {name: item for name, item in held.items() if not hasattr(kind, name)}


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
