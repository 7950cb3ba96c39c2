"""The record of gradings: append-only tables of gradings by tests, marks by hand with the texts
that were marked, and asks.

The tables are in the gradebook's database. A row is inserted in the transaction that stores its
marks, so that neither exists without the other. Triggers refuse to update or delete rows. The rows
hold no hidden inputs and no expected values.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from nbgrader.api import Gradebook
from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    bindparam,
    func,
    inspect,
    select,
)
from sqlalchemy.engine import Row
from sqlalchemy.schema import CreateColumn

from ..records import Report
from .another_look import SEEN, Verdict

_TABLES = MetaData()


def _word(name: str, length: int = 128) -> Column[str]:
    return Column(name, String(length), nullable=False)


def _table(name: str, *columns: Column[Any]) -> Table:
    """Return a table of lines on a student's notebook, with more columns than all of them have."""
    table = Table(
        f"autograder_{name}",
        _TABLES,
        Column("id", Integer, primary_key=True, autoincrement=True),
        _word("assignment"),
        _word("student"),
        *columns,
        sqlite_autoincrement=True,
    )
    Index(f"{table.name}_of", table.c.assignment, table.c.student)
    return table


_GRADINGS = _table(
    "grading",
    _word("time", 40),
    _word("submission", 64),
    _word("seed", 64),
    Column("versions", Text, nullable=False),
    Column("verdicts", Text, nullable=False),
)
_MARKINGS = _table(
    "marking",
    _word("time", 40),
    _word("who"),
    _word("exercise"),
    Column("answer", String(64)),
    Column("points", Float),
    Column("extra", Float),
    Column("comment", Text),
    Column("items", Text),
    Column("adjust", Float),
    Column("why", Text),
)
_ASKS = _table(
    "ask",
    _word("time", 40),
    _word("who"),
    _word("exercise"),
    Column("is_reply", Boolean, nullable=False),
    Column("words", Text, nullable=False),
)
_TEXTS = _table(
    "text",
    _word("exercise"),
    _word("answer", 64),
    Column("text", Text, nullable=False),
)

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
# By SQLAlchemy's name of a database: statements that make the table append-only; idempotent.
_APPEND_ONLY = {
    "sqlite": [
        f"CREATE TRIGGER IF NOT EXISTS {table}_no_{event} BEFORE {event} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{_REFUSED}'); END"
        for table in _TABLES.tables
        for event in ("update", "delete")
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION autograder_append_only() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN RAISE EXCEPTION '{_REFUSED}'; END $$",
        *(
            f"CREATE OR REPLACE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION autograder_append_only()"
            for table in _TABLES.tables
        ),
    ],
}


