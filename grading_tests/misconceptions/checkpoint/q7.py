# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q7
# about: why +=
# answer: one of a b c d

# %% mistake: q7.option_a
# says: Between two steps of training, old gradients are unwanted: they are set back to zero. The
#   reason lies within a single pass.
q7 = "a"

# %% mistake: q7.option_b
# says: An assignment to an attribute, `self.grad = …`, changes the object, and everyone sees it.
#   Only a bare name would become local.
q7 = "b"

# %% mistake: q7.option_d
# says: A node's `_backward` is called once in a pass, and serves all of its operands in that one
#   call.
q7 = "d"

# %% cheat: q7.a_text_that_holds_every_letter
# earns: nothing
q7 = "abcd"
