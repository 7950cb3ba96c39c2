"""The record of gradings: student, digest of the submission, versions, and verdicts.

It is a table in the gradebook. A line is added in the transaction that stores its marks, so that
neither is ever there without the other, and the database itself refuses to change or remove one. It
holds no hidden input and no expected value.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from nbgrader.api import Gradebook
from sqlalchemy import (
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    bindparam,
    func,
    select,
)
from sqlalchemy.engine import Row

from ..model import Report

_TABLES = MetaData()
_GRADINGS = Table(
    "autograder_grading",
    _TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("time", String(40), nullable=False),
    Column("assignment", String(128), nullable=False),
    Column("student", String(128), nullable=False),
    Column("submission", String(64), nullable=False),
    Column("seed", String(64), nullable=False),
    Column("versions", Text, nullable=False),
    Column("verdicts", Text, nullable=False),
    sqlite_autoincrement=True,
)
Index("autograder_grading_of", _GRADINGS.c.assignment, _GRADINGS.c.student)

# Built once, since building a statement takes longer than running it.
_ADDED = _GRADINGS.insert()
_LATEST = select(_GRADINGS).where(
    _GRADINGS.c.id
    == select(func.max(_GRADINGS.c.id))
    .where(
        _GRADINGS.c.assignment == bindparam("assignment"),
        _GRADINGS.c.student == bindparam("student"),
    )
    .scalar_subquery()
)

_REFUSED = "the record of gradings is only ever added to"
# By database; each statement can be run again and again.
_APPEND_ONLY = {
    "sqlite": [
        f"CREATE TRIGGER IF NOT EXISTS autograder_grading_no_{event} "
        f"BEFORE {event} ON autograder_grading "
        f"BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"
        for event in ("update", "delete")
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION autograder_append_only() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN RAISE EXCEPTION '{_REFUSED}'; END $$",
        "CREATE OR REPLACE TRIGGER autograder_grading_append_only "
        "BEFORE UPDATE OR DELETE ON autograder_grading "
        "FOR EACH ROW EXECUTE FUNCTION autograder_append_only()",
    ],
}


@dataclass(frozen=True)
class Entry:
    """One grading of one submission.

    Attributes:
        submission: a digest of the submitted file.
        seed: the seed of the hidden tests' random numbers.
        versions: all else that the marks depend on, the kind of sandbox among it.
        verdicts: by exercise in the notebook's order: `id`, `points`, `max_points`, `status`,
            `misconception`, under `broken` the promises that did not hold, and under `answer` a
            digest of the answer.
        time: when it was stored, in UTC; set by the record. Since a clock may jump, `number` gives
            the order.
    """

    assignment: str
    student: str
    submission: str
    seed: str
    versions: dict[str, str]
    verdicts: list[dict[str, Any]]
    time: str = ""
    number: int = 0


@dataclass(frozen=True)
class Change:
    """The points of an exercise in two gradings, and why they differ.

    Attributes:
        points: before and now; None if there was no such exercise or a person marks it.
        why: in words.
    """

    exercise: str
    points: tuple[float | None, float | None]
    why: list[str] = field(default_factory=list)


def entry_of(
    name: str, student: str, submission: str, report: Report, versions: dict[str, str]
) -> Entry:
    """Return the line of the record for a grading."""
    kept = ("id", "points", "max_points", "status", "misconception", "answer")
    verdicts = [
        {key: getattr(result, key) for key in kept}
        | {"broken": [promise for promise, held in result.promises if not held]}
        for result in report.exercises
    ]
    depends_on = {**versions, "sandbox": report.sandbox}
    return Entry(name, student, submission, report.seed, depends_on, verdicts)


def prepare(gradebook: Gradebook) -> None:
    """Make the table if it is missing, with triggers that keep lines from being changed."""
    db = gradebook.db
    connection = db.connection()
    _TABLES.create_all(connection)
    for statement in _APPEND_ONLY.get(connection.dialect.name, ()):
        connection.exec_driver_sql(statement)
    db.commit()


def add(db: Connection, entry: Entry) -> None:
    """Add a line; the caller commits."""
    row = asdict(entry) | {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": json.dumps(entry.versions),
        "verdicts": json.dumps(entry.verdicts, ensure_ascii=False),
    }
    del row["number"]
    db.execute(_ADDED, row)


def entries(gradebook: Gradebook, name: str, student: str | None = None) -> list[Entry]:
    """Return all gradings of an assignment, first to last; of one student if named."""
    wanted = select(_GRADINGS).where(_GRADINGS.c.assignment == name).order_by(_GRADINGS.c.id)
    if student is not None:
        wanted = wanted.where(_GRADINGS.c.student == student)
    return [_entry(row) for row in gradebook.db.execute(wanted)]


def latest(gradebook: Gradebook, name: str, student: str) -> Entry | None:
    """Return the last grading of a student's submission, if there is one."""
    row = gradebook.db.execute(_LATEST, {"assignment": name, "student": student}).first()
    return None if row is None else _entry(row)


