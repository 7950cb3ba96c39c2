"""Samples: public lines that are played with many numbers, and what a course says of them.

A `sample` cell in a file of misconceptions gives, as headers, a column of numbers for each name,
the quantities that are looked at, and what the right one is; docs/authors.md tells the form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from ..errors import CourseError

FACTORS = (1.75, -0.6, 2.5, -1.3, 0.45, 3.1, -2.2)
HELD = (0.75, -1.4, 2.3, 0.35, -0.85)
"""What `g` and `h`, the factor of a share and what was held before, are at one point after another:
as many as have no common divisor, so that they never go together."""

_RESERVED = (
    "about",
    "regions",
    "results",
    "shares",
    "facts",
    "functions",
    "derived",
    "where",
    "also",
    "part",
)


@dataclass(frozen=True)
class Quantity:
    """What is looked at.

    Attributes:
        kind: "result", "share" or "fact".
        name: the expression that is looked at.
        formula: the right result, or slope of a share; "" for a fact.
        says: what the code does where a fact is observed to be this, in words.
    """

    kind: str
    name: str
    formula: str = ""
    says: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """Lines to play with many numbers.

    Attributes:
        code: the lines.
        names: of the numbers; with shares, `g` and `h` are the last two.
        points: the numbers, a row for each point.
        quantities: what is looked at, results first.
        regions: partitions of the points, each a few conditions.
        functions: what a formula may call.
        about: where the sample holds, in words; empty for the usual case.
        derived: more names that a formula may use, and how each is computed.
        also: more formulas that a student may follow, beside those near the right one.
        where: what the names in formulas stand for, in words, if the lines do not show it.
        extra: whether it is about the part of an exercise that the course can do without.
    """

    code: str
    names: tuple[str, ...]
    points: tuple[tuple[float, ...], ...]
    quantities: tuple[Quantity, ...]
    regions: tuple[tuple[str, ...], ...] = ()
    functions: tuple[str, ...] = ()
    about: str = ""
    derived: dict[str, str] = field(default_factory=dict)
    where: str = ""
    also: tuple[str, ...] = ()
    extra: bool = False

    @property
    def as_table(self) -> dict[str, Any]:
        """What the public table says of it, beside the numbers of formulas."""
        return {
            "code": self.code,
            "about": self.about,
            "derived": self.derived,
            "where": self.where,
            "names": list(self.names),
            "points": [list(row) for row in self.points],
            "observe": [each.name for each in self.quantities],
            **({"extra": True} if self.extra else {}),
        }


@dataclass(frozen=True)
class Behaviour:
    """A solution cell that can go wrong in several ways, each a choice.

    Attributes:
        code: the cell; it uses the choices' names, which are texts.
        choices: for each name its values, the right one first, and what each does, in words that
            follow "Your code behaves as if it"; the right one has none.
        ask: the question that ends an explanation.
    """

    code: str
    choices: dict[str, dict[str, str]]
    ask: str

    def wrong_choices(self, count: int) -> Iterator[dict[str, str]]:
        """Each way to choose wrongly for so many of the names."""
        for names in combinations(self.choices, count):
            for values in product(*([*self.choices[name]][1:] for name in names)):
                yield dict(zip(names, values, strict=True))

    def source(self, chosen: dict[str, str]) -> str:
        """The cell with these choices; the right one where nothing is chosen."""
        values = {name: next(iter(each)) for name, each in self.choices.items()} | chosen
        return "".join(f"{name} = {value!r}\n" for name, value in values.items()) + self.code

    def says(self, chosen: dict[str, str]) -> str:
        """What it does with these choices."""
        words = ", and ".join(self.choices[name][value] for name, value in chosen.items())
        return f"Your code behaves as if it {words}. {self.ask}"


def read_behaviour(where: str, headers: dict[str, str], code: str) -> Behaviour:
    """The behaviour that a cell declares: `# order: after | before: lists a node before …`.

    Raises `CourseError` where a wrong choice is not described.
    """
    choices = {}
    for name, text in headers.items():
        if name != "ask":
            parts = [part.strip().partition(": ") for part in text.split(" | ")]
            choices[name] = {value: words for value, _, words in parts}
            if not all([words for _, _, words in parts[1:]]):
                raise CourseError(f"{where}: say what each wrong choice of `{name}` does")
    return Behaviour(code, choices, headers.get("ask", ""))


def read_sample(where: str, headers: dict[str, str], code: str) -> Sample:
    """The sample that a cell declares.

    Raises `CourseError` where its columns differ in length or it looks at nothing.
    """
    columns = {
        name: [_number(where, each) for each in text.split(",")]
        for name, text in headers.items()
        if name not in _RESERVED
    }
    quantities = []
    for kind, key in (("result", "results"), ("share", "shares")):
        for each in _parts(headers, key):
            name, _, formula = each.partition(" = ")
            quantities.append(Quantity(kind, name.strip(), formula.strip()))
    for each in _parts(headers, "facts"):
        name, _, said = (part.strip() for part in each.partition(" | "))
        seen, _, words = (part.strip() for part in said.partition(": "))
        quantities.append(Quantity("fact", name, says={seen: words} if words else {}))
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or not quantities:
        raise CourseError(
            f"{where}: a sample has columns of numbers, `# x: 2.0, -1.5`, all of one length, and "
            "looks at something: `# results: NAME = FORMULA`, `# shares: …` or `# facts: …`"
        )
    if any(each.kind == "share" for each in quantities):
        count = lengths.pop()
        columns["g"] = [FACTORS[i % len(FACTORS)] for i in range(count)]
        columns["h"] = [HELD[i % len(HELD)] for i in range(count)]
    return Sample(
        code,
        tuple(columns),
        tuple(zip(*columns.values(), strict=True)),
        tuple(quantities),
        tuple(
            tuple(each.strip() for each in part.split("|")) for part in _parts(headers, "regions")
        ),
        tuple(headers.get("functions", "").split()),
        headers.get("about", ""),
        dict(part.split(" = ", 1) for part in _parts(headers, "derived")),
        headers.get("where", ""),
        tuple(_parts(headers, "also")),
        headers.get("part") == "extra",
    )


def _parts(headers: dict[str, str], key: str) -> list[str]:
    return [part.strip() for part in headers.get(key, "").split(";") if part.strip()]


def _number(where: str, text: str) -> float:
    try:
        return float(text) if "." in text or "e" in text else int(text)
    except ValueError as error:
        raise CourseError(f"{where}: {text.strip()!r} in a sample is no number") from error
