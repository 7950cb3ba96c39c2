"""The hidden tests of `tables`."""

from __future__ import annotations

import csv
from pathlib import Path

from autograder.testing import close, exercise

FILE = Path(__file__).parents[1] / "source" / "tables" / "market.csv"


def table(student, rows, labels=None):
    return student.remote.frames.table(rows, labels)


@exercise("load")
class TestLoad:
    def rows(self):
        with FILE.open(encoding="utf-8", newline="") as file:
            return [row for row in csv.DictReader(file) if row["price"]]

    def test_columns(self, student):
        """The columns are those of the file."""
        loaded = student.load("market.csv")
        assert student.remote.frames.columns(loaded) == ["item", "kind", "price", "amount"]

    def test_rows(self, student):
        """Every row with a price is there, in the order of the file, and no other."""
        loaded = student.load("market.csv")
        assert list(loaded["item"]) == [row["item"] for row in self.rows()]

    def test_prices(self, student):
        """Prices are numbers."""
        loaded = student.load("market.csv")
        assert list(loaded["price"]) == close([float(row["price"]) for row in self.rows()])

    def test_numbers_of_rows(self, student):
        """The rows are numbered anew, from 0."""
        loaded = student.load("market.csv")
        assert student.remote.frames.labels(loaded) == list(range(len(self.rows())))


@exercise("worth")
class TestWorth:
    def test_adds_up(self, student, row):
        """Price times amount is added up over all rows."""
        rows = [row(), row(), row()]
        expected = sum(price * amount for _, _, price, amount in rows)
        assert student.worth(table(student, rows)) == close(expected)

    def test_a_number(self, student, row):
        """It is one number, also for a table with one row."""
        [only] = [row()]
        found = student.worth(table(student, [only]))
        assert isinstance(found, float | int)
        assert found == close(only[2] * only[3])

    def test_leaves_the_table(self, student, row):
        """The table is as it was, with no column more."""
        rows = [row(), row()]
        given = table(student, rows)
        expected = sum(price * amount for _, _, price, amount in rows)
        assert student.worth(given) == close(expected)
        assert student.remote.frames.columns(given) == ["item", "kind", "price", "amount"]
        assert student.remote.frames.rows(given) == rows

    def test_empty(self, student):
        """An empty table is worth 0."""
        assert student.worth(table(student, [])) == close(0.0)


@exercise("mean_prices")
class TestMeanPrices:
    def test_means(self, student, row):
        """Each kind has the mean of its own prices."""
        one, two, other = row("fruit"), row("fruit"), row("bakery")
        found = student.mean_prices(table(student, [one, other, two]))
        assert found == close({"fruit": (one[2] + two[2]) / 2, "bakery": other[2]})

    def test_a_dictionary(self, student, row):
        """It is a dictionary."""
        found = student.mean_prices(table(student, [row("bakery")]))
        assert isinstance(found, dict) and list(found) == ["bakery"]

    def test_amounts_make_no_difference(self, student, row):
        """How many of an item there are makes no difference."""
        few, many = row(), row()
        few[3], many[3] = 1, 1000
        found = student.mean_prices(table(student, [few, many]))
        assert found == close({"fruit": (few[2] + many[2]) / 2})

    def test_any_kinds(self, student, row):
        """Whatever kinds there are in the table are there, and no others."""
        kinds = ["flowers", "fish", "cheese"]
        found = student.mean_prices(table(student, [row(kind) for kind in kinds]))
        assert set(found) == set(kinds)


@exercise("cheapest")
class TestCheapest:
    def test_the_cheapest_first(self, student, row):
        """The cheapest come first, and only so many as were asked for."""
        rows = sorted((row() for _ in range(5)), key=lambda each: each[2])
        names = [each[0] for each in rows]
        mixed = [rows[place] for place in (3, 0, 4, 2, 1)]
        assert student.cheapest(table(student, mixed), 3) == names[:3]

    def test_same_price(self, student, row):
        """Items of the same price are in the order of the alphabet."""
        rows = sorted((row(price=2.5) for _ in range(4)), reverse=True)
        found = student.cheapest(table(student, rows), 2)
        assert found == [rows[3][0], rows[2][0]]

    def test_fewer(self, student, row):
        """Where there are fewer items than were asked for, all are returned."""
        low, high = sorted((row(), row()), key=lambda each: each[2])
        assert student.cheapest(table(student, [high, low]), 5) == [low[0], high[0]]

    def test_any_labels(self, student, row):
        """What the rows are called makes no difference."""
        rows = sorted((row() for _ in range(3)), key=lambda each: each[2])
        found = student.cheapest(table(student, rows, [7, 5, 3]), 2)
        assert found == [rows[0][0], rows[1][0]]

    def test_leaves_the_table(self, student, row):
        """The table keeps the order of its rows."""
        rows = sorted((row() for _ in range(3)), key=lambda each: -each[2])
        given = table(student, rows)
        assert student.cheapest(given, 1) == [rows[2][0]]
        assert student.remote.frames.rows(given) == rows
