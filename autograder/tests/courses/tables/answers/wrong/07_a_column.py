# The products are not added up.

# %% worth
# marks: 0 of 2
def worth(table):
    return table["price"] * table["amount"]
