# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q3
# about: what a product adds to its left operand
# answer: one of a b c d

# %% mistake: q3.option_a
# says: This is the local derivative alone. It tells how `p` reacts to `u`; how the root reacts to
#   `p` is missing, so the chain rule is.
q3 = "a"

# %% mistake: q3.option_c
# says: The gradient that has arrived is used, as it should be. But `u.data` is the derivative of
#   `u * v` with respect to `v`.
q3 = "c"

# %% mistake: q3.option_d
# says: Gradients of two operands are never multiplied with each other. `v.grad` tells how the
#   root reacts to `v`, which says nothing about how `p` reacts to `u`.
q3 = "d"

# %% cheat: q3.a_text_that_holds_every_letter
# earns: nothing
q3 = "abcd"
