"""Imports a download of a learning management system into `submitted/`, and records its origin.

Every submission is kept: an older one is moved to a backup, a newer one stays, and one without a
matching student stays in the download and is reported.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Mapped
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from ...course_folder.assignments import graded_notebooks, load_assignment, parts_of, place_of
from ...errors import CourseError, UnreadableNotebook
from ...faults import kept_at
from ...files import one_at_a_time, replace_folder, write_whole
from ...notebook.intake import RECEIPTS, read_plain_file, refused_id, submitted_at
from ...pipeline.classroom import course_directory, stamp_of
from ...texts import visible
from .archives import opened
from .downloads import Handed, handed_in
from .matching import Mapping, Roster, Worksheet, read_mapping

FOLDER = "imported"
"""Folder in the course folder: for each assignment the record of origins, and the backups."""

MOST_FILES, MOST_BYTES = 50, 100_000_000
"""Greatest number and total size of a submission's files beside its notebook; the rest is left out
and reported."""

NEW, NEWER, SAME, OLDER = "new", "newer", "same", "older"
UNMATCHED, LEFT, REFUSED = "unmatched", "left out", "refused"
DONE = (NEW, NEWER, SAME, LEFT)
"""States that need no action by a person."""


@dataclass
class Imported:
    """The outcome of importing one submission of a download.

    Attributes:
        place: its name in the download.
        state: `NEW`, `NEWER`, `SAME`, `OLDER`, `UNMATCHED`, `LEFT` or `REFUSED`.
        student: the student's id, if known.
        told: further information or advice, in words.
        late: whether the system calls it late.
        when: when it was handed in, in UTC, as a text; "" if unknown.
    """  # words: a key of the JSON

    place: str
    state: str
    student: str = ""
    told: str = ""
    late: bool = False
    when: str = ""


def import_download(
    course: Path,
    name: str,
    path: Path,
    form: str | None = None,
    mapping: Path | None = None,
    worksheet: Path | None = None,
    dry_run: bool = False,
) -> list[Imported]:
    """Import the submissions of one assignment.

    Args:
        path: the download, a zip or folder.
        form: one of `downloads.FORMS`; None to recognise it by the names of the files.
        mapping: a CSV file that names the student of each submission.
        worksheet: Moodle's grading worksheet.
        dry_run: whether to write nothing.

    Raises `CourseError` if the download, a list or the assignment cannot be read.
    """
    whole = place_of(course, name).folder
    if name != whole and name in parts_of(course, whole):
        raise CourseError(
            f"{name} is handed in with the other notebooks of {whole}: import {whole} as a whole"
        )
    for part in parts_of(course, name):
        load_assignment(course, part)
    mapped = read_mapping(mapping) if mapping else Mapping()
    listed = Worksheet(worksheet) if worksheet else None
    folders = course_directory(course)
    with Gradebook(folders.db_url, folders.course_id) as gradebook:
        roster = Roster(gradebook.students, name)
    if unknown := {i for ids in mapped.students.values() for i in ids} - roster.ids:
        raise CourseError(
            f"{mapping}: the gradebook has no student {', '.join(sorted(unknown))}. Add "
            "them with `nbgrader db student add`, or correct the mapping."
        )
    with opened(path) as download, one_at_a_time(course):
        target = _Target(course, name, folders, dry_run)
        several = handed_in(download.files, roster.knows, form)
        found = [Imported(place, REFUSED, told=why) for place, why in download.left_out]
        found += _import_all(several, roster, mapped, listed, target, path.name)
    if not found:
        raise CourseError(f"{path}: there is no file in it. Download it again.")
    return found


def _import_all(
    several: list[Handed],
    roster: Roster,
    mapping: Mapping,
    worksheet: Worksheet | None,
    target: _Target,
    source: str,
) -> Iterator[Imported]:
    whose: dict[str, list[Handed]] = defaultdict(list)
    for handed in several:
        place, known = _mapped(handed, mapping.students)
        ids: list[str] = []
        why = ""
        with kept_at(handed.place) as fault:
            if known is not None:
                ids, why = known, "" if known else "the mapping names nobody for it."
            else:
                ids, why = roster.find(handed, worksheet)
            if worksheet and handed.form == "moodle":
                handed.when = worksheet.times.get(handed.numbers[0], handed.when)
        if fault.reason:
            yield Imported(visible(handed.place), REFUSED, told=fault.reason, late=handed.late)
            continue
        handed.when = mapping.times.get(place, handed.when)
        if not ids:
            state = UNMATCHED if known is None else LEFT
            # A file without notebook and student was put there by the system or a person.
            has_notebook = any(".ipynb" in each.lower() for each in handed.files)
            if state == UNMATCHED and handed.form == "plain" and not has_notebook:
                state, why = LEFT, "it is no notebook, and nobody's."
            yield Imported(visible(handed.place), state, told=why, late=handed.late)
        for student in ids:
            whose[student].append(handed)
    for student, claims in sorted(whose.items()):
        if len(claims) > 1:
            both = ", ".join(each.place for each in claims)
            for each in claims:
                why = f"several would be {student}'s: {both}. Say in a mapping whose each is."
                yield Imported(visible(each.place), UNMATCHED, student, visible(why), each.late)
            continue
        [handed] = claims
        chosen, _ = _mapped(handed, mapping.students)
        state = why = ""
        with kept_at(student) as fault:
            state, why = target.take(student, handed, chosen, source)
        if fault.reason:
            state, why = REFUSED, fault.reason
        when = f"{handed.when:%Y-%m-%d %H:%M:%S}" if handed.when else ""
        yield Imported(visible(handed.place), state, student, visible(why), handed.late, when)


def _mapped(handed: Handed, students: Mapped[str, list[str]]) -> tuple[str, list[str] | None]:
    """Return the name that a mapping has for a submission, and its students; None if it has none.

    That is the reported name, the same without the `_` at its end, or one of its files.
    """
    names = [handed.place, handed.place.rstrip("_")]
    names += [file.path for file in handed.files.values()]
    for each in names:
        if each in students:
            return each, students[each]
    return handed.place, None


class _Target:
    """The submissions that the course has for an assignment, and the record of imports."""

    def __init__(self, course: Path, name: str, folders: CourseDirectory, dry_run: bool) -> None:
        self._folders = folders
        self._course = course
        self._name, self._notebooks = name, graded_notebooks(course, name)
        self._dry_run = dry_run
        self._aside = course / FOLDER / name
        self.record = read_record(course, name)

    def take(self, student: str, handed: Handed, chosen: str, source: str) -> tuple[str, str]:
        """Put a submission in its place, if it is not older than the one there.

        Returns:
            Its state, and further information.
        """
        if why := refused_id(student):
            raise UnreadableNotebook(why)
        own = handed.notebooks(self._notebooks, chosen)
        files = {f"{name}.ipynb": handed.files[inner].read() for name, inner in own.items()}
        stamp = stamp_of(b"".join(files.values()))
        left = self._add_others(files, handed, {*own.values()})
        step = self._folders.submitted_directory
        folder = Path(self._folders.format_path(step, student, self._name))
        state, why = self._compare(student, handed, folder, stamp)
        if state not in (NEW, NEWER) or self._dry_run:
            return state, " ".join(filter(None, (why, left)))
        if handed.when is not None:
            files[RECEIPTS[0]] = f"{handed.when:%Y-%m-%d %H:%M:%S.%f} UTC".encode()
        replace_folder(folder, files, set_aside(self._course, self._name, student))
        self.record[student] = {
            "form": handed.form,
            "place": handed.place,
            "prefix": handed.prefix,
            "numbers": handed.numbers,
            "order": handed.order,
            "submitted": files.get(RECEIPTS[0], b"").decode(),
            "stamp": stamp,
            "source": source,
        }
        _write_record(self._course, self._name, self.record)
        return state, " ".join(filter(None, (why, left)))

    def _add_others(self, files: dict[str, bytes], handed: Handed, own: set[str]) -> str:
        """Add the files beside the notebooks; return a sentence on those left out."""
        left, size = [], 0
        for inner, file in sorted(handed.files.items()):
            if inner in own or inner in RECEIPTS or inner in files:
                continue
            content = None
            if size <= MOST_BYTES:
                with suppress(UnreadableNotebook):
                    content = file.read()
            size += len(content or b"")
            # A zip may hold a file and a folder of one name.
            clashes = any(_lies_in(inner, other) or _lies_in(other, inner) for other in files)
            if content is None or clashes or len(files) > MOST_FILES or size > MOST_BYTES:
                left.append(inner)
            else:
                files[inner] = content
        return f"Left out, as too much or unreadable: {', '.join(left[:5])}." if left else ""

    def _compare(self, student: str, handed: Handed, folder: Path, stamp: str) -> tuple[str, str]:
        """Return whether a submission is new, or newer than, older than or the same as the one
        there."""
        if not os.path.lexists(folder):
            return NEW, ""
        there = submitted_at(folder)
        before = self.record.get(student, {})
        try:
            is_same = stamp_in(folder, self._notebooks) == stamp
        except UnreadableNotebook:
            is_same = False
        if is_same and (handed.when is None or handed.when == there):
            return SAME, ""
        if handed.when is not None and there is not None:
            if handed.when > there:
                if self._was_set_aside(student, handed.when, stamp):
                    return SAME, "another of the attempts counts."
                return NEWER, "what was there is put aside."
            return OLDER, f"what is there was handed in later, at {there:%Y-%m-%d %H:%M:%S} UTC."
        if is_same:
            return (NEWER, "its time was not known before.") if there is None else (SAME, "")
        # Canvas numbers files in the order of their arrival.
        if handed.order and before.get("form") == handed.form and there is None:
            if handed.order > before["order"]:
                return NEWER, "what was there is put aside."
            return OLDER, "what is there was handed in later."
        return OLDER, (
            f"{folder} holds another one, and nothing says which is newer. Give its time in a "
            "mapping, in the column submitted; or move away what is there."
        )

    def _was_set_aside(self, student: str, when: datetime, stamp: str) -> bool:
        """Return whether an attempt of this time and content is among those set aside."""
        for other in (self._aside / "replaced" / student).glob("*"):
            if submitted_at(other) == when:
                return stamp_in(other, self._notebooks) == stamp
        return False


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def record_path(course: Path, name: str) -> Path:
    """Return the path of the record of an assignment's imports."""
    return course / FOLDER / name / "record.json"