def copy(db: Connection, name: str, old: str, new: str) -> None:
    """Copy the lines on a student's assignment, or on its parts, to another id."""
    mine = (_GRADINGS.c.assignment == name) | _GRADINGS.c.assignment.startswith(f"{name}/")
    found = select(_GRADINGS).where(mine, _GRADINGS.c.student == old).order_by(_GRADINGS.c.id)
    for row in db.execute(found).mappings().all():
        db.execute(_ADDED, {**{key: row[key] for key in row if key != "id"}, "student": new})


def same_answers(db: Connection, now: Entry) -> set[str]:
    """Return the exercises whose answers are the same as in the last grading."""
    row = db.execute(_LATEST, {"assignment": now.assignment, "student": now.student}).first()
    before = {} if row is None else {e["id"]: e.get("answer") for e in _entry(row).verdicts}
    return {e["id"] for e in now.verdicts if e["answer"] and before.get(e["id"]) == e["answer"]}


def _entry(row: Row[Any]) -> Entry:
    versions, verdicts = json.loads(row.versions), json.loads(row.verdicts)
    own = (row.assignment, row.student, row.submission, row.seed)
    return Entry(*own, versions, verdicts, row.time, row.id)


_REASONS = {
    "submission": "another file was submitted",
    "assignment": "the assignment's notebook or its hidden tests have changed",
    "grader": "the autograder has changed",
    "course": "the package that students use has changed",
    "tests": "its tests run elsewhere: course.toml says where",
    "sandbox": "another kind of sandbox confined the code",
    "key": "the course's key has changed, and with it the numbers that were drawn",
}


def reasons(before: Entry, now: Entry) -> list[str]:
    """Return sentences on each change between two gradings that marks depend on."""
    found = [] if before.submission == now.submission else [_REASONS["submission"]]
    for what, version in now.versions.items():
        earlier = before.versions.get(what)
        if version != earlier:
            found.append(_REASONS.get(what, f"{what} is {version} now, it was {earlier}"))
    return found or [
        "nothing that marks depend on has changed: what the code does depends on chance or time"
    ]


def changes(before: Entry, now: Entry) -> list[Change]:
    """Return the exercises whose points differ, and why."""
    earlier = {verdict["id"]: verdict for verdict in before.verdicts}
    later = {verdict["id"]: verdict for verdict in now.verdicts}
    found = []
    for name in {**earlier, **later}:
        points = tuple(each.get(name, {}).get("points") for each in (earlier, later))
        if points[0] != points[1]:
            why = _why(earlier.get(name), later.get(name))
            found.append(Change(name, (points[0], points[1]), why))
    return found


def _why(before: dict[str, Any] | None, now: dict[str, Any] | None) -> list[str]:
    if before is None or now is None:
        return ["the exercise is new" if before is None else "there is no such exercise any more"]
    why = []
    if before["max_points"] != now["max_points"]:
        why.append(f"it is worth {now['max_points']:g} now, it was {before['max_points']:g}")
    if before["status"] != now["status"]:
        why.append(f"{before['status']} became {now['status']}".replace("_", " "))
    if before["misconception"] != now["misconception"]:
        named = now["misconception"] or "nothing known"
        why.append(f"diagnosed as {named}, it was {before['misconception'] or 'nothing known'}")
    why += [f"holds now: {each}" for each in before["broken"] if each not in now["broken"]]
    why += [f"does not hold now: {each}" for each in now["broken"] if each not in before["broken"]]
    return why
