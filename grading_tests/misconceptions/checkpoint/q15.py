# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q15
# about: why a perceptron cannot compute XOR
# answer: one of a b c d

# %% mistake: q15.option_a
# says: A weight whose input is 0 has no influence on that example, and it learns from the
#   examples in which the input is 1. This happens in OR as well, which a perceptron learns
#   without trouble.
q15 = "a"

# %% mistake: q15.option_b
# says: It is true that a step's derivative is of no use to gradient descent. But the trouble lies
#   deeper: there are no right weights that any method could find.
q15 = "b"

# %% mistake: q15.option_c
# says: Few examples make it easier, if anything: there is less to get right. With the four
#   examples of AND or OR a perceptron has no trouble.
q15 = "c"

# %% cheat: q15.a_text_that_holds_every_letter
# earns: nothing
q15 = "abcd"
