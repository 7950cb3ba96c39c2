# Read as text, never imported: docs/authors.md says what stands here.

# %% form: q4
# about: why the graph has no circles
# answer: one of a b c d

# %% mistake: q4.option_a
# says: `backward()` looks for nothing of the kind. It would have to find a circle to leave it
#   out, and there is none to find.
q4 = "a"

# %% mistake: q4.option_b
# says: In `x * x + x` the value `x` is an operand three times, and the graph has no circle all
#   the same. Being used often does not lead back to where one was.
q4 = "b"

# %% mistake: q4.option_c
# says: Python allows it readily: two lists can contain each other. Our own nodes and their
#   closures refer to each other too.
q4 = "c"

# %% cheat: q4.a_text_that_holds_every_letter
# earns: nothing
q4 = "abcd"
