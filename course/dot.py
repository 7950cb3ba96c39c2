"""Reads text in the DOT language, so that a student's drawing can be checked without the `dot`
program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_MAX_DEPTH = 20
_MAX_TEXT = 200_000
_MAX_NODES = 1_000
_MAX_EDGES = 2_000

_TOKEN = re.compile(
    r"""\s+ | //[^\n]* | \#[^\n]* | /\*.*?\*/
    | (?P<quoted>"(?:[^"\\]|\\.)*")
    | (?P<bare>-?(?:\.\d+|\d+(?:\.\d*)?) | [^\W\d]\w*)
    | (?P<mark>-> | -- | [\[\]{}=;,:+])
    | (?P<html><)
    """,
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")

_STRANGE = {
    '"': "a quotation mark is not closed",
    "'": "DOT knows double quotation marks only",
}


class DotError(ValueError):
    """The text is not a graph in the DOT language. The message names the fault."""


@dataclass
class DotGraph:
    """A graph in the DOT language.

    Attributes:
        labels: the text that each node shows, by the node's name.
        edges: the arrows, each as (name of its first node, name of its last node).
    """

    labels: dict[str, str] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)

    @property
    def nothing_leads_to(self) -> set[str]:
        """The names of the nodes without an arrow into them."""
        return self.labels.keys() - {end for _, end in self.edges}

    @property
    def nothing_leads_from(self) -> set[str]:
        """The names of the nodes without an arrow out of them."""
        return self.labels.keys() - {start for start, _ in self.edges}

    def showing(self, number: float) -> list[str]:
        """Return the names of the nodes whose label shows this number, up to a difference of
        0.01."""
        return list(self._shown([number]))

    def flow(self, numbers: Sequence[float]) -> set[tuple[float, float]]:
        """Return a pair (a, b) of these numbers if arrows lead from a node that shows a to a node
        that shows b.

        Between the two there may be nodes that show none of the numbers, such as the node of an
        operation.
        """
        shown = self._shown(numbers)
        onward: dict[str, list[str]] = {}
        for start, end in self.edges:
            onward.setdefault(start, []).append(end)
        found: set[tuple[float, float]] = set()
        # One walk through the graph for each number, from all nodes that show it at once: many
        # nodes may show the same number.
        for number in set(shown.values()):
            starts = [name for name, each in shown.items() if each == number]
            met: set[str] = set()
            waiting = [end for start in starts for end in onward.get(start, ())]
            while waiting:
                end = waiting.pop()
                if end in shown:
                    found.add((number, shown[end]))
                elif end not in met:
                    met.add(end)
                    waiting += onward.get(end, ())
        return found

    def _shown(self, numbers: Sequence[float]) -> dict[str, float]:
        """Return, by name of a node that shows one of the numbers, this number; of several numbers,
        the last."""
        pairs = [(name, each) for name, label in self.labels.items() for each in _numbers(label)]
        return {name: n for n in numbers for name, each in pairs if abs(each - n) < 0.01}


def _numbers(label: str) -> tuple[float, ...]:
    return tuple(float(text.replace("−", "-")) for text in _NUMBER.findall(label))


def read_dot(text: str) -> DotGraph:
    """Read a directed graph from DOT text.

    Names may be bare or quoted; `a -> b -> c`, `a -> {b c}`, attributes, ports, comments and
    subgraphs are understood. All attributes except `label` are ignored.

    Raises:
        DotError: the text is not a directed graph in the DOT language.
    """
    if not isinstance(text, str):
        raise DotError(f"DOT is text, and this is of type {type(text).__name__}")
    if len(text) > _MAX_TEXT:
        raise DotError(f"the text is longer than {_MAX_TEXT:,} characters")
    return _Reader(text).graph()


class _Reader:
    """Reads one DOT text from start to end, one token after another."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._place = 0
        self._graph = DotGraph()

    def graph(self) -> DotGraph:
        is_strict = self._accept("strict", bare=True)
        if not self._accept("digraph", bare=True):
            raise DotError("the text must begin with `digraph`, for arrows with a direction")
        if not self._peek("{"):
            self._name()
        self._statements(0)
        if self._place < len(self._tokens):
            raise DotError("there is more text after the closing brace")
        if is_strict:  # in a strict graph, arrows between the same two nodes count as one
            self._graph.edges = list(dict.fromkeys(self._graph.edges))
        return self._graph

    def _statements(self, depth: int) -> list[str]:
        """Read the statements between two braces, and return the names of the nodes in them."""
        if depth > _MAX_DEPTH:
            raise DotError("the braces are nested too deeply")
        self._require("{")
        names: list[str] = []
        while not self._accept("}"):
            if self._place >= len(self._tokens):
                raise DotError("the closing brace is missing")
            if not (self._accept(";") or self._accept(",")):
                names += self._statement(depth)
        return names

    def _statement(self, depth: int) -> list[str]:
        for word in ("graph", "node", "edge"):
            if self._accept(word, bare=True):
                self._attributes()
                return []
        if self._peek("=", ahead=1):  # an attribute of the graph
            self._name()
            self._require("=")
            self._name()
            return []
        groups = [self._group(depth)]
        while self._peek("->") or self._peek("--"):
            if self._accept("--"):
                raise DotError("`--` has no direction; write `->`")
            self._require("->")
            groups.append(self._group(depth))
        attributes = self._attributes()
        for starts, ends in pairwise(groups):
            if len(self._graph.edges) + len(starts) * len(ends) > _MAX_EDGES:
                raise DotError(f"there are more than {_MAX_EDGES:,} arrows")
            self._graph.edges += [(start, end) for start in starts for end in ends]
        if len(groups) == 1 and "label" in attributes:
            for name in groups[0]:
                self._graph.labels[name] = attributes["label"]
        return [name for group in groups for name in group]

    def _group(self, depth: int) -> list[str]:
        """Read a node or a subgraph, and return its nodes' names."""
        if self._accept("subgraph", bare=True) and not self._peek("{"):
            self._name()
        if self._peek("{"):
            return self._statements(depth + 1)
        name = self._name()
        while self._accept(":"):  # a port
            self._name()
        if len(self._graph.labels) >= _MAX_NODES:
            raise DotError(f"there are more than {_MAX_NODES:,} nodes")
        self._graph.labels.setdefault(name, name)
        return [name]

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._accept("["):
            while not self._accept("]"):
                if self._accept(";") or self._accept(","):
                    continue
                key = self._name()
                found[key] = self._name() if self._accept("=") else "true"
        return found

    # Tokens are pairs (kind, text).

    def _peek(self, mark: str, ahead: int = 0) -> bool:
        return self._tokens[self._place + ahead : self._place + ahead + 1] == [("mark", mark)]

    def _accept(self, text: str, bare: bool = False) -> bool:
        here = self._tokens[self._place : self._place + 1]
        if bare:
            matches = bool(here) and here[0][0] == "bare" and here[0][1].lower() == text
        else:
            matches = here == [("mark", text)]
        self._place += matches
        return matches

    def _require(self, mark: str) -> None:
        if not self._accept(mark):
            raise DotError(f"`{mark}` is missing {self._where()}")

    def _name(self) -> str:
        kind, text = self._next()
        parts = [text]
        while kind == "quoted" and self._accept("+"):  # "long " + "text"
            kind, text = self._next()
            parts.append(text)
        return "".join(parts)

    def _next(self) -> tuple[str, str]:
        """Read the next token, which must be a name or a piece of one; return its kind and text."""
        if self._place >= len(self._tokens):
            raise DotError("the text ends too early; is the closing brace there?")
        kind, text = self._tokens[self._place]
        if kind == "mark":
            raise DotError(f"a name is missing {self._where()}")
        self._place += 1
        return kind, text

    def _where(self) -> str:
        if self._place >= len(self._tokens):
            return "at the end of the text"
        return f"before `{self._tokens[self._place][1][:30]}`"


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            line = text[place:].split("\n")[0][:30]
            hint = _STRANGE.get(text[place], "this is not DOT")
            raise DotError(f"{hint}: `{line}`")
        place = found.end()
        kind = found.lastgroup
        if kind == "html":
            start, depth = place, 1
            while depth:
                if place >= len(text):
                    raise DotError("an angle bracket is not closed")
                depth += {"<": 1, ">": -1}.get(text[place], 0)
                place += 1
            yield "html", re.sub("<[^<>]*>", " ", text[start : place - 1])
        elif kind == "quoted":
            yield kind, re.sub(r'\\(["\n])', r"\1", found[kind][1:-1])
        elif kind is not None:
            yield kind, found[kind]
