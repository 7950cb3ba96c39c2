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

from ..errors import CourseError
from ..pages.csv_cells import read_table
from .downloads import DownloadedSubmission

_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "æ": "ae", "ø": "oe"})
_NO_MARKS = str.maketrans({"ø": "o", "æ": "ae", "ł": "l", "đ": "d", "ı": "i", "œ": "oe"})


LEAVE_OUT = "-"
"""Entry in a mapping's column `student` that leaves the file out; an empty entry does nothing."""


@dataclass(frozen=True)
class Mapping:
    """The students of submissions, from a CSV file that a person wrote.

    Attributes:
        students: the student ids of a submission, by its `DownloadedSubmission.place` or by the
            `DownloadedFile.path` of one of its files; [] for a submission that is left out.
        times: submission times in UTC, by the same keys, from the column `submitted`.
    """

    students: dict[str, list[str]] = field(default_factory=dict)
    times: dict[str, datetime] = field(default_factory=dict)


def read_mapping(path: Path) -> Mapping:
    """Read a mapping with the columns `file`, `student` and, if wanted, `submitted`.

    Raises `CourseError` if the mapping cannot be read, lacks a column, or has an invalid time.
    """
    headings, rows = read_table(path)
    if not {"file", "student"} <= set(headings):
        raise CourseError(
            f"{path}: a mapping has the columns file and student (and submitted, if you like). "
            f"Here are: {', '.join(headings)}."
        )
    mapping = Mapping()
    for row in rows:
        place = _composed(row["file"]).replace("\\", "/").rstrip("/")
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
    """Return a time in any common format as UTC; None if it cannot be parsed.

    A time without a zone is taken to be in this machine's time zone.
    """
    try:
        when: datetime = parse(text)
        return when.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, TypeError):
        return None


class Worksheet:
    """Moodle's grading worksheet, as CSV.

    Attributes:
        people: by participant's number: the values in the participant's row, such as name and
            e-mail address.
        times: by participant's number: the submission time in UTC.

    Raises `CourseError` if the file is not a worksheet.
    """

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
            # The first column is "Identifier", translated into the site's language.
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
    """Looks students up by the ids, e-mail addresses and names that occur in a download.

    Args:
        students: the gradebook's students.
        name: the assignment's name, which a file's name may hold in addition to the student's.

    Attributes:
        ids: the ids of the gradebook's students.
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

    def find(
        self, submission: DownloadedSubmission, worksheet: Worksheet | None = None
    ) -> tuple[list[str], str]:
        """Return the ids of a submission's students, and ""; if they are not found, [] and the
        reason.

        The first of these sources that names a student decides: the worksheet, the id in the
        system, the student's name.
        """
        if submission.words:
            return self._by_words(submission.words)
        if submission.form == "moodle" and worksheet is not None:
            listed = [
                each for number in submission.numbers for each in worksheet.people.get(number, ())
            ]
            for table in (self._emails, self._numbers):
                if found := {id for each in listed for id in table.get(each.casefold(), ())}:
                    return _the_one(found, ", ".join(listed))
        if submission.form == "gradescope":
            return self._all_of(submission)
        # Moodle numbers participants anew in each assignment, so that its number identifies nobody.
        # Canvas's number is a user id. It is only compared with lms_user_id, since it could equal
        # another student's id in the gradebook.
        number = submission.numbers[0]
        if submission.form == "canvas" and number.casefold() in self._users:
            return _the_one(self._users[number.casefold()], number)
        if not submission.names:
            return [], "the download does not name its students. Say who it is in a mapping."
        return self._by_name(submission.names[0])

    def _all_of(self, submission: DownloadedSubmission) -> tuple[list[str], str]:
        """Return all students of a group, and ""; if one is not found, [] and the reason.

        The numbers decide if each member of the group has a number that identifies one student;
        else the e-mail addresses, if the same holds for them; else the names.
        """
        ids: list[str] = []
        sources: Sequence[tuple[dict[str, set[str]], list[str]]] = (
            (self._numbers, submission.numbers),
            (self._emails, submission.emails),
        )
        for table, keys in sources:
            matches = [table.get(key.casefold(), set()) for key in keys]
            if len(keys) == len(submission.names) and all(len(each) == 1 for each in matches):
                return [id for each in matches for id in each], ""
        for name in submission.names:
            found_ids, why = self._by_name(name)
            if why:
                return [], why
            ids += found_ids
        return (ids, "") if ids else ([], "nobody is named as who handed it in.")

    def _by_name(self, name: str) -> tuple[list[str], str]:
        for key in _folded(name):
            if found := self._names.get(key):
                return _the_one(found, name)
        # A group's name and a dash may stand in front of the student's name.
        for key in _folded(name.partition("-")[2]):
            if found := self._names.get(key):
                return _the_one(found, name)
        return [], f"nobody in the gradebook is called {name!r}."

    def _by_words(self, words: list[str]) -> tuple[list[str], str]:
        """Return a list with the one student whose id, e-mail address or name is a part of a path,
        and "".

        If there is no such student or several, return [] and the reason. A part that also holds the
        assignment's name counts only if no other part names a student.
        """
        whole = {id for word in words for id in self._named_by(word)}
        if len(whole) == 1:
            return [*whole], ""
        found = whole or {id for word in words for id in self._named_beside_assignment(word)}
        if not found:
            return [], "no part of its path is the id, the e-mail address or the name of a student."
        return _the_one(found, "/".join(words))

    def knows(self, word: str) -> bool:
        """Return whether a part of a path names at least one student."""
        return bool(self._named_by(word) or self._named_beside_assignment(word))

    def _named_beside_assignment(self, word: str) -> set[str]:
        """Return the ids of students named by a word with the assignment's name, as `value-ada`."""
        name = re.escape(self._assignment)
        rest = re.sub(rf"(^|[_\-+. ]+){name}($|[_\-+. ]+)", "", word, flags=re.IGNORECASE)
        return self._named_by(rest) if rest != word else set()

    def _named_by(self, word: str) -> set[str]:
        """Return the ids of the students with this id, else e-mail address, else name."""
        key = _composed(word).casefold()
        tables = [(self._numbers, key), (self._emails, key)]
        tables += [(self._names, each) for each in _folded(word)]
        return next((table[each] for table, each in tables if each in table), set())


def _the_one(found: set[str], listed: str) -> tuple[list[str], str]:
    """Return the id of the only student in `found`, and ""; for several, [] and the reason.

    Args:
        listed: the text by which they were found, to be quoted in the reason.
    """
    if len(found) == 1:
        return [*found], ""
    both = ", ".join(sorted(found))
    return [], f"{listed!r} could be each of {both}. Say who it is in a mapping."


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip())


def _folded(name: str) -> list[str]:
    """Return the keys by which a name is compared with others.

    Each key consists of the name's letters and digits in lower case. The first has them as written,
    the others without diacritics: umlauts as in German (ä as ae), and as plain letters. Equal keys
    occur once.
    """
    exact = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))
    keys = (exact, _bare(exact.translate(_GERMAN)), _bare(exact))
    return [key for key in dict.fromkeys(keys) if key]


def _bare(name: str) -> str:
    """Return a name without diacritics."""
    marked = unicodedata.normalize("NFKD", name.translate(_NO_MARKS))
    return "".join(each for each in marked if not unicodedata.combining(each))
