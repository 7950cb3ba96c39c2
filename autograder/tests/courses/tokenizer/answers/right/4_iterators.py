# An iterator keeps the place; a generator expression is a generator too.

# %% merge
# marks: 2
def merge(ids, pair, new):
    merged, numbers = [], iter(ids)
    waiting = next(numbers, None)
    while waiting is not None:
        following = next(numbers, None)
        if (waiting, following) == pair:
            merged.append(new)
            following = next(numbers, None)
        else:
            merged.append(waiting)
        waiting = following
    return merged


# %% words_in
# marks: 2
def words_in(path):
    return (word.encode("utf-8") for line in open(path, encoding="utf-8") for word in line.split())
