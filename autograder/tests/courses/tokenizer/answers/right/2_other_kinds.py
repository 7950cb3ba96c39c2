# Other kinds of objects that stand for the same: a defaultdict, a bytearray, a file in bytes.

# %% count_pairs
# marks: 2
from collections import defaultdict


def count_pairs(ids):
    counts = defaultdict(int)
    for place in range(1, len(ids)):
        counts[ids[place - 1], ids[place]] += 1
    return counts


# %% words_in
# marks: 2
def words_in(path):
    with open(path, "rb") as lines:
        for line in lines:
            yield from line.split()


# %% vocabulary
# marks: 4
class Vocabulary:
    def __init__(self, merges):
        self.known = {number: bytearray([number]) for number in range(256)}
        for left, right in merges:
            self.known[len(self.known)] = self.known[left] + self.known[right]

    def __len__(self):
        return len(self.known)

    def __getitem__(self, number):
        try:
            return self.known[number]
        except KeyError:
            raise IndexError(f"there is no number {number}") from None

    def decode(self, numbers):
        text = bytearray()
        for number in numbers:
            text += self[number]
        return text.decode()
