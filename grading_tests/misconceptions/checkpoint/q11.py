# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q11
# about: data changed between forward and backward
# answer: a number

# %% mistake: q11.as_if_remembered
# says: This would be the gradient if the closure had kept the numbers of the forward pass. Look
#   at what it multiplies by: does it keep a number, or ask the node for it?
q11 = 6

# %% mistake: q11.one_use
# says: In `x * x` the value is used twice, and each of the two uses has a share.
q11 = 5

# %% mistake: q11.old_and_new_mixed
# says: Here one use counts with the old number and one with the new. Both operands are the same
#   node, and both are asked at the same moment.
q11 = 8

# %% mistake: q11.not_a_product_rule
# says: This is the square of the new number, a value of the function. The question is how the result
#   reacts.
q11 = 25

# %% mistake: q11.old_square
# says: This is the square of the old number, a value of the function. The question is how the
#   result reacts.
q11 = 9

# %% mistake: q11.old_times_new
# says: Here the old number was multiplied by the new one. What reaches `x` is a share for each
#   of its two uses, and they are added.
q11 = 15

# %% mistake: q11.one_use_of_the_old
# says: In `x * x` the value is used twice, and each of the two uses has a share.
q11 = 3

# %% cheat: q11.no_number
# earns: nothing
q11 = float("nan")
