# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q8
# about: x * x - 4 * x + x / 2 at 3
# answer: a number

# %% mistake: q8.only_the_last_use
# says: This is the share of the last term alone, as if it had overwritten the others. Every use
#   counts.
q8 = 0.5

# %% mistake: q8.only_the_first_use
# says: This is the share of `x * x` alone. The other terms count as well.
q8 = 6

# %% mistake: q8.square_counted_once
# says: In `x * x` the value is used twice, and each of the two uses has a share. One of them is
#   missing here.
q8 = -0.5

# %% mistake: q8.value_not_gradient
# says: This is the number `L` itself. The question is how `L` reacts to `x`.
q8 = -1.5

# %% mistake: q8.sign_lost
# says: The shares of all terms were added, but one of the terms is subtracted.
q8 = 10.5

# %% cheat: q8.no_number
# earns: nothing
q8 = float("nan")
