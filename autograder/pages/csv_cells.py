"""Writes CSV files that spreadsheet programs show and do not run, and reads their own CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import CourseError

Field = str | float | None
"""The value of one cell of a table."""


def csv_text(rows: Iterable[Sequence[Field]]) -> str:
    """Return the rows as CSV. Numbers are written without a trailing `.0`, None as an empty
    cell."""
    text = io.StringIO()
    csv.writer(text).writerows([_cell(field) for field in row] for row in rows)
    return text.getvalue()


def _cell(value: Field) -> str:
    """Return a cell's text; one that would start a formula gets an apostrophe, which spreadsheets
    read as "text".

    The characters are those that OWASP lists under "CSV Injection".
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return f"{value:.10g}"
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else value


def read_table(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Return the headings of a CSV file, and its rows by them; a missing cell of a row is "".

    Commas, semicolons or tabs may stand between the columns, and the text may be in UTF-8, in
    UTF-16 or, as Excel saves it in the West, in Windows-1252.

    Raises `CourseError` if it cannot be read.
    """
    try:
        text = _decoded(path.read_bytes())
        # Spreadsheet programs write semicolons in countries with a decimal comma.
        between = max(",;\t", key=text.partition("\n")[0].count)
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=between)
        rows = [{k: v or "" for k, v in row.items() if k is not None} for row in reader]
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
