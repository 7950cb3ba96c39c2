"""Runs public examples in a student process and reads the replies, which are untrusted data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coursecheck import examples, inference
from coursecheck.examples import Observation, PublicExample
from coursecheck.messages import agree, agree_all, is_error, other_error
from coursecheck.tables import CheckEntry

from ..errors import BUILT_IN
from ..sandbox.guest import protocol
from ..texts import fit

Observations = list[list[Observation]]
"""A list of observations for each of some examples. The student may be shown them."""


class LaterObservations:
    """Observations from a process that started after the reading pass.

    A hidden test may have run in such a process, or a solution. So the process may hold a secret,
    and may reveal it in any text and in the digits of any number. The student is never shown these
    observations: they only choose among texts that exist already, in the public table and in the
    observations of the reading pass.
    """

    def __init__(self, rows: Observations) -> None:
        self.__rows = rows

    def agree(self, own: Observations) -> bool:
        """Return whether these observations agree with `own`, those of the reading pass."""
        return agree_all(own, self.__rows)

    def in_known_words(self, entry: CheckEntry, own: Observations | None) -> Observations:
        """Return the reading pass's observations, `own`, if these observations agree with them.

        Otherwise return these observations with each value and text replaced by one in the public
        table. If the reading pass met the same error, the texts of the error are those of the
        reading pass.
        """
        if own and self.agree(own):
            return own
        known = as_in_table(self.__rows, entry)
        if own is None:
            return known
        return [
            [
                item | {key: mine[key] for key in _TEXTS if key in mine}
                if is_error(item) and agree(here, mine) and not other_error(mine, here)
                else item
                for item, here, mine in zip(*rows, strict=True)
            ]
            for rows in zip(known, self.__rows, own, strict=True)
        ]

    def digests(self, entry: CheckEntry) -> list[str]:
        """Return a digest of the results of each sweep, to compare with the digests of known
        mistakes in the table."""
        return inference.digests(entry, self.__rows)

    def infer(self, entry: CheckEntry, core_is_right: bool) -> inference.Inference | None:
        """Return what the code computes, if all words that say so are in the public table; else
        None."""
        for declared in (True, False):
            found = inference.infer(entry, self.__rows, core_is_right, declared)
            if found and found.is_of_the_table:
                return found
        return None


def request_of(played: Sequence[PublicExample]) -> dict[str, Any]:
    """Return the request that runs some examples: three steps that fetch the function `play`, then
    a step for each example."""
    steps: list[list[Any]] = [
        ["import", examples.__name__],
        ["getattr", {"step": 0}, "play"],
        ["globals"],
    ]
    for example in played:
        given = {"list": [protocol.encode(dict(example), _refuse), {"step": 2}]}
        steps.append(["call", {"step": 1}, given, {"dict": []}])
    return {"steps": steps, "new": True}


def _refuse(value: Any) -> Any:
    raise TypeError(f"a {type(value).__name__} is no part of an example")


def observations(values: Any, played: Sequence[PublicExample]) -> Observations | None:
    """Return the observations of each example from the values in a student process's reply; None if
    the values do not have the form of observations."""
    if type(values) is not list or len(values) != 3 + len(played):
        return None
    found = [protocol.decode(value, lambda tag, number: None) for value in values[3:]]
    for seen, example in zip(found, played, strict=True):
        if type(seen) is not list or len(seen) != len(example["observe"]):
            return None
        if not all(_is_observation(item) for item in seen):
            return None
    return found


def fitted(item: Any) -> Any:
    """Return an observation, or lists of observations, with every text shortened and cleaned by
    `fit`, so that it is safe to print and to store."""
    if type(item) is dict:
        return {key: fitted(value) for key, value in item.items()}
    if type(item) is list:
        return [fitted(each) for each in item]
    return fit(item) if type(item) is str else item


def _is_observation(item: Any) -> bool:
    if item is None or type(item) in (bool, float):
        return True
    if type(item) is int:
        return item.bit_length() <= 64
    if type(item) is str:
        return len(item) <= 1000
    if type(item) is dict and len(item) == 1:
        ((kind, inside),) = item.items()
        if kind == "more":
            return type(inside) is int and inside.bit_length() <= 64
        if kind in examples.COLLECTIONS:
            return type(inside) is list and all(map(_is_item, inside))
    return (
        type(item) is dict
        and tuple(item) in _SHAPES
        and all(type(value) is str and len(value) <= 1000 for value in item.values())
    )


def _is_item(item: Any) -> bool:
    """Return whether `item` is a valid element of a collection's observation: an observation or,
    for a dict, a [key, value] pair."""
    is_pair = type(item) is list and len(item) == 2
    return all(map(_is_observation, item)) if is_pair else _is_observation(item)


_TEXTS = ("message", "class", "about", "line", "where")
"""The keys of an error's observation whose texts the student's code can choose."""

_SHAPES = (
    ("object",),
    ("float",),
    ("bytes",),
    *(
        ("error", "message", *own, *about, *where)
        for own in ((), ("class",))
        for about in ((), ("about",))
        for where in ((), ("line", "where"))
    ),
)
"""The possible sets of keys, in order, of the dict that `coursecheck.examples` makes of an error or
of a value that is not plain."""


def as_in_table(observed: Observations, entry: CheckEntry) -> Observations:
    """Return the observations with each value replaced: by a value of the public table that agrees
    with it, else by the kind of the value.

    The process may have held a solution, which could be hidden in a text and in a number's digits.
    """
    rights = [example["right"] for example in entry["examples"]]
    tables = [rights, *(mistake["results"] for mistake in entry["mistakes"])]
    return [
        [
            _in_words_of(item, [table[i][j] for table in tables])
            for j, item in enumerate(seen)
        ]
        for i, seen in enumerate(observed)
    ]  # fmt: skip


def _in_words_of(item: Observation, known: list[Observation]) -> Observation:
    """Return the value in `known` that agrees with an observation, or else only the kind of the
    observation, without texts and digits of the student process.

    Args:
        known: the values that the public table holds for the observed expression.
    """
    found = next((each for each in known if agree(item, each)), None)
    if type(item) is dict and "error" in item:
        kind = item["error"] if found or item["error"] in BUILT_IN else "Exception"
        return {"error": kind}
    if found is not None or item is None or type(item) is bool:
        return item if found is None else found
    if type(item) is dict:
        kind = next(iter(item))
        return {"another": kind if kind == "bytes" or kind in examples.COLLECTIONS else "object"}
    return {"another": "text" if type(item) is str else "number"}
