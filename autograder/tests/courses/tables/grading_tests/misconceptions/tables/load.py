# Read as text, never imported: docs/authors.md says what stands here.

# %% example: load
# about: the file of the course
table = load("market.csv")
# observe: list(table.columns), list(table["item"]), list(table.index), table["price"].sum()


# %% mistake: load.rows_without_price
# says: Rows without a price are still there. `dropna(subset=["price"])` leaves them out.
def load(path):
    return pd.read_csv(path)


# %% mistake: load.old_numbers
# says: The rows kept their old numbers, with gaps where rows were left out:
#   `reset_index(drop=True)` numbers them anew.
def load(path):
    return pd.read_csv(path).dropna(subset=["price"])


# %% mistake: load.old_numbers_kept
# says: The old numbers became a column of their own. `reset_index(drop=True)` drops them.
def load(path):
    return pd.read_csv(path).dropna(subset=["price"]).reset_index()
