"""Finds the gradebook's student for each submission of a download."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from dateutil.parser import parse
from nbgrader.api import Student

from ...errors import CourseError
from ...pages.csv_cells import read_table
from .downloads import Handed

_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "æ": "ae", "ø": "oe"})
_NO_MARKS = str.maketrans({"ø": "o", "æ": "ae", "ł": "l", "đ": "d", "ı": "i", "œ": "oe"})


LEAVE_OUT = "-"
"""Entry in place of a student's id: leave the file out. An empty entry has no meaning."""


@dataclass(frozen=True)
class Mapping:
    """The students of submissions as a person gives them: a CSV with the columns `file` and
    `student`.

    Attributes:
        students: by place or file of the download, the ids; none for a file that is left out.
        times: by place or file, when it was handed in, in UTC, from the column `submitted`.
    """

    students: dict[str, list[str]] = field(default_factory=dict)
    times: dict[str, datetime] = field(default_factory=dict)


def read_mapping(path: Path) -> Mapping:
    """Read a mapping. Raises `CourseError` for an invalid one."""
    headings, rows = read_table(path)
    if not {"file", "student"} <= set(headings):
        raise CourseError(
            f"{path}: a mapping has the columns file and student (and submitted, if you like). "
            f"Here are: {', '.join(headings)}."
        )
    mapping = Mapping()
    for row in rows:
        # Names that a spreadsheet would run as a formula were written with an apostrophe in front.
        place = re.sub(r"^'(?=[=+\-@])", "", _composed(row["file"]).replace("\\", "/")).rstrip("/")
        student = row["student"].strip()
        if place and student:
            students = mapping.students.setdefault(place, [])
            students += [student] if student != LEAVE_OUT else []
        if text := row.get("submitted", "").strip():
            when = parse_time(text)
            if when is None:
                raise CourseError(
                    f"{path}: {text!r} is no time. Write it as 2030-03-01 23:59, with +01:00 or "
                    "the like after it where it is not this machine's."
                )
            mapping.times[place] = when
    return mapping


def parse_time(text: str) -> datetime | None:
    """Return the time in a text that a person or a system has written, in UTC; local without a
    zone."""
    try:
        when: datetime = parse(text)
        return when.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, TypeError):
        return None


class Worksheet:
    """Names and addresses of participants in Moodle's grading worksheet, by their numbers."""

    def __init__(self, path: Path) -> None:
        headings, rows = read_table(path)
        numbered = [h for h in headings if any(re.search(r"\d+$", row[h]) for row in rows[:1])]
        if not headings or not numbered:
            raise CourseError(
                f"{path}: this is no grading worksheet of Moodle's: no column ends in the numbers "
                "of participants. Take the file of *Download grading worksheet*."
            )
        self.people: dict[str, list[str]] = {}
        self.times: dict[str, datetime] = {}
        for row in rows:
            # The first column is "Identifier", in each language its own word.
            number = re.search(r"(\d+)$", row[headings[0]].strip())
            if number is None:
                continue
            self.people[number[1]] = [value.strip() for value in row.values() if value.strip()]
            for heading in headings:
                if "submission" in heading.lower() and "modified" in heading.lower():
                    when = parse_time(row[heading].strip())
                    if when is not None:
                        self.times[number[1]] = when


