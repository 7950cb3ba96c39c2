# %% words_in
# marks: 0.5 of 2
# named: words_in.list
def words_in(path):
    words = []
    for line in open(path, "rb"):
        words.extend(line.split())
    return words
