# %% right: account
from dataclasses import dataclass
from decimal import Decimal


@dataclass
class Account:
    owner: str
    balance: Decimal = Decimal(0)

    def deposit(self, amount):
        self.balance = self.balance + amount

    def withdraw(self, amount):
        if self.balance < amount:
            raise ValueError("only " + str(self.balance) + " left")
        self.deposit(-amount)

# %% wrong: account
# points: 1
# - self.owner, self.balance = owner, Decimal(0)
# + self.owner, self.balance = owner, 0.0
# - self.balance += amount
# + self.balance += float(amount)
# - self.balance -= amount
# + self.balance -= float(amount)

# %% wrong: account
# points: 3
# - raise ValueError(f"only {self.balance} left")
# + raise ValueError("not enough")

# %% wrong: account
# points: 3
# - return (self.owner, self.balance) == (other.owner, other.balance)
# + return True
