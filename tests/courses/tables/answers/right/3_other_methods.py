# Other ways that pandas has, and what NumPy gives.

# %% load
# marks: 2
def load(path):
    return pd.read_csv(path).query("price == price").reset_index(drop=True)


# %% worth
# marks: 2
def worth(table):
    return table.price.dot(table.amount)


# %% mean_prices
# marks: 3
def mean_prices(table):
    return dict(table.groupby("kind").price.mean())


# %% cheapest
# marks: 3
def cheapest(table, count):
    return [*table.sort_values("item").sort_values("price", kind="stable").item.iloc[:count]]
