# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q1
# about: what comes first
# answer: one of a b c

# %% mistake: q1.from_the_left
# says: The product comes first, wherever it stands.
q1 = "a"

# %% mistake: q1.all_multiplied
# says: One of the two signs is a plus.
q1 = "b"
