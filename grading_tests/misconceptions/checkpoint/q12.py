# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q12
# about: h.data doubled by hand
# answer: one of a b c d

# %% mistake: q12.option_b
# says: The number comes out right because the doubling has happened to it. The derivative has to
#   hear about the doubling too, and for that it must be a step of the graph.
q12 = "b"

# %% mistake: q12.option_c
# says: `h` keeps its operands and its backward step; only its number was replaced. A gradient
#   does arrive at `x`.
q12 = "c"

# %% mistake: q12.option_d
# says: The engine checks nothing of the kind. It does not know which numbers were computed and
#   which were put there by hand, and no error appears.
q12 = "d"

# %% cheat: q12.a_text_that_holds_every_letter
# earns: nothing
q12 = "abcd"
