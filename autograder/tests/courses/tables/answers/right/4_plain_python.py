# The csv module reads, and pandas only keeps what was read.

# %% load
# marks: 2
import csv


def load(path):
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["price"] != ""]
    return pd.DataFrame(rows).astype({"price": float, "amount": int})


# %% mean_prices
# marks: 3
def mean_prices(table):
    kinds = table["kind"].unique()
    return {kind: table.loc[table["kind"] == kind, "price"].mean() for kind in kinds}
