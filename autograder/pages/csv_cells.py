"""Writes CSV files that a spreadsheet program shows and does not run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

Field = str | float | None
"""What one cell of a table holds."""


def csv_text(rows: Iterable[Sequence[Field]]) -> str:
    """The rows as CSV. Numbers are written without a trailing `.0`, None as an empty cell."""
    text = io.StringIO()
    csv.writer(text).writerows([_cell(field) for field in row] for row in rows)
    return text.getvalue()


def _cell(value: Field) -> str:
    """Text that would start a formula gets an apostrophe, which spreadsheets read as "text".

    The characters are those that OWASP lists under "CSV Injection".
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return f"{value:.10g}"
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else value
