# Loops over rows, as somebody writes them who knows lists.

# %% worth
# marks: 2
def worth(table):
    total = 0.0
    for _, row in table.iterrows():
        total += row["price"] * row["amount"]
    return total


# %% mean_prices
# marks: 3
def mean_prices(table):
    prices = {}
    for kind, price in zip(table["kind"], table["price"]):
        prices.setdefault(kind, []).append(price)
    return {kind: sum(each) / len(each) for kind, each in prices.items()}


# %% cheapest
# marks: 3
def cheapest(table, count):
    return [item for _, item in sorted(zip(table["price"], table["item"]))][:count]
