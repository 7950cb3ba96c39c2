# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q16
# about: parts of the engine and of PyTorch
# answer: one of a b c d

# %% mistake: q16.option_a
# says: `zero_grad()` resets gradients, before the next backward pass collects new ones. It moves
#   no parameter; another method of the optimizer does.
q16 = "a"

# %% mistake: q16.option_c
# says: `retain_graph` says whether the graph may be used again after the pass. The seed is the
#   argument `gradient` of `backward()`, which is 1 for a single number if left out.
q16 = "c"

# %% mistake: q16.option_d
# says: `requires_grad` says whether gradients are wanted. Results of operations have it too, and
#   they are no leaves. There is an attribute whose name says leaf.
q16 = "d"

# %% cheat: q16.a_text_that_holds_every_letter
# earns: nothing
q16 = "abcd"
