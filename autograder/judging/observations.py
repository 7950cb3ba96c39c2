"""Runs public probes in a student process and reads the replies, which are untrusted data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coursecheck import probes
from coursecheck.messages import agree
from coursecheck.probes import Observation, Probe

from ..errors import BUILT_IN
from ..texts import fit
from ..wall.inside import protocol


def request_of(played: Sequence[Probe]) -> dict[str, Any]:
    """Return the request that runs some probes: three steps, then one for each probe."""
    steps: list[list[Any]] = [
        ["import", probes.__name__],
        ["getattr", {"step": 0}, "play"],
        ["globals"],
    ]
    for probe in played:
        given = {"list": [protocol.encode(dict(probe), _refuse), {"step": 2}]}
        steps.append(["call", {"step": 1}, given, {"dict": []}])
    return {"steps": steps, "new": True}


def _refuse(value: Any) -> Any:
    raise TypeError(f"a {type(value).__name__} is no part of a probe")


def observations(values: Any, played: Sequence[Probe]) -> list[list[Observation]] | None:
    """Return the probes' observations out of a reply's values; None if they have another form."""
    if type(values) is not list or len(values) != 3 + len(played):
        return None
    found = [protocol.decode(value, lambda tag, number: None) for value in values[3:]]
    for seen, probe in zip(found, played, strict=True):
        if type(seen) is not list or len(seen) != len(probe["observe"]):
            return None
        if not all(_is_observation(item) for item in seen):
            return None
    return found


def fitted(item: Any) -> Any:
    """Return an observation, or lists of them, with texts that are safe to print and to write."""
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
        if kind in probes.COLLECTIONS:
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
"""The keys of the observations that `coursecheck.probes` makes of values that are not plain."""


def as_in_table(
    observed: list[list[Observation]], entry: Mapping[str, Any]
) -> list[list[Observation]]:
    """Return the observations with each value replaced: by the public table's own value if one
    agrees, else by the kind of the value.

    A text may hold a working version that the process was given, and so may a number's digits.
    """
    rights = [probe["right"] for probe in entry["probes"]]
    tables = [rights, *(mistake["results"] for mistake in entry["mistakes"])]
    return [
        [
            _in_words_of(item, [table[i][j] for table in tables])
            for j, item in enumerate(seen)
        ]
        for i, seen in enumerate(observed)
    ]  # fmt: skip


def _in_words_of(item: Observation, known: list[Observation]) -> Observation:
    """Return an observation as the table has it, without texts of the student's process."""
    found = next((each for each in known if agree(item, each)), None)
    if type(item) is dict and "error" in item:
        kind = item["error"] if found or item["error"] in BUILT_IN else "Exception"
        return {"error": kind}
    if found is not None or item is None or type(item) is bool:
        return item if found is None else found
    if type(item) is dict:
        kind = next(iter(item))
        return {"another": kind if kind == "bytes" or kind in probes.COLLECTIONS else "object"}
    return {"another": "text" if type(item) is str else "number"}