def set_aside(course: Path, name: str, student: str) -> Path:
    """Return a free place for a submission that another one replaces."""
    folder = course / FOLDER / name / "replaced" / student
    taken = [int(path.name) for path in folder.glob("*") if path.name.isdecimal()]
    return folder / str(max(taken, default=0) + 1)


def stamp_in(folder: Path, notebooks: Iterable[str]) -> str:
    """Return a digest of those of the notebooks that are in a submission's folder.

    Raises `UnreadableNotebook` if one is no plain file.
    """
    paths = [folder / f"{notebook}.ipynb" for notebook in notebooks]
    there = [read_plain_file(path, levels=2) for path in paths if os.path.lexists(path)]
    return stamp_of(b"".join(there))


def note_attempt(course: Path, name: str, student: str, folder: Path) -> None:
    """Note that another of a student's imported attempts is the submission now."""
    students = read_record(course, name)
    when = submitted_at(folder)
    students[student] |= {
        "stamp": stamp_in(folder, graded_notebooks(course, name)),
        "submitted": f"{when:%Y-%m-%d %H:%M:%S.%f} UTC" if when else "",
    }
    _write_record(course, name, students)


def pass_on(course: Path, old: str, new: str) -> None:
    """Move the records of one student's imports to another, for assignments in which that one has
    none."""
    for path in (course / FOLDER).glob("*/record.json"):
        students = read_record(course, path.parent.name)
        if old in students:
            students.setdefault(new, students.pop(old))
            _write_record(course, path.parent.name, students)


def _write_record(course: Path, name: str, students: dict[str, dict[str, Any]]) -> None:
    text = json.dumps({"schema": 1, "students": students}, indent=1, sort_keys=True)
    write_whole(record_path(course, name), text.encode() + b"\n", 0o600)


def read_record(course: Path, name: str) -> dict[str, dict[str, Any]]:
    """Return the record of an assignment's imports, by student; empty if there was none.

    Raises `CourseError` if the record cannot be read.
    """
    path = record_path(course, name)
    try:
        found: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))["students"]
        return found
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CourseError(
            f"{path} is damaged ({error}). Put it aside, and import the download again."
        ) from error
