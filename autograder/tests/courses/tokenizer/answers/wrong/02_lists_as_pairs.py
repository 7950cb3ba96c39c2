# A text is no pair of numbers.

# %% count_pairs
# marks: 0.5 of 2
def count_pairs(ids):
    counts = {}
    for left, right in zip(ids, ids[1:]):
        pair = f"{left},{right}"
        counts[pair] = counts.get(pair, 0) + 1
    return counts
