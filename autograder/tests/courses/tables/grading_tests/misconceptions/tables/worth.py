# Read as text, never imported: docs/authors.md says what stands here.

# %% example: worth
# about: four items
table = pd.DataFrame(
    {
        "item": ["pear", "cake", "fig", "roll"],
        "kind": ["fruit", "bakery", "fruit", "bakery"],
        "price": [0.5, 3.0, 0.5, 0.25],
        "amount": [2, 1, 10, 4],
    }
)
total = worth(table)
# observe: total, list(table.columns)


# %% mistake: worth.prices
# says: Prices alone were added up. Multiply each by the amount of its row first.
def worth(table):
    return float(table["price"].sum())


# %% mistake: worth.sums_multiplied
# says: All prices were added up, and all amounts, and then they were multiplied. Multiply row by
#   row, and add up afterwards.
def worth(table):
    return float(table["price"].sum() * table["amount"].sum())


# %% mistake: worth.column_added
# says: The table that was given has a new column now. Keep the product in a name of its own.
def worth(table):
    table["worth"] = table["price"] * table["amount"]
    return float(table["worth"].sum())
