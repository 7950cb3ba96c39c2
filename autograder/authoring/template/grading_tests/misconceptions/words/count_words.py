# Read as text, never imported: a public probe, which the check plays, and known mistakes.

# %% probe: count_words
# about: a word three times, once with a capital letter
counts = count_words("Row row row your boat")
# observe: counts


# %% mistake: count_words.capitals
# says: `Row` and `row` were counted apart. Make all letters small first: `text.lower()`.
def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


# %% mistake: count_words.letters
# says: Letters were counted, and not words: going through a text gives its letters. `text.split()`
#   gives its words.
def count_words(text):
    counts = {}
    for word in text.lower():
        counts[word] = counts.get(word, 0) + 1
    return counts


# %% mistake: count_words.one_each
# says: Every word came out once, however often it stands there. Add to what was counted so far.
def count_words(text):
    return {word: 1 for word in text.lower().split()}
