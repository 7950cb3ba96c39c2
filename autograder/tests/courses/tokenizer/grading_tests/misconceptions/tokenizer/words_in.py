# Read as text, never imported: docs/authors.md says what stands here.

# %% example: words_in
# about: the first words of the corpus, and how many there are
words = words_in("corpus.txt")
first = next(words)
rest = list(words)
# observe: first, rest[:4], len(rest)


# %% mistake: words_in.texts
# says: The words came as texts. `word.encode()` makes bytes of a text.
# - for word in line.split():
# -     yield word.encode()
# + yield from line.split()

# %% mistake: words_in.list
# says: This is a list, for which the whole file was read. Write `yield word` in the loop, and the
#   function is a generator.
def words_in(path):
    with open(path, encoding="utf-8") as file:
        return [word.encode() for word in file.read().split()]


# %% mistake: words_in.lines
# says: Whole lines came, and not words: split each line.
# - for word in line.split():
# -     yield word.encode()
# + yield line.strip().encode()
