"""The attempts of a class and the queue of waiting ones: a table, and a folder with the files.

An attempt is in the table once its files are whole, and its row says that it is graded once all its
results are stored. So a service that is killed at any moment goes on where it was.
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
from math import inf
from pathlib import Path
from typing import Any

FOLDER = "attempts"
"""Name of the folder in the course folder."""

WAITING, GRADED, OVER = "waiting", "graded", "over the limit"

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
# Each student's first attempt comes before any second; first the students who used least time.
_QUEUE = f"""
SELECT *, ROW_NUMBER() OVER (PARTITION BY student ORDER BY id) AS turn,
    ({_USED.format(student="attempt.student")}) AS used
FROM attempt WHERE state = 'waiting' AND not_before <= :now
"""
_NEXT = f"""
SELECT * FROM ({_QUEUE})
WHERE turn = 1 AND used < :most AND student NOT IN (SELECT value FROM json_each(:busy))
ORDER BY used, id LIMIT 1
"""
_IN_ORDER = f"SELECT id FROM ({_QUEUE}) ORDER BY turn, used, id"


@dataclass(frozen=True)
class Attempt:
    """One attempt of a student at an assignment.

    Attributes:
        id: grows in the order in which attempts arrived.
        key: its name in the exchange or upload that it came by.
        folder: the name of the folder that holds its files.
        submitted: when it was handed in, in UTC; None if unknown.
        arrived: when the service saw it, in seconds since 1970.
        not_before: when it may be graded, likewise.
        state: `WAITING`, `GRADED` or `OVER`.
        graded: when it was graded, likewise.
        report: the verdicts, as `autograder check --json` prints them.
        error: why it could not be graded.
        counts: whether it gives the mark.
        shown: the part of its feedback that has been shown, one of `settings.SHOWN`; "" for none.
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
    """The table and its folder. Each thread needs its own."""

    def __init__(self, course: Path) -> None:
        self.root = course / FOLDER
        self.root.mkdir(mode=0o700, exist_ok=True)
        for name in ("files", "pages"):
            (self.root / name).mkdir(exist_ok=True)
        path = self.root / "attempts.db"
        path.touch(mode=0o600)
        self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.executescript(_TABLES)
        with suppress(sqlite3.OperationalError):
            # A database that was made before the column existed.
            self._db.execute("ALTER TABLE attempt ADD COLUMN seconds REAL NOT NULL DEFAULT 0")

    @staticmethod
    def are_in(course: Path) -> bool:
        """Return whether a service has accepted attempts for the course."""
        return (course / FOLDER / "attempts.db").exists()

    def pass_on(self, old: str, new: str) -> None:
        """Move a student's attempts and links to another, whose own attempts count before these."""
        with self.transaction():
            self._db.execute(
                "UPDATE attempt SET counts = 0 WHERE student = ? AND assignment IN"
                " (SELECT assignment FROM attempt WHERE student = ? AND counts)",
                (old, new),
            )
            self._db.execute("UPDATE attempt SET student = ? WHERE student = ?", (new, old))
            self._db.execute("UPDATE OR IGNORE link SET student = ? WHERE student = ?", (new, old))
            self._db.execute("DELETE FROM link WHERE student = ?", (old,))

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep other connections from writing between reads and writes in the block."""
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
        """Return the path of the whole feedback on an attempt."""
        return self.root / "pages" / f"{attempt.id}.html"

    def keep(self, files: dict[str, bytes]) -> str:
        """Write an attempt's files into a folder of their own, and return its name.

        They are on the disk before an attempt can be in the table. Raises `OSError` if the disk is
        full; the folder is removed then.
        """
        name = secrets.token_hex(16)
        folder = self.root / "files" / name
        try:
            folder.mkdir()
            for inner, content in files.items():
                with (folder / inner).open("wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            for path in (folder, folder.parent):
                opened = os.open(path, os.O_RDONLY)
                os.fsync(opened)
                os.close(opened)
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
    ) -> None:
        """Add an attempt whose files are kept, unless the table has its key."""
        self._db.execute(
            "INSERT OR IGNORE INTO attempt (key, folder, assignment, student, submitted, arrived,"
            " not_before, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (key, folder, assignment, student, submitted and submitted.isoformat(" "), time.time(),
             not_before, state),
        )  # fmt: skip

    def remove_unfinished(self) -> None:
        """Remove files without a row, which a killed service had begun to write and will write
        again."""
        known = {row[0] for row in self._db.execute("SELECT folder FROM attempt")}
        for folder in (self.root / "files").iterdir():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)

    def keys(self) -> set[str]:
        return {row[0] for row in self._db.execute("SELECT key FROM attempt")}

    def next(self, busy: Iterable[str], most: float = inf) -> Attempt | None:
        """Return the next attempt to grade: of the student who has used the least time in the last
        day.

        Args:
            busy: students with an attempt that is being graded, whose next has to wait.
            most: students who have used as many seconds have to wait, too.
        """
        given = {"now": time.time(), "busy": json.dumps([*busy]), "most": most}
        row = self._db.execute(_NEXT, given).fetchone()
        return None if row is None else _attempt(row)

    def seconds_used(self, student: str) -> float:
        """Return the seconds that grading a student's attempts has taken in the last day."""
        given = {"now": time.time(), "student": student}
        [seconds] = self._db.execute(_USED.format(student=":student"), given).fetchone()
        return float(seconds)

    def before(self, attempt: Attempt) -> int:
        """Return how many attempts come before this one in the queue."""
        order = [row[0] for row in self._db.execute(_IN_ORDER, {"now": time.time()})]
        return order.index(attempt.id) if attempt.id in order else len(order)

    def in_queue(self) -> set[str]:
        """Return the students with a waiting attempt that may be graded now."""
        return {row["student"] for row in self._db.execute(_QUEUE, {"now": time.time()})}

    def set_graded(
        self, attempt: Attempt, report: dict[str, Any], error: str | None, seconds: float = 0.0
    ) -> None:
        """Mark an attempt as graded, with all its results stored.

        Args:
            seconds: how long grading took.
        """
        self._db.execute(
            "UPDATE attempt SET state = ?, graded = ?, points = ?, max_points = ?, report = ?,"
            " error = ?, seconds = ? WHERE id = ?",
            (GRADED, time.time(), report.get("score"), report.get("max_score"),
             json.dumps(report, ensure_ascii=False), error, seconds, attempt.id),
        )  # fmt: skip

    def put_off(self, attempt: Attempt, seconds: float) -> None:
        """Put an attempt off, so that others are graded meanwhile."""
        self._db.execute(
            "UPDATE attempt SET not_before = ? WHERE id = ?", (time.time() + seconds, attempt.id)
        )

    def set_counts(self, attempt: Attempt) -> None:
        """Mark this attempt, and no other, as the one that gives the mark."""
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
        """Return a student's attempts, first to last."""
        rows = self._db.execute(
            "SELECT * FROM attempt WHERE student = ? AND (? IS NULL OR assignment = ?) ORDER BY id",
            (student, assignment, assignment),
        )
        return [_attempt(row) for row in rows]

    def all(self) -> list[Attempt]:
        return [_attempt(row) for row in self._db.execute("SELECT * FROM attempt ORDER BY id")]

    def not_wholly_shown(self) -> list[Attempt]:
        rows = self._db.execute(
            "SELECT * FROM attempt WHERE state = ? AND shown != 'mistakes' ORDER BY id", (GRADED,)
        )
        return [_attempt(row) for row in rows]

    def waiting(self, student: str | None = None, state: str = WAITING) -> int:
        """Return how many attempts wait, or are in another state; of one student if named."""
        [number] = self._db.execute(
            "SELECT COUNT(*) FROM attempt WHERE state = ? AND (? IS NULL OR student = ?)",
            (state, student, student),
        ).fetchone()
        return int(number)

    def oldest_wait(self) -> float:
        """Return for how many seconds the first attempt in the queue has been due; 0 for none."""
        now = time.time()
        [since] = self._db.execute(
            "SELECT MIN(MAX(arrived, not_before)) FROM attempt WHERE state = ? AND not_before <= ?",
            (WAITING, now),
        ).fetchone()
        return 0.0 if since is None else max(0.0, now - since)

    def link(self, student: str, teaches: bool = False) -> str:
        """Return the secret part of a student's or an instructor's link, made on first use."""
        self._db.execute(
            "INSERT OR IGNORE INTO link (token, student, teaches) VALUES (?, ?, ?)",
            (secrets.token_urlsafe(32), student, teaches),
        )
        [token] = self._db.execute(
            "SELECT token FROM link WHERE student = ? AND teaches = ?", (student, teaches)
        ).fetchone()
        return str(token)

    def renew_link(self, student: str) -> None:
        """Make a student's link invalid; the next call of `link` makes another."""
        self._db.execute("DELETE FROM link WHERE student = ?", (student,))

    def instructors(self) -> set[str]:
        """Return the instructors who have a link."""
        return {row[0] for row in self._db.execute("SELECT student FROM link WHERE teaches")}

    def whose(self, token: str) -> tuple[str, bool] | None:
        """Return the owner of a link, and whether that is an instructor; None if it has none."""
        row = self._db.execute(
            "SELECT student, teaches FROM link WHERE token = ?", (token,)
        ).fetchone()
        return None if row is None else (row["student"], bool(row["teaches"]))


def _attempt(row: sqlite3.Row) -> Attempt:
    return Attempt(
        row["id"], row["key"], row["folder"], row["assignment"], row["student"],
        datetime.fromisoformat(row["submitted"]) if row["submitted"] else None,
        row["arrived"], row["not_before"], row["state"], row["graded"], row["points"],
        row["max_points"], json.loads(row["report"] or "{}"), row["error"], bool(row["counts"]),
        row["shown"],
    )  # fmt: skip


def now_utc() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