@dataclass(frozen=True)
class Entry:
    """One grading of one submission.

    Attributes:
        assignment: the name of the assignment, or ASSIGNMENT/NOTEBOOK for a part.
        student: the student's id.
        submission: the digest of the submitted file.
        seed: the seed of the hidden tests' random numbers.
        versions: the versions of everything else on which the marks depend, and the kind of
            sandbox.
        verdicts: a dictionary for each exercise, in the notebook's order. Its keys are `id`,
            `points`, `max_points`, `status`, `misconception`, `broken` (the criteria that failed)
            and `answer` (the digest of the answer). The key `essential` (failed criteria of
            essential tests) is there if there are any, and the key `keeps` (the share of the points
            that the misconception keeps) if it is not 0. The key `seen` is there if a manual mark
            has to be reviewed: the answer, points and maximum for which a person gave the mark.
        time: when the row was inserted, in UTC, in ISO 8601; "" before.
        number: the row's id, which increases with each grading, even if the clock jumps; 0 before.
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
class Marking:
    """What a person gave for one answer.

    Attributes:
        who: the name of the person who marked the answer.
        assignment: the name of the assignment, or ASSIGNMENT/NOTEBOOK for a part.
        student: the student's id.
        exercise: the exercise's name.
        answer: the digest of the answer that the person read, in the last grading; None if it was
            not graded, or nobody read it.
        points: the points by hand; None if the tests' points stand.
        extra: the extra credit in points; None for none.
        comment: the comment; None for none.
        time: when it was given, in UTC, in ISO 8601; "" before it is stored.
        items: the items of the rubric that the answer has, with the points of each at that time;
            None if the mark was given without a rubric.
        adjust: the points that the person added to those of the items; None without a rubric.
        why: why the mark was stored again, such as for a changed rubric; None when the person
            marked the answer.
    """

    who: str
    assignment: str
    student: str
    exercise: str
    answer: str | None
    points: float | None
    extra: float | None
    comment: str | None
    time: str = ""
    items: dict[str, float] | None = None
    adjust: float | None = None
    why: str | None = None


MOST_WORDS = 500
"""Greatest number of characters with which a student asks for another look, or a person replies."""


@dataclass(frozen=True)
class Ask:
    """A request of a student for another look at an exercise, or the reply to it.

    Attributes:
        who: who wrote it, or who entered it for the student.
        assignment: the name of the assignment, or ASSIGNMENT/NOTEBOOK for a part.
        student: the student's id.
        exercise: the exercise's name.
        words: the text.
        is_reply: whether it replies to the student.
        time: when it was stored, in UTC, in ISO 8601; "" before.
    """

    who: str
    assignment: str
    student: str
    exercise: str
    words: str
    is_reply: bool = False
    time: str = ""


@dataclass(frozen=True)
class Change:
    """The points of an exercise in two gradings, and why they differ.

    Attributes:
        exercise: the exercise's name.
        points: the points in the earlier and in the later grading; None if there is no such
            exercise, or a person gives its points.
        why: the reasons, as messages.
    """

    exercise: str
    points: tuple[float | None, float | None]
    why: list[str] = field(default_factory=list)


def entry_of(
    name: str, student: str, submission: str, report: Report, versions: dict[str, str]
) -> Entry:
    """Return the entry for a grading, without storing it.

    Args:
        name: the assignment or part.
        submission: the digest of the submitted file.
        report: the verdicts.
        versions: the versions on which the marks depend, without the kind of sandbox.
    """
    kept = ("id", "points", "max_points", "status", "misconception", "answer")
    verdicts = [
        {key: getattr(result, key) for key in kept}
        | {"broken": [criterion for criterion, held in result.criteria if not held]}
        | ({"essential": result.essential} if result.essential else {})
        | ({"keeps": result.keeps} if result.keeps else {})
        for result in report.exercises
    ]
    depends_on = {**versions, "sandbox": report.sandbox}
    return Entry(name, student, submission, report.seed, depends_on, verdicts)


def prepare(gradebook: Gradebook) -> None:
    """Create the tables with all columns and their append-only triggers, unless they exist."""
    _prepare(gradebook.db.connection())
    gradebook.db.commit()


def _prepare(db: Connection) -> None:
    _TABLES.create_all(db)
    existing = _marking_columns(db)
    for column in _MARKINGS.c:
        if column.name not in existing:
            definition = CreateColumn(column).compile(dialect=db.dialect)
            db.exec_driver_sql(f"ALTER TABLE {_MARKINGS.name} ADD COLUMN {definition}")
    for statement in _APPEND_ONLY.get(db.dialect.name, ()):
        db.exec_driver_sql(statement)


def _marking_columns(db: Connection) -> set[str]:
    """Return the columns of the table of marks by hand, which may be older; none without it."""
    if not inspect(db).has_table(_MARKINGS.name):
        return set()
    return {column["name"] for column in inspect(db).get_columns(_MARKINGS.name)}


def recorded_name(folder: str, notebook: str) -> str:
    """Return the name that a notebook has in the table of marks by hand."""
    return folder if notebook == folder else f"{folder}/{notebook}"


def add_marking(db: Connection, marking: Marking) -> None:
    """Insert what a person gave; the caller commits. Creates the tables unless they exist."""
    if {*_MARKINGS.c.keys()} - _marking_columns(db):
        _prepare(db)
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    items = None if marking.items is None else json.dumps(marking.items)
    db.execute(_MARKINGS.insert(), asdict(marking) | {"time": now, "items": items})


def markings(
    db: Connection, name: str, student: str | None = None, exercise: str | None = None
) -> list[Marking]:
    """Return what people gave in a notebook, the first one first.

    Args:
        name: the notebook's name, as `recorded_name` returns it.
        student: restricts the result to one student.
        exercise: restricts the result to one exercise.
    """
    if not (existing := _marking_columns(db)):
        return []
    names = [each.name for each in fields(Marking) if each.name in existing]
    query = select(*(_MARKINGS.c[each] for each in names)).order_by(_MARKINGS.c.id)
    query = query.where(_MARKINGS.c.assignment == name)
    if student is not None:
        query = query.where(_MARKINGS.c.student == student)
    if exercise is not None:
        query = query.where(_MARKINGS.c.exercise == exercise)
    return [
        Marking(**{**row, "items": json.loads(row.get("items") or "null")})
        for row in db.execute(query).mappings()
    ]


MOST_TEXT = 20_000
"""Greatest number of characters of an answer that the record keeps."""


def add_text(
    db: Connection, name: str, student: str, exercise: str, answer: str, text: str
) -> None:
    """Insert the text of an answer that a person marks, unless it is there; the caller commits.

    Args:
        answer: the answer's digest.
        text: the answer's text, of which the beginning is kept.
    """
    text = text[:MOST_TEXT]
    if texts(db, name, student, exercise).get(answer) == text:
        return
    if not inspect(db).has_table(_TEXTS.name):
        _prepare(db)
    db.execute(
        _TEXTS.insert(),
        {"assignment": name, "student": student, "exercise": exercise, "answer": answer,
         "text": text},
    )  # fmt: skip


def texts(db: Connection, name: str, student: str, exercise: str) -> dict[str, str]:
    """Return the texts of a student's answers that people marked, by the answer's digest."""
    if not inspect(db).has_table(_TEXTS.name):
        return {}
    columns = _TEXTS.c
    query = select(columns.answer, columns.text).where(
        columns.assignment == name, columns.student == student, columns.exercise == exercise
    )
    return {answer: text for answer, text in db.execute(query.order_by(columns.id))}


def add_ask(db: Connection, ask: Ask) -> None:
    """Insert a student's request for another look, or the reply; the caller commits."""
    if not inspect(db).has_table(_ASKS.name):
        _prepare(db)
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    db.execute(_ASKS.insert(), asdict(ask) | {"time": now})


