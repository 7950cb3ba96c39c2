# Some other file is opened, which is not there.

# %% load
# marks: 0 of 2
def load(path):
    return pd.read_csv("data/" + path).dropna().reset_index(drop=True)
