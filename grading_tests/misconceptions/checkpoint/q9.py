# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q9
# about: where the zeroing belongs
# answer: one of a b c d

# %% mistake: q9.option_a
# says: Here the gradients are erased after they were computed and before they are used. Every
#   update moves the parameters by nothing.
q9 = "a"

# %% mistake: q9.option_b
# says: Here the update comes before the backward pass. In the first round there are no gradients
#   yet. Later rounds use those of the round before, and the numbers have changed since.
q9 = "b"

# %% mistake: q9.option_c
# says: From the second round on, the gradients of all earlier rounds are still there, and the new
#   ones are added to them. The steps point somewhere else and grow.
q9 = "c"

# %% cheat: q9.a_text_that_holds_every_letter
# earns: nothing
q9 = "abcd"
