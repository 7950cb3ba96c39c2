"""Imports a download from a learning management system into `submitted/`.

A record says where each submission came from. No submission is lost: a submission in `submitted/`
that a newer one replaces becomes a backup. A submission that is older, or whose student is not
found, is not imported, and is reported.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Mapped
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from ..course_folder.course import Course
from ..errors import CourseError, UnreadableNotebook
from ..files import replace_folder, write_atomic
from ..isolation import isolated_errors
from ..notebook.intake import RECEIPTS, read_plain_file, refused_id, submitted_at
from ..pipeline.classroom import course_directory, stamp_of
from ..pipeline.one_submission import read_submission
from ..texts import visible
from .archives import open_download
from .downloads import (
    AT_ONCE,
    CLOCKS,
    FILES,
    MAPPING,
    WORKSHEET,
    DownloadedSubmission,
    group_by_submission,
)
from .matching import Mapping, Roster, Worksheet, read_mapping

FOLDER = "imported"
"""Folder in the course folder with a folder for each assignment: the record of imports, backups."""

_DATA = re.compile(
    r"(?:[^./][^/]*/)*[^./][^/]*(?<!_config)\.(?:ipynb|txt|md|rst|tex|log|csv|tsv|jsonl?|xml|ya?ml|html?"
    r"|xlsx?|ods|parquet|feather|np[yz]|h5|hdf5|mat|db|sqlite3?|png|jpe?g|gif|svg|webp|bmp|tiff?"
    r"|heic|pdf|docx?|odt|rtf|pptx?|odp|wav|mp3|ogg|mp4|webm|mov|zip|gz|7z)",
    re.IGNORECASE,
)
"""Allow-list of paths: notebooks, data and documents.

