# Each pair is counted once only.

# %% count_pairs
# marks: 1 of 2
def count_pairs(ids):
    return {pair: 1 for pair in zip(ids, ids[1:])}
