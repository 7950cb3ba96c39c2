"""Finds submissions that are more alike than the exercise explains: a hint where to look.

Released lines are left out, and so are lines that many in the class wrote: in exercises this small,
right answers agree. The rest of each submission is compared with the rest of each other one. Names,
comments and spacing are removed first, so that renaming hides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from pygments.lexers import PythonLexer
from pygments.token import Comment, Name, String
from rapidfuzz import process
from rapidfuzz.distance import Indel

ALIKE = 0.85
"""Least similarity of a pair that is shown. Right answers that were written independently stay
below 0.65 and a copy with other names is above 0.95 (tests/test_report.py)."""

_ENOUGH = 120
_LONGEST = 20_000
_COMMON = 0.25


@dataclass(frozen=True)
class Pair:
    """Two submissions that are alike.

    Attributes:
        similarity: of their own lines, from 0 to 1: twice the length of the longest common
            subsequence, as a share of both lengths (the normalised Indel similarity).
        size: number of characters of the shorter one's own lines.
    """

    first: str
    second: str
    similarity: float
    size: int


def similar_pairs(
    submissions: Mapping[str, Mapping[str, str]],
    released: Mapping[str, str],
    alike: float = ALIKE,
) -> list[Pair]:
    """Return the pairs of submissions to look at, the most alike first.

    Args:
        submissions: by student, the source of each solution cell by exercise.
        released: the source of each solution cell in the release, by exercise.
        alike: the least similarity of a listed pair.
    """
    known = {exercise: set(_lines(source)) for exercise, source in released.items()}
    written = {
        student: [
            line
            for exercise, source in sorted(cells.items())
            for line in _lines(source)
            if line not in known.get(exercise, ())
        ]
        for student, cells in submissions.items()
    }
    counts = Counter(line for lines in written.values() for line in set(lines))
    common = max(3.0, _COMMON * len(written))
    own = {
        student: "\n".join(line for line in lines if counts[line] <= common)[:_LONGEST]
        for student, lines in written.items()
    }
    students = [student for student, text in own.items() if len(text) >= _ENOUGH]
    texts = [own[student] for student in students]
    if len(texts) < 2:
        return []
    table = process.cdist(texts, texts, scorer=Indel.normalized_similarity, score_cutoff=alike)
    pairs = [
        Pair(students[i], students[j], float(table[i, j]), min(len(texts[i]), len(texts[j])))
        for i, j in zip(*np.nonzero(table), strict=True)
        if i < j
    ]
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def _lines(source: str) -> list[str]:
    """Return the lines of code, with every name replaced and comments and docstrings left out."""
    lines = [""]
    for kind, text in PythonLexer().get_tokens(source[:_LONGEST]):
        if kind in Comment or kind in String.Doc:
            continue
        if "\n" in text:
            lines.append("")
        elif kind in Name:
            lines[-1] += "x"
        else:
            lines[-1] += text.strip()
    return [line for line in lines if line]
