# Python's own collections do most of it.

# %% count_pairs
# marks: 2
from collections import Counter
from itertools import pairwise


def count_pairs(ids):
    return Counter(pairwise(ids))


# %% vocabulary
# marks: 4
class Vocabulary(list):
    def __init__(self, merges):
        super().__init__(bytes([number]) for number in range(256))
        for pair in merges:
            self.append(b"".join(self[number] for number in pair))

    def __getitem__(self, number):
        if number < 0:
            raise IndexError("numbers begin with 0")
        return super().__getitem__(number)

    def decode(self, numbers):
        return b"".join(map(self.__getitem__, numbers)).decode("utf-8")
