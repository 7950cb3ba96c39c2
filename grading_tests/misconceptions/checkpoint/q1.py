# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q1
# about: what the chain rule is for
# answer: one of a b c d

# %% mistake: q1.option_a
# says: That is the local derivative of an operation. Each operation brings its own, by the rules
#   for sums, products and so on. Another rule is needed before it says anything about the loss.
q1 = "a"

# %% mistake: q1.option_b
# says: The order comes from the graph: who feeds whom. The chain rule tells what to compute when
#   a node's turn has come, and takes for granted that the order is right.
q1 = "b"

# %% mistake: q1.option_d
# says: That is the learning rate, which a person chooses. The chain rule is about derivatives and
#   has no say in what is done with them.
q1 = "d"

# %% cheat: q1.a_text_that_holds_every_letter
# earns: nothing
q1 = "abcd"

# %% cheat: q1.a_text_that_is_equal_to_every_other
# earns: nothing
class Any(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
    strip = lower = lambda self: self


q1 = Any("abcd")
