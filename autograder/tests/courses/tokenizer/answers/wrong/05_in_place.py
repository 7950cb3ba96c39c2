# %% merge
# marks: 1.5 of 2
# named: merge.in_place
def merge(ids, pair, new):
    place = 0
    while place + 1 < len(ids):
        if (ids[place], ids[place + 1]) == pair:
            ids[place] = new
            del ids[place + 1]
        place += 1
    return ids
