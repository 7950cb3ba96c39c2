# A list that is taken from its left end, and an iterator of the student's own making.

# %% merge
# marks: 2
from collections import deque


def merge(ids, pair, new):
    left, merged = deque(ids), deque()
    while left:
        number = left.popleft()
        if left and [number, left[0]] == list(pair):
            left.popleft()
            number = new
        merged.append(number)
    return list(merged)


# %% words_in
# marks: 2
class words_in:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.words = iter(file.read().split())

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.words).encode()
