# A copy may be changed.

# %% load
# marks: 2
def load(path):
    table = pd.read_csv(path)
    table = table[table["price"].notna()].copy()
    table.index = range(len(table))
    return table


# %% worth
# marks: 2
def worth(table):
    table = table.copy()
    table["worth"] = table["price"] * table["amount"]
    return table["worth"].sum()


# %% cheapest
# marks: 3
def cheapest(table, count):
    table = table.copy()
    table.sort_values(by=["price", "item"], inplace=True)
    return list(table.item[:count])