class Roster:
    """The gradebook's students, found by the names and numbers in a download.

    Args:
        students: of the gradebook.
        name: the assignment, which plain file names may hold beside the student's.
    """

    def __init__(self, students: Iterable[Student], name: str) -> None:
        self._assignment = name
        self.ids: set[str] = set()
        self._numbers: dict[str, set[str]] = defaultdict(set)
        self._users: dict[str, set[str]] = defaultdict(set)
        self._emails: dict[str, set[str]] = defaultdict(set)
        self._names: dict[str, set[str]] = defaultdict(set)
        for each in students:
            self.ids.add(each.id)
            for key in {each.id, each.lms_user_id}:
                if key:
                    self._numbers[_composed(key).casefold()].add(each.id)
            if each.lms_user_id:
                self._users[each.lms_user_id.strip().casefold()].add(each.id)
            for key in {each.email, each.id}:
                if key and "@" in key:
                    self._emails[key.casefold()].add(each.id)
            first, last = each.first_name or "", each.last_name or ""
            if first or last:
                for order in (first + last, last + first):
                    for key in _folded(order):
                        self._names[key].add(each.id)

    def find(self, handed: Handed, worksheet: Worksheet | None = None) -> tuple[list[str], str]:
        """Return the ids of the students of a submission; if there are none, the reason.

        The surest source comes first: a worksheet's entry for a number, the number, the e-mail
        address, the name.
        """
        if handed.words:
            return self._by_words(handed.words)
        if handed.form == "moodle" and worksheet is not None:
            listed = [
                each for number in handed.numbers for each in worksheet.people.get(number, ())
            ]
            for table in (self._emails, self._numbers):
                if found := {id for each in listed for id in table.get(each.casefold(), ())}:
                    return _the_one(found, ", ".join(listed))
        if handed.form == "gradescope":
            return self._all_of(handed)
        # A Moodle participant has another number in each assignment. Canvas's number is its own for
        # a user, and may by chance be another student's number at the university.
        number = handed.numbers[0]
        if handed.form == "canvas" and number.casefold() in self._users:
            return _the_one(self._users[number.casefold()], number)
        if not handed.names:
            return [], "the download does not name its students. Say who it is in a mapping."
        return self._by_name(handed.names[0])

    def _all_of(self, handed: Handed) -> tuple[list[str], str]:
        """Return all students of a group: each has a number, an address and a name at the same
        place."""
        ids: list[str] = []
        several: Sequence[tuple[dict[str, set[str]], list[str]]] = (
            (self._numbers, handed.numbers),
            (self._emails, handed.emails),
        )
        for table, keys in several:
            found = [table.get(key.casefold(), set()) for key in keys]
            if len(keys) == len(handed.names) and all(len(each) == 1 for each in found):
                return [id for each in found for id in each], ""
        for name in handed.names:
            found_ids, why = self._by_name(name)
            if why:
                return [], why
            ids += found_ids
        return (ids, "") if ids else ([], "nobody is named as who handed it in.")

    def _by_name(self, name: str) -> tuple[list[str], str]:
        for key in _folded(name):
            if found := self._names.get(key):
                return _the_one(found, name)
        # A group's name may stand in front.
        for key in _folded(name.partition("-")[2]):
            if found := self._names.get(key):
                return _the_one(found, name)
        return [], f"nobody in the gradebook is called {name!r}."

    def _by_words(self, words: list[str]) -> tuple[list[str], str]:
        """Find a student's id, address or name among the parts of a path.

        The whole of a part comes before pieces of it.
        """
        whole = {id for word in words for id in self._meant(word)}
        if len(whole) == 1:
            return [*whole], ""
        found = whole or {id for word in words for id in self._meant_beside_assignment(word)}
        if not found:
            return [], "no part of its path is the id, the e-mail address or the name of a student."
        return _the_one(found, "/".join(words))

    def knows(self, word: str) -> bool:
        """Return whether a part of a path names a student, or several."""
        return bool(self._meant(word) or self._meant_beside_assignment(word))

    def _meant_beside_assignment(self, word: str) -> set[str]:
        """Return the students that a word names beside the assignment, as in `value-ada`."""
        name = re.escape(self._assignment)
        rest = re.sub(rf"(^|[_\-+. ]+){name}($|[_\-+. ]+)", "", word, flags=re.IGNORECASE)
        return self._meant(rest) if rest != word else set()

    def _meant(self, word: str) -> set[str]:
        key = _composed(word).casefold()
        tables = [(self._numbers, key), (self._emails, key)]
        tables += [(self._names, each) for each in _folded(word)]
        return next((table[each] for table, each in tables if each in table), set())


def _the_one(found: set[str], listed: str) -> tuple[list[str], str]:
    if len(found) == 1:
        return [*found], ""
    both = ", ".join(sorted(found))
    return [], f"{listed!r} could be each of {both}. Say who it is in a mapping."


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip())


def _folded(name: str) -> list[str]:
    """Return a name's letters alone, in the ways in which systems write them; the exact one first.

    With marks, without, and in German's spelling without marks.
    """
    exact = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))
    marked = unicodedata.normalize("NFKD", exact.translate(_NO_MARKS))
    bare = "".join(each for each in marked if not unicodedata.combining(each))
    return [key for key in dict.fromkeys((exact, exact.translate(_GERMAN), bare)) if key]
