# %% merge
# marks: 0.5 of 2
# named: merge.last_lost
def merge(ids, pair, new):
    merged, skip = [], False
    for left, right in zip(ids, ids[1:]):
        if skip:
            skip = False
        elif (left, right) == tuple(pair):
            merged.append(new)
            skip = True
        else:
            merged.append(left)
    return merged
