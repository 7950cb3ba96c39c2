# %% load
# marks: 1.5 of 2
# named: load.old_numbers
def load(path):
    table = pd.read_csv(path)
    return table[~table["price"].isna()]
