"""Counts marks again whose rubric has changed since a person gave them."""

from __future__ import annotations

from dataclasses import dataclass

from nbgrader.api import Grade

from ..course_folder.rubrics import items_points
from ..gradebook import by_hand, history
from .answers import Answers


@dataclass(frozen=True)
class ChangedMark:
    """A mark with an item that has other points now, or that the rubric lacks now.

    Attributes:
        row: the id of its grade in the gradebook.
        who: the person who marked the answer.
        column: the column of the grade that has the points of the items.
        changes: the items with their points before and now, such as "price 1 → 0.5".
        seen: the exercise's snapshot.
        typed: the values to store.
    """

    row: str
    student: str
    exercise: str
    who: str
    column: str
    changes: tuple[str, ...]
    seen: by_hand.Snapshot
    typed: by_hand.Snapshot

    @property
    def points(self) -> tuple[float, float]:
        """The points before, and with the rubric as it is now."""
        return self.seen[self.column] or 0.0, self.typed[self.column]


def changed_marks(answers: Answers) -> list[ChangedMark]:
    """Return the marks with a changed item. Marks whose points somebody has changed since, in the
    formgrader for example, are left out."""
    found = []
    with answers.gradebook.engine.connect() as db:
        lines = history.markings(db, answers.recorded_name)
        last = {(line.exercise, line.student): line for line in lines}
        for exercise, rubric in answers.rubrics().items():
            now = {item.id: item.points for item in rubric}
            most = answers.most(exercise)
            column = "extra_credit" if answers.adds(exercise) else "manual_score"
            changed = {
                student
                for (name, student), line in last.items()
                if name == exercise and not (line.items or {}).items() <= now.items()
            }
            for answer in answers.of(exercise) if changed else ():
                if answer.student not in changed:
                    continue
                seen = by_hand.take_snapshots(db, answer.submitted)[answer.row]
                if seen["items"] is None:
                    continue
                items = {item: now[item] for item in seen["items"] if item in now}
                points = items_points(rubric, items, most) + (seen["adjust"] or 0.0)
                typed = {
                    column: round(min(max(points, 0.0), most), 6),
                    "items": items,
                    "adjust": seen["adjust"],
                    "needs_manual_grade": seen["needs_manual_grade"],
                }
                changes = tuple(
                    f"{item} {before:g} → {f'{now[item]:g}' if item in now else 'gone'}"
                    for item, before in seen["items"].items()
                    if now.get(item) != before
                )
                who = last[exercise, answer.student].who
                found.append(
                    ChangedMark(
                        answer.row, answer.student, exercise, who, column, changes, seen, typed
                    )
                )
    return found


def store(answers: Answers, mark: ChangedMark, person: str) -> bool:
    """Store a mark as the rubric has it now; return False if somebody has changed it meanwhile.

    Args:
        person: who agreed to that, for the record.
    """
    why = f"the rubric has changed: {', '.join(mark.changes)}, stored by {person}"
    stored, _ = by_hand.store(
        answers.gradebook.engine, Grade, mark.row, mark.seen, mark.typed, mark.who, why=why
    )
    return stored
