# Read as text, never imported: docs/authors.md says what stands here.

# %% example: cheapest
# about: three of four items, two of them at the same price
table = pd.DataFrame(
    {
        "item": ["pear", "cake", "fig", "roll"],
        "kind": ["fruit", "bakery", "fruit", "bakery"],
        "price": [0.5, 3.0, 0.5, 0.25],
        "amount": [2, 1, 10, 4],
    }
)
names = cheapest(table, 3)
# observe: names, list(table["item"])


# %% mistake: cheapest.dearest
# says: The dearest items came first. Without `ascending=False` the cheapest do.
def cheapest(table, count):
    return table.sort_values(["price", "item"], ascending=[False, True])["item"].head(count).tolist()


# %% mistake: cheapest.same_price
# says: Items of the same price are in the order of the table. Sort by two columns,
#   `["price", "item"]`: the second one decides where the first is equal.
def cheapest(table, count):
    return table.sort_values("price", kind="stable")["item"].head(count).tolist()


# %% mistake: cheapest.column
# says: This is a column of a table, and not a list of names: `tolist()` makes one of it.
def cheapest(table, count):
    return table.sort_values(["price", "item"])["item"].head(count)
