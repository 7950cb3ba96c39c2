# Right answers to `checkpoint`: letters in capitals, with blanks around them, or as names.

# %% q1
q1 = "C"

# %% q3
q3 = " b "

# %% q4
q4 = "D "

# %% q5
answer = "A"
q5 = answer

# %% q7
q7 = 'c'

# %% q9
q9 = "d\n"

# %% q12
q12 = str("A")

# %% q14
q14 = """B"""

# %% q15
q15 = "D"

# %% q16
q16 = "abcd"[1]

# %% q17
q17 = ("A")
