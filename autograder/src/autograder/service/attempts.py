"""Stores the attempts of a class, and the queue of waiting attempts: an SQLite table and a folder.

An attempt's row is written after its files, and gets the state `graded` only after all its results
are stored. So a service that was killed at any moment resumes where it stopped.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from math import inf
from pathlib import Path
from typing import Any

from ..course_folder.course import Course

FOLDER = "attempts"
"""Name of the folder with the table and the files, in the course folder."""

WAITING, GRADED, OVER, REFUSED = "waiting", "graded", "over the limit", "refused"
UNCOUNTED = (OVER, REFUSED)
"""States of attempts that are stored and never graded, and use up no attempt."""

MOST_RECENT, RECENT_MINUTES = 10, 10
"""Rate limit: at most `MOST_RECENT` attempts of one student within `RECENT_MINUTES` minutes."""

_TABLES = """
CREATE TABLE IF NOT EXISTS attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    folder TEXT NOT NULL,
    assignment TEXT NOT NULL,
    student TEXT NOT NULL,
    submitted TEXT,
    arrived REAL NOT NULL,
    not_before REAL NOT NULL DEFAULT 0,
    state TEXT NOT NULL,
    graded REAL,
    points REAL,
    max_points REAL,
    report TEXT,
    error TEXT,
    counts INTEGER NOT NULL DEFAULT 0,
    shown TEXT NOT NULL DEFAULT '',
    seconds REAL NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS attempt_of ON attempt (student, assignment, id);
