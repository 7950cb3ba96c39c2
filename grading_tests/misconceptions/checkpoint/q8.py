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
# keeps: 0.5
q8 = 10.5

# %% mistake: q8.last_term_missing
# says: One of the three terms is missing: `x / 2` reacts to `x`, too.
q8 = 2

# %% mistake: q8.last_sign_turned
# says: Of the three shares one has the wrong sign: look at the signs between the terms of `L`.
# keeps: 0.5
q8 = 1.5

# %% mistake: q8.middle_missing
# says: One of the three terms is missing: `4 * x` reacts to `x`, too.
q8 = 6.5

# %% mistake: q8.half_is_double
# says: A term that is divided by 2 reacts half as much as `x` moves, and not twice as much.
q8 = 4

# %% mistake: q8.square_for_slope
# says: For `x * x` its own value was taken. The question is how much it reacts to `x`.
q8 = 5.5

# %% mistake: q8.middle_not_differentiated
# says: For `4 * x` its own value was taken. The question is how much it reacts to `x`.
q8 = -5.5

# %% mistake: q8.last_not_differentiated
# says: For `x / 2` its own value was taken. The question is how much it reacts to `x`.
q8 = 3.5

# %% cheat: q8.no_number
# earns: nothing
q8 = float("nan")
