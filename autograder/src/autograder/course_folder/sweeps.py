"""Reads sweeps: public examples that are run with many numbers, with formulas of the right results.

The headers of a `sweep` cell in a file of misconceptions give a column of numbers for each name,
and the expressions to observe with their right formulas; docs/authors.md describes the form.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from coursecheck.tables import SweepLines

from ..errors import CourseError

FACTORS = (1.75, -0.6, 2.5, -1.3, 0.45, 3.1, -2.2)
HELD = (0.75, -1.4, 2.3, 0.35, -0.85)
"""In a sweep that observes shares: `FACTORS` are the values of `g` at successive points, and `HELD`
those of `h`. A share is what the code adds to the stored number `h`, and it is proportional to `g`.
The lengths 7 and 5 are coprime, so that `g` and `h` vary independently."""

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
    """An observed expression.

    Attributes:
        kind: "result"; "share", the change of a stored number that is proportional to `g`; or
            "fact", any other value.
        name: the expression.
        formula: the right formula of a result, or of a share divided by `g`; "" for a fact.
        says: by the text of a fact's value, a sentence about code that has this value.
    """

    kind: str
    name: str
    formula: str = ""
    says: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sweep:
    """A public example that is run with many numbers.

    Attributes:
        code: the lines to run.
        names: the names of the numbers; if shares are observed, the last two are `g` and `h`.
        points: the numbers, a row for each point.
        quantities: the observed expressions: results first, then shares, then facts.
        regions: partitions of the points, each given by conditions, one for each region: a wrong
            answer's formula may differ from region to region.
        functions: the functions that a formula may call.
        about: the case that the sweep covers, for messages; "" for the usual case.
        derived: further names that a formula may use, each with its expression.
        where: what the names in formulas mean, for messages, if the code does not show it.
        also: further formulas that an answer may compute, besides variations of the right one.
        extra: whether the sweep is about an extra part of the exercise.
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
    def as_table(self) -> SweepLines:
        """The sweep's entry in the table of the visible checks, without the right formulas."""
        lines: SweepLines = {
            "code": self.code,
            "about": self.about,
            "derived": self.derived,
            "where": self.where,
            "names": list(self.names),
            "points": [list(row) for row in self.points],
            "observe": [each.name for each in self.quantities],
        }
        if self.extra:
            lines["extra"] = True
        return lines


def read_sweep(where: str, headers: dict[str, str], code: str) -> Sweep:
    """Return the sweep that a `sweep` cell declares.

    Args:
        where: file, line and title of the cell, for messages.

    Raises `CourseError` if the columns of numbers differ in length, or if no result, share or fact
    is named.
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
        name, _, sentence = (part.strip() for part in each.partition(" | "))
        value, _, words = (part.strip() for part in sentence.partition(": "))
        quantities.append(Quantity("fact", name, says={value: words} if words else {}))
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or not quantities:
        raise CourseError(
            f"{where}: a sweep has columns of numbers, `# x: 2.0, -1.5`, all of one length, and "
            "looks at something: `# results: NAME = FORMULA`, `# shares: …` or `# facts: …`"
        )
    if any(each.kind == "share" for each in quantities):
        count = lengths.pop()
        columns["g"] = [FACTORS[i % len(FACTORS)] for i in range(count)]
        columns["h"] = [HELD[i % len(HELD)] for i in range(count)]
    return Sweep(
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
        raise CourseError(f"{where}: {text.strip()!r} in a sweep is no number") from error
