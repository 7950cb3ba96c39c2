# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q14
# about: which check finds the missing upstream gradient
# answer: one of a b c d

# %% mistake: q14.option_a
# says: However many numbers are tried, the gradient of the root is 1, and leaving out a factor of
#   1 changes nothing. All of these checks pass.
q14 = "a"

# %% mistake: q14.option_c
# says: The 3 stands before tanh. tanh is still the last step, so the gradient of its result is 1,
#   and leaving it out changes nothing.
q14 = "c"

# %% mistake: q14.option_d
# says: A smaller nudge makes the second judge more exact, up to a point. But the two agree here
#   already: the gradient that tanh forgets is 1 when tanh is the last step.
q14 = "d"

# %% cheat: q14.a_text_that_holds_every_letter
# earns: nothing
q14 = "abcd"
