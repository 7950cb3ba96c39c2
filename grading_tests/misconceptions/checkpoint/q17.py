# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q17
# about: backward twice on the same graph
# answer: one of a b c d

# %% mistake: q17.option_b
# says: Neither sets gradients back to zero by itself. In both, that is the caller's business.
q17 = "b"

# %% mistake: q17.option_c
# says: Nothing in our engine is used up: closures and operands are still there after the pass.
#   Only one of the two throws something away.
q17 = "c"

# %% mistake: q17.option_d
# says: A closure may run as often as it is called. Think about which of the two needs memory for
#   large arrays and is in a hurry to free it.
q17 = "d"

# %% cheat: q17.a_text_that_holds_every_letter
# earns: nothing
q17 = "abcd"
