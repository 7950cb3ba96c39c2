"""Finds pairs of submissions that may be copies, for an instructor to look at.

Code is normalized: names are replaced, comments and white space are removed. Lines of the release
and lines that many students wrote are left out, since right answers to small exercises are often
equal. The remaining lines of each two students are compared. Written answers of two students are
reported if they are equal in letters and digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from pygments.lexers import PythonLexer
from pygments.token import Comment, Name, String
from rapidfuzz import process
from rapidfuzz.distance import Indel

ALIKE = 0.85
"""Least similarity of a pair that is reported. For comparison: that of independent right answers is
below 0.65, that of a copy with other names above 0.95."""

_ENOUGH = 120
"""Least number of characters of code that a submission must have to be compared."""
_ENOUGH_TEXT = 40
"""Least number of letters and digits that a written answer must have to be compared."""
_LONGEST = 20_000
"""Greatest number of characters that are compared; the rest is cut off."""
_COMMON = 0.25
"""A line is left out if a greater share of the class than this wrote it."""


@dataclass(frozen=True)
class Pair:
    """Two similar submissions.

    Attributes:
        first: the id of a student.
        second: the id of the other student.
        similarity: normalized Indel similarity of the compared texts, from 0 to 1: twice the length
            of the longest common subsequence, divided by the sum of both lengths.
        size: the number of characters of the shorter compared text.
        what: "code", or the names of the exercises whose written answers are equal.
    """

    first: str
    second: str
    similarity: float
    size: int
    what: str = "code"


def similar_pairs(
    submissions: Mapping[str, Mapping[str, str]],
    released: Mapping[str, str],
    alike: float = ALIKE,
) -> list[Pair]:
    """Return the pairs with similar code, the most similar first.

    Args:
        submissions: the sources of the code answers, by student and exercise.
        released: the stubs, by exercise.
        alike: the least similarity of a pair, from 0 to 1.
    """
    released_lines = {exercise: set(_lines(source)) for exercise, source in released.items()}
    lines_by_student = {
        student: [
            line
            for exercise, source in sorted(cells.items())
            for line in _lines(source)
            if line not in released_lines.get(exercise, ())
        ]
        for student, cells in submissions.items()
    }
    counts = Counter(line for lines in lines_by_student.values() for line in set(lines))
    common = max(3.0, _COMMON * len(lines_by_student))
    compared = {
        student: "\n".join(line for line in lines if counts[line] <= common)[:_LONGEST]
        for student, lines in lines_by_student.items()
    }
    students = [student for student, text in compared.items() if len(text) >= _ENOUGH]
    texts = [compared[student] for student in students]
    if len(texts) < 2:
        return []
    table = process.cdist(texts, texts, scorer=Indel.normalized_similarity, score_cutoff=alike)
    pairs = [
        Pair(students[i], students[j], float(table[i, j]), min(len(texts[i]), len(texts[j])))
        for i, j in zip(*np.nonzero(table), strict=True)
        if i < j
    ]
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def equal_texts(
    submissions: Mapping[str, Mapping[str, str]], released: Mapping[str, str]
) -> list[Pair]:
    """Return the pairs of students with an equal written answer that is long enough.

    Args:
        submissions: the written answers, by student and exercise.
        released: the stubs, by exercise.
    """
    same: dict[tuple[str, str], list[str]] = {}
    for student, answers in submissions.items():
        for exercise, answer in answers.items():
            letters = _letters(answer.replace(released.get(exercise) or "\0", ""))
            if len(letters) >= _ENOUGH_TEXT:
                same.setdefault((exercise, letters), []).append(student)
    by_pair: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for (exercise, letters), students in same.items():
        for pair in combinations(sorted(students), 2):
            by_pair.setdefault(pair, []).append((exercise, len(letters)))
    return [
        Pair(
            *pair, 1.0, sum(size for _, size in exercises), ", ".join(name for name, _ in exercises)
        )
        for pair, exercises in sorted(by_pair.items())
    ]


def _letters(text: str) -> str:
    return "".join(letter for letter in text[:_LONGEST].casefold() if letter.isalnum())


def _lines(source: str) -> list[str]:
    """Return the normalized lines of code: each name is "x"; comments, docstrings and white space
    are removed."""
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
