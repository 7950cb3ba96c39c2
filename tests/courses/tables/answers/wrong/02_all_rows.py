# %% load
# marks: 0.5 of 2
# named: load.rows_without_price
def load(path):
    table = pd.read_csv(path)
    table.dropna()
    return table
