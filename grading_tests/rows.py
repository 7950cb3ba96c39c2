"""Tables of hidden tests: each test that takes the columns runs with each row."""

import pytest

from autograder.testing import exercise


def table(rows, columns):
    """Parametrize a test, or each test of a class, with the rows of a table.

    Args:
        rows: each begins with the exercise and with the name that the row's tests get.
        columns: the parameters' names, for the columns after the exercise; further columns are
            ignored.
    """
    names = columns.split()
    tests = [
        pytest.param(*row[: len(names)], id=row[0].replace(" ", ""), marks=exercise(part))
        for part, *row in rows
    ]
    return pytest.mark.parametrize(names, tests)
