# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q5
# about: orders for r = q * p
# answer: one of a b c d

# %% mistake: q5.option_b
# says: `p` feeds `r` and `q`. When it runs before `q`, the share that comes by way of `q` has not
#   arrived, and is never passed on to `x` and `y`.
q5 = "b"

# %% mistake: q5.option_c
# says: That is the order of the forward pass. `p` and `q` run while their gradients are still 0,
#   and pass on nothing.
q5 = "c"

# %% mistake: q5.option_d
# says: `+=` does collect what comes later. But a step passes on what is there at the moment it is
#   called, and nobody calls it a second time.
q5 = "d"

# %% cheat: q5.a_text_that_holds_every_letter
# earns: nothing
q5 = "abcd"
