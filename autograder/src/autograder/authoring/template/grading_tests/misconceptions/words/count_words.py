# Read as text, never imported: a public example, which the check plays, and known mistakes.
# In a mistake, a line with - is one of the solution, and a line with + stands in its place.

# %% example: count_words
# about: a word three times, once with a capital letter
counts = count_words("Row row row your boat")
# observe: counts


# %% mistake: count_words.capitals
# says: `Row` and `row` were counted apart. Make all letters small first: `text.lower()`.
# - for word in text.lower().split():
# + for word in text.split():

# %% mistake: count_words.letters
# says: Letters were counted, and not words: going through a text gives its letters. `text.split()`
#   gives its words.
# - for word in text.lower().split():
# + for word in text.lower():

# %% mistake: count_words.one_each
# says: Every word came out once, however often it stands there. Add to what was counted so far.
# - counts[word] = counts.get(word, 0) + 1
# + counts[word] = 1
