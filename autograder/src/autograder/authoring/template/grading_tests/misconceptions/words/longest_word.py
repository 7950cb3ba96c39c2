# Read as text, never imported: a public example, which the check plays, and known mistakes.
# In a mistake, a line with - is one of the solution, and a line with + stands in its place.

# %% example: longest_word
# about: words of all lengths, two of them the longest
found = longest_word("the quick brown fox")
nothing = longest_word("")
# observe: found, nothing


# %% mistake: longest_word.last_of_several
# says: Of several words of the same length the last one was taken. Let a word take the place of the
#   longest so far only where it is longer, not where it is as long.
# - if len(word) > len(longest):
# + if len(word) >= len(longest):

# %% mistake: longest_word.in_the_alphabet
# says: Words were compared by the alphabet. How long a word is says `len(word)`.
def longest_word(text):
    return max(text.split(), default="")


# %% mistake: longest_word.length
# says: This is the length of the longest word, and not the word.
def longest_word(text):
    return max((len(word) for word in text.split()), default=0)
