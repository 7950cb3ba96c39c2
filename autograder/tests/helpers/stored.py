"""Makes the course in the middle of a semester that later versions must open.

`python autograder/tests/helpers/stored.py 1.0.0` was run once, for that version, and never again.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

from nbgrader.api import Grade
from schools import released, run, solutions

from autograder.commands.demo import hand_in
from autograder.course_folder.course import Course
from autograder.gradebook import by_hand
from autograder.marking.answers import Answers

FOLDER = Path(__file__).resolve().parents[1] / "stored"
NAME = "checkpoint"
WRITTEN = {"ada": "Backward needs one pass.", "ben": "Forward is faster."}


def store(target: Path) -> None:
    """Write a course with two graded students, one of whom has a mark by hand, as a tar file."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = released(Path(scratch) / "course", NAME)
        course = Course(folder)
        answers = {name: {**solutions(NAME), "memory": text} for name, text in WRITTEN.items()}
        hand_in(course, course.assignment(NAME), answers)
        run(folder, "autograder", "grade", NAME)
        found = Answers(course, NAME)
        [answer] = [each for each in found.of("memory") if each.student == "ada"]
        with found.gradebook.engine.connect() as db:
            seen = by_hand.take_snapshots(db, answer.submitted)[answer.row]
        typed = {"manual_score": 1.0, "manual_comment": "Of what is there one?"}
        assert by_hand.store(found.gradebook.engine, Grade, answer.row, seen, typed, "tess")[0]
        found.gradebook.close()
        run(folder, "autograder", "export", NAME, "--output", "marks.csv", "--partial", status=1)
        with tarfile.open(target, "w:gz") as archive:
            archive.add(folder, "course")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    store(FOLDER / f"{sys.argv[1]}.tar.gz")
