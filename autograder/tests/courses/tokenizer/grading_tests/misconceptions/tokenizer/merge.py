# Read as text, never imported: docs/authors.md says what stands here.

# %% example: merge
# about: a number that stays at the end, and three equal numbers in a row
ids = [1, 1, 1, 2, 1, 1, 3]
merged = merge(ids, (1, 1), 9)
# observe: merged, ids


# %% mistake: merge.overlaps
# says: A number became part of two pairs. After a pair was found, go on behind both of its numbers.
def merge(ids, pair, new):
    merged = []
    for place in range(len(ids)):
        if tuple(ids[place : place + 2]) == tuple(pair):
            merged.append(new)
        elif place == 0 or tuple(ids[place - 1 : place + 1]) != tuple(pair):
            merged.append(ids[place])
    return merged


# %% mistake: merge.last_lost
# says: The last number was lost where it is part of no pair: the loop ends one place too early.
# - while place < len(ids):
# + while place < len(ids) - 1:

# %% mistake: merge.in_place
# says: The list that was given was changed itself. Make a new one, and leave the given one alone.
def merge(ids, pair, new):
    place = 0
    while place < len(ids) - 1:
        if tuple(ids[place : place + 2]) == tuple(pair):
            ids[place : place + 2] = [new]
        place += 1
    return ids
