# Two exercises are wrong, each costs its own marks alone; one cannot be read.

# %% mean_prices
# marks: 0 of 3
def mean_prices(table)
    return table.groupby("kind").price.mean().to_dict()


# %% cheapest
# marks: 2.25 of 3
def cheapest(table, count):
    table.sort_values(["price", "item"], inplace=True)
    return table.head(count)["item"].to_list()
