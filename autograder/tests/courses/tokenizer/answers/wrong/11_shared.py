# All vocabularies share one list.

# %% vocabulary
# marks: 1.25 of 4
class Vocabulary:
    known = [bytes([number]) for number in range(256)]

    def __init__(self, merges):
        for left, right in merges:
            self.known.append(self.known[left] + self.known[right])

    def __len__(self):
        return len(self.known)

    def __getitem__(self, number):
        if number < 0:
            raise IndexError
        return self.known[number]

    def decode(self, numbers):
        return b"".join(self[number] for number in numbers).decode()