def asks(db: Connection, name: str, student: str | None = None) -> list[Ask]:
    """Return the requests for another look in an assignment and the replies, the first one first.

    Args:
        student: restricts the result to one student.
    """
    if not inspect(db).has_table(_ASKS.name):
        return []
    query = select(*(_ASKS.c[each.name] for each in fields(Ask))).order_by(_ASKS.c.id)
    query = query.where(_ASKS.c.assignment == name)
    if student is not None:
        query = query.where(_ASKS.c.student == student)
    return [Ask(**row) for row in db.execute(query).mappings()]


def add(db: Connection, entry: Entry, seen: Mapping[str, Verdict | None]) -> None:
    """Insert an entry; the caller commits.

    Args:
        entry: the entry to insert.
        seen: by exercise whose manual mark has to be reviewed: the verdict that the person saw;
            None if unknown.
    """
    kept = {
        name: None if verdict is None else {key: verdict[key] for key in SEEN}
        for name, verdict in seen.items()
    }
    verdicts = [
        each | {"seen": kept[each["id"]]} if each["id"] in kept else each for each in entry.verdicts
    ]
    row = asdict(entry) | {
        "time": datetime.now(UTC).isoformat(timespec="microseconds"),
        "versions": json.dumps(entry.versions),
        "verdicts": json.dumps(verdicts, ensure_ascii=False),
    }
    del row["number"]
    db.execute(_ADDED, row)


def entries(gradebook: Gradebook, name: str, student: str | None = None) -> list[Entry]:
    """Return the gradings of an assignment, the first one first.

    Args:
        student: restricts the result to one student.
    """
    query = select(_GRADINGS).where(_GRADINGS.c.assignment == name).order_by(_GRADINGS.c.id)
    if student is not None:
        query = query.where(_GRADINGS.c.student == student)
    return [_entry(row) for row in gradebook.db.execute(query)]


def latest(gradebook: Gradebook, name: str, student: str) -> Entry | None:
    """Return the last grading of a student in an assignment; None if there is none."""
    row = gradebook.db.execute(_LATEST, {"assignment": name, "student": student}).first()
    return None if row is None else _entry(row)


def copy(db: Connection, name: str, old: str, new: str) -> None:
    """Copy a student's lines for an assignment and its parts to another student's id."""
    for table in (_GRADINGS, _MARKINGS, _ASKS, _TEXTS):
        if not inspect(db).has_table(table.name):
            continue
        of_assignment = (table.c.assignment == name) | table.c.assignment.startswith(f"{name}/")
        query = select(table).where(of_assignment, table.c.student == old).order_by(table.c.id)
        for row in db.execute(query).mappings().all():
            copied = {key: row[key] for key in row if key != "id"}
            db.execute(table.insert(), {**copied, "student": new})


