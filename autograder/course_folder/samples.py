"""Samples: public lines that are run with many numbers, and their right results.

A `sample` cell in a file of misconceptions gives, as headers, a column of numbers for each name,
the quantities that are looked at, and the right one; docs/authors.md describes the form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from ..errors import CourseError

FACTORS = (1.75, -0.6, 2.5, -1.3, 0.45, 3.1, -2.2)
HELD = (0.75, -1.4, 2.3, 0.35, -0.85)
"""Values of `g`, the factor of a share, and of `h`, the value held before, in turn at successive
points. Their counts, 7 and 5, have no common divisor, so that the two vary independently."""

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
    """An expression that is looked at.

    Attributes:
        kind: "result", "share" or "fact".
        name: the expression.
        formula: the right result, or slope of a share; "" for a fact.
        says: the sentence on the code if a fact has this value.
    """

    kind: str
    name: str
    formula: str = ""
    says: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """Lines to run with many numbers.

    Attributes:
        code: the lines.
        names: of the numbers; with shares, `g` and `h` are the last two.
        points: the numbers, a row for each point.
        quantities: the expressions that are looked at, results first.
        regions: partitions of the points, each a few conditions.
        functions: the functions that a formula may call.
        about: the cases in which the sample holds, in words; "" for the usual case.
        derived: more names that a formula may use, and how each is computed.
        also: more formulas that a student may follow, beside those near the right one.
        where: the meaning of the names in formulas, in words, if the lines do not show it.
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
        """Entry of the public table, without the numbers of formulas."""
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
        choices: for each name its values, the right one first, each with words that follow "Your
            code behaves as if it"; the right one has none.
        ask: the question that ends an explanation.
    """

    code: str
    choices: dict[str, dict[str, str]]
    ask: str

    def wrong_choices(self, count: int) -> Iterator[dict[str, str]]:
        """Yield each way to choose wrongly for this many names."""
        for names in combinations(self.choices, count):
            for values in product(*([*self.choices[name]][1:] for name in names)):
                yield dict(zip(names, values, strict=True))

    def source(self, chosen: dict[str, str]) -> str:
        """Return the cell with these choices, and the right ones for other names."""
        values = {name: next(iter(each)) for name, each in self.choices.items()} | chosen
        return "".join(f"{name} = {value!r}\n" for name, value in values.items()) + self.code

    def says(self, chosen: dict[str, str]) -> str:
        """Return the explanation of the cell with these choices."""
        words = ", and ".join(self.choices[name][value] for name, value in chosen.items())
        return f"Your code behaves as if it {words}. {self.ask}"


def read_behaviour(where: str, headers: dict[str, str], code: str) -> Behaviour:
    """Return the behaviour that a cell declares: `# order: after | before: lists a node before …`.

    Raises `CourseError` if a wrong choice has no description.
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
    """Return the sample that a cell declares.

    Raises `CourseError` if its columns differ in length, or if it names no quantity to compare:
    no result, share or fact.
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
