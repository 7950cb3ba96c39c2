"""The hidden tests of `pandas`. Each test's docstring is what a student reads when it fails.

A table stays where student code runs. What comes here is what it says of itself: `to_dict()`,
`list(table.columns)`, `table.shape`, or `table["price"].to_numpy()`, an array.
"""

from __future__ import annotations

import pytest

from autograder.testing import close, exercise


@pytest.fixture
def pandas(student):
    return student.remote.importlib.import_module("pandas")


@exercise("totals")
class TestTotals:
    def test_sums(self, student, pandas, rng):
        """Price times count is added up for each shop."""
        one, two, three = (rng.randint(10, 99) / 4 for _ in range(3))
        columns = {"shop": ["a", "b", "a"], "price": [one, two, three], "count": [2, 3, 4]}
        found = student.totals(pandas.DataFrame(columns))
        assert found.to_dict() == close({"a": 2 * one + 4 * three, "b": 3 * two})

    def test_leaves_the_table(self, student, pandas):
        """The table has no column more."""
        given = pandas.DataFrame({"shop": ["a"], "price": [1.0], "count": [2]})
        assert student.totals(given)["a"] == close(2.0)
        assert list(given.columns) == ["shop", "price", "count"]


@exercise("complete")
class TestComplete:
    def test_rows(self, student, pandas):
        """Rows with a missing value are left out, whichever it is."""
        columns = {"name": ["a", None, "c", "d"], "size": [1.0, 2.0, None, 4.0]}
        found = student.complete(pandas.DataFrame(columns))
        assert found.to_dict("list") == {"name": ["a", "d"], "size": [1.0, 4.0]}

    def test_numbers(self, student, pandas):
        """The rows are numbered from 0."""
        found = student.complete(pandas.DataFrame({"size": [None, 2.0, None, 4.0]}))
        assert list(found.index) == [0, 1]
