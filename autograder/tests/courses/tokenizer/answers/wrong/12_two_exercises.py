# Two exercises are wrong, each costs its own marks alone; one never ends.

# %% count_pairs
# marks: 0 of 2
# named: count_pairs.numbers
def count_pairs(ids):
    return {number: ids.count(number) for number in ids}


# %% merge
# marks: 0 of 2
def merge(ids, pair, new):
    merged, place = [], 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == pair:
            merged.append(new)
    return merged
