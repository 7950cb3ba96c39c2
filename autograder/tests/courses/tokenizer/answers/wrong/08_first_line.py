# It ends after the first line.

# %% words_in
# marks: 1.25 of 2
def words_in(path):
    with open(path, "rb") as lines:
        yield from next(lines).split()
