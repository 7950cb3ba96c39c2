# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q2
# about: two paths with two local derivatives each
# answer: a number

# %% mistake: q2.only_over_b
# says: This is what reaches `a` by way of `b`. A change of `a` travels along the other path as
#   well.
q2 = 12

# %% mistake: q2.only_over_c
# says: This is what reaches `a` by way of `c`. A change of `a` travels along the other path as
#   well.
q2 = -10

# %% mistake: q2.everything_multiplied
# says: All four numbers were multiplied. Multiply along one path only; what comes by different
#   paths is not multiplied.
q2 = -120

# %% mistake: q2.everything_added
# says: All four numbers were added. Along a path the steps follow one another, and then a change
#   is stretched once and stretched again: that is no sum.
q2 = 10

# %% mistake: q2.sign_lost
# says: The right paths, joined in the right way, but one of the local derivatives is negative,
#   and its sign was lost.
# keeps: 0.5
q2 = 22

# %% mistake: q2.signs_exchanged
# says: The size is right and the sign is not. What comes over `b` counts as it is, and what comes
#   over `c` with its own sign.
# keeps: 0.5
q2 = -2

# %% mistake: q2.added_along
# says: Along each path the numbers were added, and the two paths were multiplied. It is the
#   other way round.
q2 = 21

# %% mistake: q2.arrows_first
# says: What leaves `a` was added up, and so was what arrives at `L`, and then both were
#   multiplied. Each path has its own two numbers: take one path at a time.
q2 = 16

# %% cheat: q2.a_number_that_is_equal_to_every_other
# earns: nothing
class Any(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __hash__ = float.__hash__
    __sub__ = __rsub__ = lambda self, other: 0.0


q2 = Any(1e9)

# %% cheat: q2.no_number
# earns: nothing
q2 = float("nan")
