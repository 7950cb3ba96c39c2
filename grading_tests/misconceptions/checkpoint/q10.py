# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q10
# about: two steps on w * w without zeroing
# answer: a number

# %% mistake: q10.as_if_zeroed
# says: This is what comes out when the gradient is set back to 0 between the steps. Here nobody
#   does, so the second step uses the sum of two gradients.
q10 = 1

# %% mistake: q10.one_step_only
# says: This is where `w` is after the first step. There are two.
q10 = 2

# %% mistake: q10.old_gradient_twice
# says: Here the first gradient was used twice in the second step. The second loss is computed
#   from the new `w`, so its own gradient is smaller than the first one.
q10 = -2

# %% mistake: q10.gradient_not_weight
# says: This is `w.grad` in the end. The question is about `w.data`.
q10 = 12

# %% mistake: q10.climbs
# says: The step was added. `-=` moves against the gradient.
q10 = 11

# %% cheat: q10.no_number
# earns: nothing
q10 = float("nan")
