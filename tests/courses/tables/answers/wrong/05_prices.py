# %% worth
# marks: 0.5 of 2
# named: worth.prices
def worth(table):
    total = 0.0
    for price in table["price"]:
        total += price
    return total
