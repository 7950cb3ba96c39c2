# %% vocabulary
# marks: 2.5 of 4
# named: vocabulary.merges_alone
class Vocabulary:
    def __init__(self, merges):
        self.merges = merges

    def __len__(self):
        return len(self.merges)

    def __getitem__(self, number):
        if number < 0:
            raise IndexError
        if number < 256:
            return bytes([number])
        left, right = self.merges[number - 256]
        return self[left] + self[right]

    def decode(self, numbers):
        return b"".join(self[number] for number in numbers).decode()
