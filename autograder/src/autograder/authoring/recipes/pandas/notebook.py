# %% assignment: pandas
# title: Tables
# packages: pandas

import pandas as pd

# %% exercise: totals
# title: What each sells
# text: A table has the columns `shop`, `price` and `count`. Find what each shop sells for.
def totals(sales):
    """Return a Series of price times count, added up for each shop, by the shop's name.

    Example:
        totals(pd.DataFrame({"shop": ["a", "a"], "price": [2.0, 3.0], "count": [1, 2]}))["a"]
        gives 8.0.
    """
    ### BEGIN SOLUTION
    return (sales["price"] * sales["count"]).groupby(sales["shop"]).sum()
    ### END SOLUTION

# %% exercise: complete
# title: No gaps
# text: Leave out all rows in which a value is missing.
def complete(table):
    """Return the rows of a table in which no value is missing, numbered from 0."""
    ### BEGIN SOLUTION
    return table.dropna().reset_index(drop=True)
    ### END SOLUTION
