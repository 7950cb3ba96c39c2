# Read as text, never imported: docs/authors.md says what stands here.

# %% example: vocabulary
# about: two merges, the second one of the first
known = Vocabulary([(104, 105), (256, 33)])
size = len(known)
# observe: known[104], known[256], known[257], size, known.decode([257])


# %% example: vocabulary
# about: a number that there is not
known = Vocabulary([(104, 105)])
last = known[256]
# observe: last, known[257]


# %% mistake: vocabulary.merges_alone
# says: The single bytes are not counted: the first 256 numbers are part of the vocabulary.
# - def __init__(self, merges):
# + def __init__(self, merges):
# +     self._merges = merges
# - return len(self._bytes)
# + return len(self._merges)

# %% mistake: vocabulary.one_level
# says: A merged number is taken for a byte where it is merged again. Look up what both halves of a
#   pair stand for, in what is known so far.
# - self._bytes.append(self._bytes[left] + self._bytes[right])
# + self._bytes.append(bytes([left % 256, right % 256]))

# %% mistake: vocabulary.texts
# says: The vocabulary holds texts. A number stands for bytes, since a single one may be half of a
#   letter; only `decode` makes a text, of all bytes together.
class Vocabulary:
    def __init__(self, merges):
        self._texts = [chr(number) for number in range(256)]
        for left, right in merges:
            self._texts.append(self._texts[left] + self._texts[right])

    def __len__(self):
        return len(self._texts)

    def __getitem__(self, number):
        if not 0 <= number < len(self._texts):
            raise IndexError(number)
        return self._texts[number]

    def decode(self, numbers):
        return "".join(self[number] for number in numbers)
