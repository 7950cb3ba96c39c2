"""Parametrizes hidden tests with the rows of a table."""

import pytest

from autograder.testing import exercise


def table(rows, columns):
    """Parametrize a test, or each test of a class, with the rows of a table.

    Args:
        rows: the first column of a row is the exercise, and the second one names the row's tests.
        columns: the names of the parameters, for the columns after the exercise; further columns
            are ignored.
    """
    names = columns.split()
    tests = [
        pytest.param(*row[: len(names)], id=row[0].replace(" ", ""), marks=exercise(part))
        for part, *row in rows
    ]
    return pytest.mark.parametrize(names, tests)
