# A missing price is no price of 0; it is told as if the rows were left as they are.

# %% load
# marks: 0.5 of 2
# named: load.rows_without_price
def load(path):
    return pd.read_csv(path).fillna(0)
