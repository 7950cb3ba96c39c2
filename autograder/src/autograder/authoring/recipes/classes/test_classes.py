"""The hidden tests of `classes`. Each test's docstring is what a student reads when it fails."""

from __future__ import annotations

from decimal import Decimal

import pytest

from autograder.testing import exercise


@pytest.fixture
def amount(rng):
    return Decimal(rng.randint(1000, 9999)) / 100


@exercise("account")
class TestAccount:
    def test_balance(self, student, amount):
        """The balance is what was paid in, less what was taken out."""
        account = student.Account("Ada")
        assert isinstance(account.balance, Decimal) and account.owner == "Ada"
        account.deposit(amount)
        account.deposit(Decimal("1.25"))
        account.withdraw(Decimal("3.50"))
        assert account.balance == amount - Decimal("2.25")
        account.withdraw(amount - Decimal("2.25"))
        assert account.balance == 0

    def test_each_its_own(self, student, amount):
        """Two accounts have a balance each."""
        one, other = student.Account("Ada"), student.Account("Ada")
        one.deposit(amount)
        assert [one.balance, other.balance] == [amount, 0]

    def test_refuses(self, student, amount):
        """More than there is cannot be taken out: it raises ValueError, and says what is left."""
        account = student.Account("Ada")
        account.deposit(amount)
        with student.raises(ValueError):
            account.withdraw(amount + 1)
        assert account.balance == amount
        assert str(student.error(account.withdraw, amount + 1)) == f"only {amount} left"

    def test_equal(self, student):
        """Accounts are equal where owner and balance are."""
        one, other = student.Account("Ada"), student.Account("Ada")
        assert student.equal(one, other) and not student.equal(one, student.Account("Bob"))
        other.deposit(Decimal("0.01"))
        assert not student.equal(one, other)
