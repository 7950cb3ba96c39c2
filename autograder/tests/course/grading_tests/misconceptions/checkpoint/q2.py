# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q2
# about: a number
# answer: a number

# %% mistake: q2.sign
# says: Ten is taken away, not added.
q2 = 22

# %% mistake: q2.from_the_right
# says: The difference was taken first, as if it stood in brackets.
q2 = -18
