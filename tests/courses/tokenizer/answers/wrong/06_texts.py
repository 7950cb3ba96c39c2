# %% words_in
# marks: 0.5 of 2
# named: words_in.texts
def words_in(path):
    for word in open(path, encoding="utf-8").read().split():
        yield word
