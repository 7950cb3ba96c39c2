# %% vocabulary
# marks: 0.5 of 4
# named: vocabulary.texts
class Vocabulary:
    def __init__(self, merges):
        self.texts = list(map(chr, range(256)))
        for left, right in merges:
            self.texts += [self.texts[left] + self.texts[right]]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, number):
        if number < 0:
            raise IndexError
        return self.texts[number]

    def decode(self, numbers):
        return "".join(map(self.__getitem__, numbers))
