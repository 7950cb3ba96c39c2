# %% right: totals
def totals(sales):
    return sales.assign(worth=sales.price * sales["count"]).groupby("shop")["worth"].sum()

# %% right: complete
def complete(table):
    kept = table[table.notna().all(axis=1)].copy()
    kept.index = range(len(kept))
    return kept

# %% wrong: totals
# points: 1
def totals(sales):
    sales["worth"] = sales["price"] * sales["count"]
    return sales.groupby("shop")["worth"].sum()

# %% wrong: totals
# points: 0
def totals(sales):
    return sales.groupby("shop")["price"].sum()

# %% wrong: complete
# points: 1
def complete(table):
    return table.dropna()

# %% wrong: complete
# points: 0
def complete(table):
    return table.fillna(0).reset_index(drop=True)
