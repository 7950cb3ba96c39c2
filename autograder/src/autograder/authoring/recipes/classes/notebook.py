# %% assignment: classes
# title: An account

# %% exercise: account
# title: An account
# points: 4
# text: Write a class for bank accounts. Money is counted in `Decimal`.
from decimal import Decimal


class Account:
    """An account with an owner and a balance, Decimal(0) at the start.

    deposit(amount) and withdraw(amount) change the balance. An amount that is not there raises
    ValueError, with the text "only BALANCE left". Accounts are equal where owner and balance are.

    Example:
        Account("Ada").balance == Decimal(0)
    """

    ### BEGIN SOLUTION
    def __init__(self, owner):
        self.owner, self.balance = owner, Decimal(0)

    def deposit(self, amount):
        self.balance += amount

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError(f"only {self.balance} left")
        self.balance -= amount

    def __eq__(self, other):
        return (self.owner, self.balance) == (other.owner, other.balance)
    ### END SOLUTION
