"""Grades a class several times on a full disk, each time with more free space, until all is graded.

    python full_disk.py FRESH DISK OUTCOME

Copies the course FRESH to DISK, a small disk, and grades there: first without free space, then with
a little more each time, then with enough. Writes to OUTCOME, as JSON, how each grading ended and
which files it left.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from kills import state_of

ROOM = [0, 60, 130, 220]
"""Kilobytes of free space on the disk in successive gradings."""


def grade(course: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "autograder", "grade", "value", "--workers", "1"]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stderr


def look(course: Path) -> dict[str, Any]:
    state = state_of(course)
    graded = course / "autograded"
    whole = {}
    for path in graded.rglob("*.ipynb"):
        notebook = json.loads(path.read_text("utf-8"))
        whole[path.parent.parent.name] = notebook["metadata"]["autograder"]["report"]["score"]
    marks: dict[str, float] = {}
    for (student, _), mark in state.marks.items():
        marks[student] = marks.get(student, 0) + (mark or 0)
    lines = {student: len(each) for student, each in state.record.items()}
    return {"notebooks": whole, "marks": marks, "lines": lines, "ill": state.ill}


def main() -> None:
    fresh, course, outcome = map(Path, sys.argv[1:])
    shutil.copytree(fresh, course, dirs_exist_ok=True)
    ballast = course / "ballast"
    found = []
    for kilobytes in ROOM:
        ballast.unlink(missing_ok=True)
        room = os.statvfs(course)
        ballast.write_bytes(bytes(max(0, room.f_bavail * room.f_frsize - 1024 * kilobytes)))
        status, output = grade(course)
        found.append({"room": kilobytes, "status": status, "output": output, **look(course)})
    ballast.unlink()
    status, output = grade(course)
    found.append({"room": None, "status": status, "output": output, **look(course)})
    files = {name: content.hex() for name, content in state_of(course).files.items()}
    outcome.write_text(json.dumps({"gradings": found, "files": files}))


if __name__ == "__main__":
    main()
