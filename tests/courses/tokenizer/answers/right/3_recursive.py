# Bytes are worked out when they are asked for.

# %% vocabulary
# marks: 4
class Vocabulary:
    def __init__(self, merges):
        self.merges = list(merges)

    def __len__(self):
        return 256 + len(self.merges)

    def __getitem__(self, number):
        if number not in range(len(self)):
            raise IndexError
        if number < 256:
            return number.to_bytes(1, "big")
        left, right = self.merges[number - 256]
        return self[left] + self[right]

    def decode(self, numbers):
        return str(b"".join([self[number] for number in numbers]), "utf-8")
