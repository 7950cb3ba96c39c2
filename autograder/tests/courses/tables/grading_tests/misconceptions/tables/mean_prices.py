# Read as text, never imported: docs/authors.md says what stands here.

# %% example: mean_prices
# about: two items of each kind
table = pd.DataFrame(
    {
        "item": ["pear", "cake", "fig", "roll"],
        "kind": ["fruit", "bakery", "fruit", "bakery"],
        "price": [0.5, 3.0, 0.5, 0.25],
        "amount": [2, 1, 10, 4],
    }
)
means = mean_prices(table)
# observe: means


# %% mistake: mean_prices.sums
# says: These are the sums of the prices, and not their means.
def mean_prices(table):
    return table.groupby("kind")["price"].sum().to_dict()


# %% mistake: mean_prices.column
# says: This is a column of pandas', and not a dictionary: `to_dict()` makes one of it.
def mean_prices(table):
    return table.groupby("kind")["price"].mean()


# %% mistake: mean_prices.all_in_one
# says: Every kind got the mean of all prices. Take the prices of each kind by themselves.
def mean_prices(table):
    return {kind: float(table["price"].mean()) for kind in table["kind"]}
