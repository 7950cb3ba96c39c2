# %% worth
# marks: 1.5 of 2
# named: worth.column_added
def worth(table):
    table["worth"] = table.price * table.amount
    return table.worth.sum()
