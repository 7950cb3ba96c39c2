# %% count_pairs
# marks: 1 of 2
# named: count_pairs.apart
def count_pairs(ids):
    counts = {}
    for place in range(0, len(ids) - 1, 2):
        pair = (ids[place], ids[place + 1])
        counts[pair] = counts.get(pair, 0) + 1
    return counts