CREATE INDEX IF NOT EXISTS attempt_state ON attempt (state);
CREATE TABLE IF NOT EXISTS link (
    token TEXT PRIMARY KEY,
    student TEXT NOT NULL,
    teaches INTEGER NOT NULL,
    UNIQUE (student, teaches)
);
"""

_USED = """
SELECT COALESCE(SUM(seconds), 0) FROM attempt AS other
WHERE other.student = {student} AND other.graded > :now - 86400
"""
_DUE = "state = 'waiting' AND not_before <= :now"
# A fair queue: the first waiting attempts of all students come before anybody's second, and among
# the first ones those of students who used less grading time in the last day. MATERIALIZED makes
# SQLite sum the used time once for each student, and not once for each waiting attempt.
_QUEUE = f"""
WITH who AS MATERIALIZED (
    SELECT student, ({_USED.format(student="each.student")}) AS used
    FROM (SELECT DISTINCT student FROM attempt WHERE {_DUE}) AS each
)
SELECT attempt.*, ROW_NUMBER() OVER (PARTITION BY attempt.student ORDER BY id) AS turn, used
FROM who CROSS JOIN attempt INDEXED BY attempt_of ON attempt.student = who.student
WHERE {_DUE}
"""
_NEXT = f"""
SELECT * FROM ({_QUEUE})
WHERE turn = 1 AND used < :most AND student NOT IN (SELECT value FROM json_each(:busy))
ORDER BY used, id LIMIT 1
"""
_IN_ORDER = f"SELECT id FROM ({_QUEUE}) ORDER BY turn, used, id"


class Role(IntEnum):
    """The rights of a link's owner: the value of the link's column `teaches`."""

    STUDENT, INSTRUCTOR, GRADER = range(3)


@dataclass(frozen=True)
class Attempt:
    """One attempt of a student at an assignment.

    Attributes:
        id: a number that increases in the order of arrival.
        key: a unique name: the folder's name in the exchange, or a random name for an upload.
        folder: the name of the folder in `attempts/files` that holds the attempt's files.
        submitted: when the attempt was handed in, in UTC without a zone; None if unknown.
        arrived: when the service accepted the attempt, in seconds since 1970.
        not_before: the earliest time at which the attempt may be graded, in seconds since 1970.
        state: `WAITING`, `GRADED`, `OVER` (over the limit) or `REFUSED` (nothing in the file can be
            graded).
        graded: when the attempt was graded, in seconds since 1970; None before.
        points: earned points; None before the grading, or if it failed.
        max_points: possible points; None before the grading, or if it failed.
        report: the verdicts, as `autograder check --json` prints them; {} before the grading.
        error: the reason why the attempt could not be graded; None if there is none.
        counts: whether this attempt gives the student's mark for the assignment.
        shown: the level of feedback that was last published, one of `settings.SHOWN`; "" for none.
    """

    id: int
    key: str
    folder: str
    assignment: str
    student: str
    submitted: datetime | None
    arrived: float
    not_before: float
    state: str
    graded: float | None
    points: float | None
    max_points: float | None
    report: dict[str, Any]
    error: str | None
    counts: bool
    shown: str


class Attempts:
    """The table of attempts and the folder with their files.

    Not thread-safe: each thread makes its own object.
    """

    def __init__(self, course: Course) -> None:
        self.root = course.root / FOLDER
        self.root.mkdir(mode=0o700, exist_ok=True)
        for name in ("files", "pages"):
            (self.root / name).mkdir(exist_ok=True)
        path = self.root / "attempts.db"
        path.touch(mode=0o600)
        # Without an isolation level each statement commits by itself: `transaction` is explicit.
        self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode = WAL")
        # In WAL mode the default, NORMAL, can lose the last commits at a power failure.
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.executescript(_TABLES)
        with suppress(sqlite3.OperationalError):
            # Migrates a database without this column; fails if the database has the column.
            self._db.execute("ALTER TABLE attempt ADD COLUMN seconds REAL NOT NULL DEFAULT 0")

    @staticmethod
    def exist_in(course: Course) -> bool:
        """Return whether a service has accepted attempts for the course."""
        return (course.root / FOLDER / "attempts.db").exists()

    def move(self, old: str, new: str) -> None:
        """Move the attempts and links of student `old` to `new`.

        If both have an attempt that counts for the same assignment, only the one of `new` counts
        afterwards.
        """
        with self.transaction():
            self._db.execute(
                "UPDATE attempt SET counts = 0 WHERE student = ? AND assignment IN"
                " (SELECT assignment FROM attempt WHERE student = ? AND counts)",
                (old, new),
            )
            self._db.execute("UPDATE attempt SET student = ? WHERE student = ?", (new, old))
            # If `new` has a link, OR IGNORE skips the link of `old`, and DELETE removes it.
            self._db.execute("UPDATE OR IGNORE link SET student = ? WHERE student = ?", (new, old))
            self._db.execute("DELETE FROM link WHERE student = ?", (old,))

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in one transaction, rolled back if it raises."""
        # IMMEDIATE takes the write lock now: no other connection writes between reads and writes.
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def files_of(self, attempt: Attempt) -> Path:
        return self.root / "files" / attempt.folder

    def page_of(self, attempt: Attempt) -> Path:
        """Return the path of an attempt's full feedback page."""
        return self.root / "pages" / f"{attempt.id}.html"

    def keep(self, files: dict[str, bytes]) -> str:
        """Write an attempt's files into a new folder, with fsync, and return the folder's name.

        Call `keep` before `add`, so that no row refers to files that a power failure lost. Raises
        `OSError`, for example if the disk is full, after removing the new folder.
        """
        name = secrets.token_hex(16)
        folder = self.root / "files" / name
        try:
            folder.mkdir()
            for file_name, content in files.items():
                with (folder / file_name).open("wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            # A new name is durable only after an fsync of the folder that holds it.
            for path in (folder, folder.parent):
                descriptor = os.open(path, os.O_RDONLY)
                os.fsync(descriptor)
                os.close(descriptor)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return name

    def add(
        self,
        key: str,
        folder: str,
        assignment: str,
        student: str,
        submitted: datetime | None,
        state: str = WAITING,
        not_before: float = 0.0,
        error: str | None = None,
    ) -> None:
        """Add the row of an attempt whose files are written; do nothing if its key has a row.

        Args:
            key: the attempt's unique name.
            folder: the folder's name, as `keep` returned it.
            submitted: when the attempt was handed in, in UTC without a zone; None if unknown.
            state: `WAITING`, `OVER` or `REFUSED`.
            not_before: the earliest time of the grading, in seconds since 1970; 0 for at once.
            error: why the attempt is refused; None if it is not.
        """
        self._db.execute(
            "INSERT OR IGNORE INTO attempt (key, folder, assignment, student, submitted, arrived,"
            " not_before, state, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (key, folder, assignment, student, submitted and submitted.isoformat(" "), time.time(),
             not_before, state, error),
        )  # fmt: skip

    def remove_unfinished(self) -> None:
        """Remove folders without a row.

        They are left over from a service that was killed after it wrote an attempt's files, and
        before it added the row. The service accepts the same submission again.
        """
        folders_of_rows = {row[0] for row in self._db.execute("SELECT folder FROM attempt")}
        for folder in (self.root / "files").iterdir():
            if folder.name not in folders_of_rows:
                shutil.rmtree(folder, ignore_errors=True)

    def keys(self) -> set[str]:
        return {row[0] for row in self._db.execute("SELECT key FROM attempt")}

    def next(self, busy: Iterable[str], most: float = inf) -> Attempt | None:
        """Return the first waiting attempt of the student who used the least grading time in the
        last day; None if no attempt may be graded now.

        Args:
            busy: students whose attempts all wait, since one of them is being graded.
            most: students who used at least this many seconds in the last day wait as well.
        """
        parameters = {"now": time.time(), "busy": json.dumps([*busy]), "most": most}
        row = self._db.execute(_NEXT, parameters).fetchone()
        return None if row is None else _attempt(row)

    def seconds_used(self, student: str) -> float:
        """Return how long grading a student's attempts has taken in the last day, in seconds."""
        parameters = {"now": time.time(), "student": student}
        [seconds] = self._db.execute(_USED.format(student=":student"), parameters).fetchone()
        return float(seconds)

    def before(self, attempt: Attempt) -> int:
        """Return the number of attempts ahead of this one in the queue."""
        order = [row[0] for row in self._db.execute(_IN_ORDER, {"now": time.time()})]
        return order.index(attempt.id) if attempt.id in order else len(order)

    def in_queue(self) -> set[str]:
        """Return the students with a waiting attempt that may be graded now."""
        return {row["student"] for row in self._db.execute(_QUEUE, {"now": time.time()})}

    def set_graded(
        self, attempt: Attempt, report: dict[str, Any], error: str | None, seconds: float = 0.0
    ) -> None:
        """Mark an attempt as graded. Call this after all results of the attempt are stored.

        Args:
            report: the verdicts, as `autograder check --json` prints them; {} if there are none.
            error: the reason why the attempt could not be graded; None if it was.
            seconds: how long grading took.
        """
        self._db.execute(
            "UPDATE attempt SET state = ?, graded = ?, points = ?, max_points = ?, report = ?,"
            " error = ?, seconds = ? WHERE id = ?",
            (GRADED, time.time(), report.get("score"), report.get("max_score"),
             json.dumps(report, ensure_ascii=False), error, seconds, attempt.id),
        )  # fmt: skip

    def postpone(self, attempt: Attempt, seconds: float) -> None:
        """Make an attempt wait for `seconds`, so that other attempts are graded meanwhile."""
        self._db.execute(
            "UPDATE attempt SET not_before = ? WHERE id = ?", (time.time() + seconds, attempt.id)
        )

    def set_counts(self, attempt: Attempt) -> None:
        """Make this attempt the one that gives the student's mark for the assignment."""
        with self.transaction():
            self._db.execute(
                "UPDATE attempt SET counts = (id = ?) WHERE student = ? AND assignment = ?",
                (attempt.id, attempt.student, attempt.assignment),
            )

    def set_shown(self, attempt: Attempt, level: str) -> None:
        self._db.execute("UPDATE attempt SET shown = ? WHERE id = ?", (level, attempt.id))

    def get(self, number: int) -> Attempt | None:
        row = self._db.execute("SELECT * FROM attempt WHERE id = ?", (number,)).fetchone()
        return None if row is None else _attempt(row)

    def of(self, student: str, assignment: str | None = None) -> list[Attempt]:
        """Return a student's attempts in the order of arrival: at one assignment, or at all."""
        rows = self._db.execute(
            "SELECT * FROM attempt WHERE student = ? AND (? IS NULL OR assignment = ?) ORDER BY id",
            (student, assignment, assignment),
        )
        return [_attempt(row) for row in rows]

    def all(self) -> list[Attempt]:
        return [_attempt(row) for row in self._db.execute("SELECT * FROM attempt ORDER BY id")]

    def counting(self, assignment: str) -> list[Attempt]:
        """Return the attempts that give the marks of an assignment, one for each student."""
        rows = self._db.execute(
            "SELECT * FROM attempt WHERE state = ? AND counts AND assignment = ? ORDER BY id",
            (GRADED, assignment),
        )
        return [_attempt(row) for row in rows]

    def not_wholly_shown(self) -> list[Attempt]:
        """Return the graded and the refused attempts whose full feedback has not been published."""
        rows = self._db.execute(
            "SELECT * FROM attempt WHERE state IN (?, ?) AND shown != 'mistakes' ORDER BY id",
            (GRADED, REFUSED),
        )
        return [_attempt(row) for row in rows]

    def waiting(self, student: str | None = None, state: str = WAITING) -> int:
        """Return the number of attempts in a state, of one student or (None) of all."""
        [number] = self._db.execute(
            "SELECT COUNT(*) FROM attempt WHERE state = ? AND (? IS NULL OR student = ?)",
            (state, student, student),
        ).fetchone()
        return int(number)

    def recent(self, student: str) -> int:
        """Return how many attempts of a student arrived in the last `RECENT_MINUTES` minutes.

        Attempts over the limit are not counted.
        """
        # The bound `arrived <= now` excludes attempts from the time before the clock was set back.
        now = time.time()
        [number] = self._db.execute(
            "SELECT COUNT(*) FROM attempt WHERE student = ? AND state != ?"
            " AND arrived > ? AND arrived <= ?",
            (student, OVER, now - 60 * RECENT_MINUTES, now),
        ).fetchone()
        return int(number)

    def size(self, student: str) -> int:
        """Return the total size in bytes of the files that a student has handed in."""
        folders = map(self.files_of, self.of(student))
        return sum(path.stat().st_size for folder in folders for path in folder.glob("*"))

    def drop_old_pages(self, student: str, most: int) -> None:
        """Remove a student's oldest feedback pages, so that the rest have at most `most` bytes.

        Pages of attempts that count are never removed, nor are submitted files or the table's
        results.
        """
        size = 0
        for attempt in reversed(self.of(student)):
            page = self.page_of(attempt)
            size += page.stat().st_size if page.exists() else 0
            if size > most and not attempt.counts:
                page.unlink(missing_ok=True)

    def oldest_wait(self) -> float:
        """Return how long the longest waiting attempt has waited, in seconds; 0 if none waits.

        The wait begins at `not_before` if that is after the arrival.
        """
        now = time.time()
        [since] = self._db.execute(
            "SELECT MIN(MAX(arrived, not_before)) FROM attempt WHERE state = ? AND not_before <= ?",
            (WAITING, now),
        ).fetchone()
        return 0.0 if since is None else max(0.0, now - since)

    def link(self, student: str, role: int = Role.STUDENT) -> str:
        """Return the secret token of a person's link; created at the first call.

        Args:
            student: the id of the student, or the name of the instructor or grader.
            role: the person's `Role`.
        """
        # Insert before reading: two processes that do this at once (race) get the same token.
        self._db.execute(
            "INSERT OR IGNORE INTO link (token, student, teaches) VALUES (?, ?, ?)",
            (secrets.token_urlsafe(32), student, int(role)),
        )
        [token] = self._db.execute(
            "SELECT token FROM link WHERE student = ? AND teaches = ?", (student, int(role))
        ).fetchone()
        return str(token)

    def renew_link(self, student: str) -> None:
        """Revoke the links of a person; `link` then creates a new one."""
        self._db.execute("DELETE FROM link WHERE student = ?", (student,))

    def staff(self) -> set[str]:
        """Return the instructors and graders who have a link."""
        return {row[0] for row in self._db.execute("SELECT student FROM link WHERE teaches")}

    def owner_of(self, token: str) -> tuple[str, Role] | None:
        """Return the id of a link's owner, and the owner's role; None for an unknown token."""
        row = self._db.execute(
            "SELECT student, teaches FROM link WHERE token = ?", (token,)
        ).fetchone()
        return None if row is None else (row["student"], Role(row["teaches"]))


def _attempt(row: sqlite3.Row) -> Attempt:
    return Attempt(
        row["id"], row["key"], row["folder"], row["assignment"], row["student"],
        datetime.fromisoformat(row["submitted"]) if row["submitted"] else None,
        row["arrived"], row["not_before"], row["state"], row["graded"], row["points"],
        row["max_points"], json.loads(row["report"] or "{}"), row["error"], bool(row["counts"]),
        row["shown"],
    )  # fmt: skip


def now_utc() -> datetime:
    """Return the current time in UTC without a zone, as nbgrader's gradebook stores times."""
    return datetime.now(UTC).replace(tzinfo=None)