Other files are not imported, since Python, Jupyter and nbgrader run modules and read configuration
from the folder in which they are started.
"""

MOST_FILES, MOST_BYTES = 50, 100_000_000
"""Greatest number, and total size in bytes, of a submission's files other than notebooks; further
files are left out and reported."""

NEW, NEWER, SAME, OLDER = "new", "newer", "same", "older"
UNMATCHED, LEFT, REFUSED = "unmatched", "left out", "refused"
DONE = (NEW, NEWER, SAME, LEFT)
"""States that need no action by a person."""


@dataclass
class ImportResult:
    """The outcome of importing one submission of a download.

    Attributes:
        place: the submission's name in the download.
        state: `NEW`, `NEWER`, `SAME`, `OLDER`, `UNMATCHED`, `LEFT` or `REFUSED`.
        student: the student's id; "" if unknown.
        detail: a sentence with the reason or advice; "" if there is none.
        late: whether the system marks the submission as late.
        when: when the submission was handed in, in UTC, as `YYYY-MM-DD HH:MM:SS`; "" if unknown.
        clock: the source of `when`, one of `downloads.CLOCKS`; "" if unknown.
    """

    place: str
    state: str
    student: str = ""
    detail: str = ""
    late: bool = False
    when: str = ""
    clock: str = ""


def import_download(
    course: Course,
    name: str,
    path: Path,
    form: str | None = None,
    mapping: Path | None = None,
    worksheet: Path | None = None,
    dry_run: bool = False,
) -> list[ImportResult]:
    """Import the submissions of one assignment.

    Args:
        name: the assignment.
        path: the path of the download, a zip or folder.
        form: the naming scheme, one of `downloads.FORMS`; None to recognise it by the files' paths.
        mapping: the path of a CSV file that names the student of each submission.
        worksheet: the path of Moodle's grading worksheet.
        dry_run: whether to return the results without writing anything.

    Raises `CourseError` if the download, the mapping, the worksheet or the assignment cannot be
    read.
    """
    whole = course.notebook_path(name).folder
    if name != whole and name in course.parts_of(whole):
        raise CourseError(
            f"{name} is handed in with the other notebooks of {whole}: import {whole} as a whole"
        )
    for part in course.parts_of(name):
        course.assignment(part)
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
    with open_download(path) as download, course.lock():
        target = _Target(course, name, folders, dry_run)
        submissions = group_by_submission(download.files, roster.knows, form)
        results = [ImportResult(place, REFUSED, detail=why) for place, why in download.left_out]
        results += _import_all(submissions, roster, mapped, listed, target, path.name)
    if not results:
        raise CourseError(f"{path}: there is no file in it. Download it again.")
    return results


def _import_all(
    submissions: list[DownloadedSubmission],
    roster: Roster,
    mapping: Mapping,
    worksheet: Worksheet | None,
    target: _Target,
    source: str,
) -> Iterator[ImportResult]:
    """Find each submission's students, then import the submission of each student.

    If several submissions have the same student, none of them is imported for this student.

    Args:
        source: the name of the download, for the record.
    """
    by_student: dict[str, list[DownloadedSubmission]] = defaultdict(list)
    for submission in submissions:
        place, mapped_ids = _mapped(submission, mapping.students)
        ids: list[str] = []
        why = ""
        with isolated_errors(submission.place) as fault:
            if mapped_ids is not None:
                ids, why = mapped_ids, "" if mapped_ids else "the mapping names nobody for it."
            else:
                ids, why = roster.find(submission, worksheet)
            if worksheet and submission.form == "moodle":
                _set_time(submission, worksheet.times.get(submission.numbers[0]), WORKSHEET)
        if fault.reason:
            yield ImportResult(
                visible(submission.place), REFUSED, detail=fault.reason, late=submission.late
            )
            continue
        _set_time(submission, mapping.times.get(place), MAPPING)
        if not ids:
            state = UNMATCHED if mapped_ids is None else LEFT
            # No action is needed for a file that is neither a notebook nor a student's, such as a
            # class list.
            has_notebook = any(".ipynb" in each.lower() for each in submission.files)
            if state == UNMATCHED and submission.form == "plain" and not has_notebook:
                state, why = LEFT, "it is no notebook, and nobody's."
            yield ImportResult(visible(submission.place), state, detail=why, late=submission.late)
        for student in ids:
            by_student[student].append(submission)
    for student, claims in sorted(by_student.items()):
        if len(claims) > 1:  # Which of them is the student's would be a guess.
            both = ", ".join(each.place for each in claims)
            for claim in claims:
                why = f"several would be {student}'s: {both}. Say in a mapping whose each is."
                place = visible(claim.place)
                yield ImportResult(place, UNMATCHED, student, visible(why), claim.late)
            continue
        [submission] = claims
        chosen, _ = _mapped(submission, mapping.students)
        state = why = ""
        with isolated_errors(student) as fault:
            state, why = target.take(student, submission, chosen, source)
        if fault.reason:
            state, why = REFUSED, fault.reason
        when = f"{submission.when:%Y-%m-%d %H:%M:%S}" if submission.when else ""
        detail, clock = visible(why), submission.clock
        yield ImportResult(
            visible(submission.place), state, student, detail, submission.late, when, clock
        )


def _set_time(handed: DownloadedSubmission, when: datetime | None, clock: str) -> None:
    if when is not None:
        handed.when, handed.clock = when, clock


def summarize_times(results: Iterable[ImportResult]) -> tuple[str, str]:
    """Return a sentence on the sources of submission times, and a warning; "" for none.

    The warning says that files' times may be the time of the download: all but one are within
    `AT_ONCE`.
    """
    matched = [each for each in results if each.student]
    counts = Counter(each.clock for each in matched)
    parts = [f"{counts[clock]} by {words}" for clock, words in CLOCKS.items() if counts[clock]]
    parts += [f"{counts['']} unknown, which count as in time"] if counts[""] else []
    sentence = f"times of submission: {', '.join(parts)}" if parts else ""
    times = sorted((each for each in matched if each.clock == FILES), key=lambda each: each.when)
    # The time that differs is the first or the last one.
    for alone, *rest in (times, times[::-1]) if len(times) > 2 else ():
        first, last = (datetime.fromisoformat(each.when) for each in (rest[0], rest[-1]))
        if abs(last - first) <= AT_ONCE:
            return sentence, (
                f"the download's times are the same for all but {alone.student}: they may be those "
                "of the download. Then give the right ones in a worksheet or a mapping"
            )
    return sentence, ""


def _mapped(
    submission: DownloadedSubmission, students: Mapped[str, list[str]]
) -> tuple[str, list[str] | None]:
    """Return a mapping's name for a submission, and the students whom the mapping names for it.

    A mapping may name a submission by its place, with or without the final `_`, or by the path of
    one of its files. If the mapping has no entry, return the place and None.

    Args:
        students: `Mapping.students`.
    """
    names = [submission.place, submission.place.rstrip("_")]
    names += [file.path for file in submission.files.values()]
    for name in names:
        if name in students:
            return name, students[name]
    return submission.place, None


class _Target:
    """Writes an assignment's submissions and the record of imports into the course folder.

    Attributes:
        record: the record of imports, by student.
    """

    def __init__(self, course: Course, name: str, folders: CourseDirectory, dry_run: bool) -> None:
        self._folders = folders
        self._course = course
        self._name, self._notebooks = name, course.graded_notebooks(name)
        self._dry_run = dry_run
        self._aside = course.root / FOLDER / name
        self.record = read_record(course, name)

    def take(
        self, student: str, submission: DownloadedSubmission, chosen: str, source: str
    ) -> tuple[str, str]:
        """Write a submission, unless the student's present submission is newer or the same.

        Args:
            student: the student's id.
            chosen: the path of the file that a mapping names, or the submission's place.
            source: the name of the download, for the record.

        Returns:
            The state, one of `NEW`, `NEWER`, `SAME` and `OLDER`, and sentences for the report.

        Raises `UnreadableNotebook` if a notebook cannot be chosen or read, or the id is invalid.
        """
        if why := refused_id(student):
            raise UnreadableNotebook(why)
        notebooks = submission.notebooks(self._notebooks, chosen)
        files = {
            f"{name}.ipynb": submission.files[inner].read() for name, inner in notebooks.items()
        }
        stamp = stamp_of(b"".join(files.values()))
        left = self._add_others(files, submission, {*notebooks.values()})
        step = self._folders.submitted_directory
        folder = Path(self._folders.format_path(step, student, self._name))
        state, why = self._compare(student, submission, folder, stamp)
        if state == NEWER and (nothing := self._nothing_to_grade(files)):
            there = {each.name: read_plain_file(each, levels=2) for each in folder.glob("*.ipynb")}
            if not self._nothing_to_grade(there):
                return REFUSED, f"{nothing} What is there stays."
        if state not in (NEW, NEWER) or self._dry_run:
            return state, " ".join(filter(None, (why, left)))
        if submission.when is not None:
            files[RECEIPTS[0]] = f"{submission.when:%Y-%m-%d %H:%M:%S.%f} UTC".encode()
        replace_folder(folder, files, backup_path(self._course, self._name, student))
        self.record[student] = {
            "form": submission.form,
            "place": submission.place,
            "prefix": submission.prefix,
            "numbers": submission.numbers,
            "order": submission.order,
            "submitted": files.get(RECEIPTS[0], b"").decode(),
            "stamp": stamp,
            "source": source,
        }
        _write_record(self._course, self._name, self.record)
        return state, " ".join(filter(None, (why, left)))

    def _nothing_to_grade(self, files: dict[str, bytes]) -> str:
        """Return why nothing in the notebooks can be graded; "" if something can."""
        why = ""
        for name in self._notebooks:
            if (content := files.get(f"{name}.ipynb")) is not None:
                try:
                    whole = self._course.name_of(self._name, name)
                    read_submission(self._course, content, f"{name}.ipynb", whole)
                    return ""
                except UnreadableNotebook as error:
                    why = str(error)
                except CourseError:  # Without a release, nothing tells.
                    return ""
        return why

    def _add_others(
        self, files: dict[str, bytes], submission: DownloadedSubmission, notebooks: set[str]
    ) -> str:
        """Add a submission's other files to `files`; return sentences on files that are left out.

        Programs and configuration files are left out: a command that an instructor starts in the
        submission's folder could run them.

        Args:
            files: the contents of the files to write, by path; changed by this call.
            notebooks: the paths of the notebooks, which are in `files` already.
        """
        left, programs, size = [], [], 0
        for inner, file in sorted(submission.files.items()):
            if inner in notebooks or inner in RECEIPTS or inner in files:
                continue
            if not _DATA.fullmatch(inner):
                programs.append(inner)
                continue
            content = None
            if size <= MOST_BYTES:
                with suppress(UnreadableNotebook):
                    content = file.read()
            size += len(content or b"")
            # A zip may hold files `a` and `a/b`, of which only one can be written.
            clashes = any(_lies_in(inner, other) or _lies_in(other, inner) for other in files)
            if content is None or clashes or len(files) > MOST_FILES or size > MOST_BYTES:
                left.append(inner)
            else:
                files[inner] = content
        reasons = {
            "Left out, as too much or unreadable": left,
            "Left in the download, since only notebooks, data and documents are imported": programs,
            "Not unpacked": [submission.trouble] if submission.trouble else [],
        }
        return " ".join(f"{why}: {_first(names)}." for why, names in reasons.items() if names)

    def _compare(
        self, student: str, submission: DownloadedSubmission, folder: Path, stamp: str
    ) -> tuple[str, str]:
        """Compare a submission with the student's present one; return its state and the reason.

        If both times are known, they decide; else equal contents; else `order`.

        Args:
            folder: the folder of the present submission.
            stamp: the digest of the new submission's notebooks.
        """
        if not os.path.lexists(folder):
            return NEW, ""
        there = submitted_at(folder)
        origin = self.record.get(student, {})
        try:
            is_same = stamp_in(folder, self._notebooks) == stamp
        except UnreadableNotebook:
            is_same = False
        if is_same and (submission.when is None or submission.when == there):
            return SAME, ""
        if submission.when is not None and there is not None:
            if submission.when > there:
                if self._is_backup(student, submission.when, stamp):
                    return SAME, "another of the attempts counts."
                return NEWER, "what was there is put aside."
            return (
                OLDER,
                f"what is there was handed in later, at {there:%Y-%m-%d %H:%M:%S} UTC.",
            )
        if is_same:
            return (NEWER, "its time was not known before.") if there is None else (SAME, "")
        # Canvas's numbers of files increase in the order of arrival.
        if submission.order and origin.get("form") == submission.form and there is None:
            if submission.order > origin["order"]:
                return NEWER, "what was there is put aside."
            return OLDER, "what is there was handed in later."
        return OLDER, (
            f"{folder} holds another one, and nothing says which is newer. Give its time in a "
            "mapping, in the column submitted; or move away what is there."
        )

    def _is_backup(self, student: str, when: datetime, stamp: str) -> bool:
        """Return whether an attempt with this time and this digest is among the backups."""
        for other in (self._aside / "replaced" / student).glob("*"):
            if submitted_at(other) == when:
                return stamp_in(other, self._notebooks) == stamp
        return False


def _first(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def record_path(course: Course, name: str) -> Path:
    """Return the path of the record of an assignment's imports."""
    return course.root / FOLDER / name / "record.json"


