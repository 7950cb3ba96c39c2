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

# %% mistake: q10.second_pass_adds_nothing
# says: This is as if the second `backward()` added nothing, and the first gradient were used
#   again. It computes one for the new `w`, and adds it.
q10 = 0

# %% mistake: q10.slope_halved
# says: The slope of `w * w` was taken to be `w`. Both factors are `w`, and each has a share.
q10 = 1.25

# %% mistake: q10.rate_dropped
# says: The steps are four times as long as they should be: the gradient is multiplied by 0.25.
q10 = -4

# %% cheat: q10.no_number
# earns: nothing
q10 = float("nan")