def last_verdicts(db: Connection, name: str, student: str) -> dict[str, dict[str, Any]]:
    """Return the verdicts of a student's last grading, by exercise; {} without a grading."""
    row = db.execute(_LATEST, {"assignment": name, "student": student}).first()
    return {} if row is None else {each["id"]: each for each in _entry(row).verdicts}


def last_of_each(
    db: Connection, name: str, students: Collection[str]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the verdicts of these students' last gradings, by student and exercise.

    Students who were not graded yet are left out.
    """
    if not inspect(db).has_table(_GRADINGS.name):
        return {}
    last = select(func.max(_GRADINGS.c.id)).where(
        _GRADINGS.c.assignment == name, _GRADINGS.c.student.in_(students)
    )
    query = select(_GRADINGS.c.student, _GRADINGS.c.verdicts).where(
        _GRADINGS.c.id.in_(last.group_by(_GRADINGS.c.student))
    )
    return {
        student: {each["id"]: each for each in json.loads(verdicts)}
        for student, verdicts in db.execute(query)
    }


def seen_at(db: Connection, name: str, given: Mapping[str, Marking]) -> dict[str, dict[str, Any]]:
    """Return, by exercise, the verdict on the marked answer in the last grading before the mark.

    Args:
        name: the assignment, as gradings have it.
        given: what people gave to one student, by exercise.
    """
    found: dict[str, dict[str, Any]] = {}
    for student in {marking.student for marking in given.values()}:
        of_student = (_GRADINGS.c.assignment == name) & (_GRADINGS.c.student == student)
        query = select(_GRADINGS.c.time, _GRADINGS.c.verdicts).where(of_student)
        for time, verdicts in db.execute(query.order_by(_GRADINGS.c.id)):
            found |= {
                each["id"]: each
                for each in json.loads(verdicts)
                if (marking := given.get(each["id"]))
                and each["answer"] == marking.answer
                and time <= marking.time
            }
    return found


def answers(db: Connection, names: Sequence[str], student: str) -> dict[str, str]:
    """Return the digests of the answers in the last grading of a notebook, by exercise.

    Args:
        names: the names that the notebook may have in the record. The last entry under one of them
            counts.
        student: the student's id.
    """
    if not inspect(db).has_table(_GRADINGS.name):
        return {}
    verdicts = db.execute(
        select(_GRADINGS.c.verdicts)
        .where(_GRADINGS.c.assignment.in_(names), _GRADINGS.c.student == student)
        .order_by(_GRADINGS.c.id.desc())
        .limit(1)
    ).scalar()
    return {each["id"]: each.get("answer") for each in json.loads(verdicts or "[]")}


def _entry(row: Row[Any]) -> Entry:
    versions, verdicts = json.loads(row.versions), json.loads(row.verdicts)
    key = (row.assignment, row.student, row.submission, row.seed)
    return Entry(*key, versions, verdicts, row.time, row.id)


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
    """Return a message for each changed version or file that can explain changed marks.

    If nothing changed between the two gradings, the only message says so.
    """
    messages = [] if before.submission == now.submission else [_REASONS["submission"]]
    for name, version in now.versions.items():
        earlier = before.versions.get(name)
        if version != earlier:
            messages.append(_REASONS.get(name, f"{name} is {version} now, it was {earlier}"))
    return messages or [
        "nothing that marks depend on has changed: what the code does depends on chance or time"
    ]


def changes(before: Entry, now: Entry) -> list[Change]:
    """Return the exercises whose points differ between two gradings, with the reasons."""
    earlier = {verdict["id"]: verdict for verdict in before.verdicts}
    later = {verdict["id"]: verdict for verdict in now.verdicts}
    changed = []
    for name in {**earlier, **later}:
        points = tuple(each.get(name, {}).get("points") for each in (earlier, later))
        if points[0] != points[1]:
            why = _why(earlier.get(name), later.get(name))
            changed.append(Change(name, (points[0], points[1]), why))
    return changed


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
    only = "at most half of the points without this"
    essential = [each.get("essential", ()) for each in (before, now)]
    why += [f"{only} now: {each}" for each in essential[1] if each not in essential[0]]
    open_now = [each for each in essential[0] if each in now["broken"] and each not in essential[1]]
    why += [f"no longer {only}: {each}" for each in open_now]
    if now.get("keeps") != before.get("keeps"):
        kept = [f"{each.get('keeps', 0):g}" for each in (now, before)]
        why.append(f"the mistake keeps {kept[0]} of the points, it was {kept[1]}")
    return why
