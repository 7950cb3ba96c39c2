"""Sanitizes students' names in the gradebook against HTML injection, by an event of SQLAlchemy.

nbgrader's formgrader writes names into its pages unescaped, and on some platforms students choose
their names themselves. Importing this module installs the event's listener. A course's
`nbgrader_config.py` imports the module, for nbgrader's own commands and the formgrader.
"""

from __future__ import annotations

import re
from typing import Any

from nbgrader.api import Student
from sqlalchemy import event

COLUMNS = (Student.first_name, Student.last_name, Student.email, Student.lms_user_id)

_TAGS = str.maketrans("<>", "‹›")
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+"
)


def plain(text: str) -> str:
    """Return a text with a space in place of control and bidi characters, and ‹ › in place of < >.

    Quotes and ampersands, as in O'Brien and Müller & Söhne, are kept, since they are harmless
    outside of HTML tags.
    """
    return " ".join(_UNSEEN.sub(" ", text).translate(_TAGS).split())


def _plain_value(student: Student, value: Any, *_: object) -> Any:
    return plain(value) if isinstance(value, str) else value


for column in COLUMNS:
    event.listen(column, "set", _plain_value, retval=True)
