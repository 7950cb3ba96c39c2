"""The hidden tests of `sql`.

Each test's docstring is what a student reads when it fails. The database is in the memory of the
student's process: a student's query never runs in the process of the tests.
"""

from __future__ import annotations

import pytest

from autograder.testing import exercise


@pytest.fixture
def shop(student):
    """Makes a database with these items."""

    def make(items):
        database = student.remote.sqlite3.connect(":memory:")
        database.execute("CREATE TABLE items (name TEXT, price REAL)")
        database.executemany("INSERT INTO items VALUES (?, ?)", items)
        return database

    return make


@exercise("cheap")
class TestCheap:
    def test_names(self, student, shop, rng):
        """The names of the cheap items are there, in the order of the alphabet."""
        price = rng.randint(10, 90)
        items = [("tea", price - 5), ("jam", price + 1), ("bread", price - 1), ("salt", price)]
        assert list(shop(items).execute(student.cheap, [price])) == [("bread",), ("tea",)]

    def test_nothing(self, student, shop):
        """If nothing is cheap, there is no row."""
        assert list(shop([("tea", 5)]).execute(student.cheap, [5])) == []


@exercise("add_item")
class TestAddItem:
    def test_adds(self, student, shop, rng):
        """The item is in the table, beside those that were there. It may be free."""
        price = rng.randint(1, 99)
        database = shop([("tea", 3.0)])
        student.add_item(database, "jam", price)
        student.add_item(database, "water", 0)
        rows = database.execute("SELECT * FROM items ORDER BY name")
        assert list(rows) == [("jam", price), ("tea", 3.0), ("water", 0)]

    def test_any_name(self, student, shop):
        """A name may hold quotation marks."""
        database, name = shop([]), 'Ann\'s "best"; DROP TABLE items; --'
        student.add_item(database, name, 1.0)
        assert list(database.execute("SELECT name FROM items")) == [(name,)]

    def test_refuses(self, student, shop):
        """A price below 0 raises ValueError, and nothing is added."""
        database = shop([])
        with student.raises(ValueError):
            student.add_item(database, "jam", -1)
        assert list(database.execute("SELECT * FROM items")) == []
