# %% cheapest
# marks: 0.5 of 3
# named: cheapest.dearest
def cheapest(table, count):
    return table.sort_values(["price", "item"], ascending=[False, True]).item.tolist()[:count]
