"""Writes CSV that is safe from CSV injection; reads CSV files that spreadsheet programs saved."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import CourseError

_FORMULA = r"""(?:^|(?<=[;\t\r\n]))GUARD(?=['"]*[=+\-@＝＋－＠])|^GUARD(?=['"]*[\t\r\n])"""
_BARE, _GUARDED = (re.compile(_FORMULA.replace("GUARD", each)) for each in ("", "'"))
"""`_BARE` matches the position before a formula, `_GUARDED` an apostrophe before a formula.

A formula begins with one of the characters that OWASP lists under "CSV Injection", with or without
quotes before the character. It is looked for at the beginning of a cell's text, and after each
semicolon, tab and line break in the text, since these separate cells in some locales.
"""

Field = str | float | None
"""The value of one cell."""


def csv_text(rows: Iterable[Sequence[Field]]) -> str:
    """Return rows as CSV text: numbers without a trailing `.0`, None as an empty cell."""
    text = io.StringIO()
    csv.writer(text).writerows([_cell(field) for field in row] for row in rows)
    return text.getvalue()


def _cell(value: Field) -> str:
    """Return a cell's text, with an apostrophe before each formula.

    The apostrophe makes spreadsheet programs take the formula for text; `read_table` removes it.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return f"{value:.10g}"
    return _BARE.sub("'", value)


def read_table(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Return the headings of a CSV file, and its rows as dictionaries by heading.

    A missing cell is "". Columns may be separated by commas, semicolons or tabs. The encoding may
    be UTF-8, UTF-16 or Windows-1252, which Excel uses in Western locales.

    Raises `CourseError` if the file cannot be read.
    """
    try:
        text = _decoded(path.read_bytes())
        # Spreadsheet programs write semicolons in countries with a decimal comma.
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows = [
            {k: _GUARDED.sub("", v or "") for k, v in row.items() if k is not None}
            for row in reader
        ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(
            f"{path}: cannot be read as a CSV file ({error}). Save it as CSV in UTF-8."
        ) from error
    return list(reader.fieldnames or ()), rows


def _decoded(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252")
