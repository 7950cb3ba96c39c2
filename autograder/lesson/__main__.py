"""`python -m autograder.lesson FOLDER` writes the lesson and the slides into FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

from ..assignments import find_course
from .site import LessonError, build


def main(arguments: list[str]) -> int:
    """Build into the one folder that `arguments` names; returns the exit status."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        pages = build(find_course(), Path(arguments[0]))
    except LessonError as error:
        print(f"The lesson was not built: {error}", file=sys.stderr)
        return 1
    print(f"{len(pages)} pages; begin with {pages[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
