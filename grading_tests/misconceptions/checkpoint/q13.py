# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q13
# about: relu's central difference at 0
# answer: a number

# %% mistake: q13.the_convention
# says: This is what our engine says, by convention. The central difference knows no convention:
#   compute relu at both places, and divide.
q13 = 0

# %% mistake: q13.right_side_only
# says: This is the slope to the right of 0. The central difference looks at both sides.
q13 = 1

# %% mistake: q13.not_divided
# says: This is a difference that was not divided by the distance of the two places, for one
#   particular step. The quotient does not depend on the step at all.
q13 = 0.000005

# %% mistake: q13.upside_down
# says: The quotient stands upside down: by how much relu rises belongs above the line, and the
#   distance between the two places below it.
q13 = 2

# %% mistake: q13.halved_twice
# says: The distance between the two places is twice `h`, and this was halved once more.
q13 = 0.25

# %% cheat: q13.no_number
# earns: nothing
q13 = float("nan")
