# %% mean_prices
# marks: 1.5 of 3
# named: mean_prices.sums
def mean_prices(table):
    totals = {}
    for kind, price in zip(table["kind"], table["price"]):
        totals[kind] = totals.get(kind, 0) + price
    return totals
