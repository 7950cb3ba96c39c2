# A pivot table, and an apply along the rows.

# %% worth
# marks: 2
def worth(table):
    return sum(table[["price", "amount"]].prod(axis=1), 0.0)


# %% mean_prices
# marks: 3
def mean_prices(table):
    return table.pivot_table(values="price", index="kind", aggfunc="mean")["price"].to_dict()