def backup_path(course: Course, name: str, student: str) -> Path:
    """Return an unused path for the backup of a submission that is replaced."""
    folder = course.root / FOLDER / name / "replaced" / student
    taken = [int(path.name) for path in folder.glob("*") if path.name.isdecimal()]
    return folder / str(max(taken, default=0) + 1)


def stamp_in(folder: Path, notebooks: Iterable[str]) -> str:
    """Return a digest of the notebooks in a submission's folder.

    Args:
        notebooks: the names of the notebooks, without `.ipynb`; missing ones are skipped.

    Raises `UnreadableNotebook` if a notebook is not a regular file.
    """
    paths = [folder / f"{notebook}.ipynb" for notebook in notebooks]
    contents = [read_plain_file(path, levels=2) for path in paths if os.path.lexists(path)]
    return stamp_of(b"".join(contents))


def record_attempt(course: Course, name: str, student: str, folder: Path) -> None:
    """Record that another imported attempt has become the student's submission.

    Args:
        folder: the submission's folder.
    """
    students = read_record(course, name)
    when = submitted_at(folder)
    students[student] |= {
        "stamp": stamp_in(folder, course.graded_notebooks(name)),
        "submitted": f"{when:%Y-%m-%d %H:%M:%S.%f} UTC" if when else "",
    }
    _write_record(course, name, students)


def move_records(course: Course, old: str, new: str) -> None:
    """Move the records of imports from student `old` to `new`; a record of `new` is kept."""
    for path in (course.root / FOLDER).glob("*/record.json"):
        students = read_record(course, path.parent.name)
        if old in students:
            students.setdefault(new, students.pop(old))
            _write_record(course, path.parent.name, students)


def _write_record(course: Course, name: str, students: dict[str, dict[str, Any]]) -> None:
    text = json.dumps({"schema": 1, "students": students}, indent=1, sort_keys=True)
    write_atomic(record_path(course, name), text.encode() + b"\n", 0o600)


def read_record(course: Course, name: str) -> dict[str, dict[str, Any]]:
    """Return the record of an assignment's imports, by student; {} without any import.

    Raises `CourseError` if the record cannot be read.
    """
    path = record_path(course, name)
    try:
        students: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))["students"]
        return students
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CourseError(
            f"{path} is damaged ({error}). Put it aside, and import the download again."
        ) from error
