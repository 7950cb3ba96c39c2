"""`python -m autograder.lesson FOLDER [NAME…]` writes the lesson and the slides into FOLDER.

Assignments that are named have their notebooks beside FOLDER, and the pages lead to them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ..assignments import find_course
from .site import LessonError, build


def main(arguments: list[str]) -> int:
    """Build into the folder that comes first in `arguments`; returns the exit status."""
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        pages = build(find_course(), Path(arguments[0]), arguments[1:])
    except LessonError as error:
        print(f"The lesson was not built: {error}", file=sys.stderr)
        return 1
    print(f"{len(pages)} pages; begin with {pages[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
