# %% right: squares
def squares(numbers):
    figure = plt.figure()
    axes = figure.add_subplot()
    axes.plot([*numbers], [number**2 for number in numbers], "o-", color="red")
    axes.set_xlabel("x")
    axes.set_ylabel("x squared")
    axes.set_title("Squares")
    return axes

# %% wrong: squares
# points: 1.25
def squares(numbers):
    plt.plot(numbers, [x * x for x in numbers])
    plt.xlabel("x")
    plt.ylabel("x squared")
    return plt.gca()

# %% wrong: squares
# points: 1.25
def squares(numbers):
    _, axes = plt.subplots()
    axes.plot([x * x for x in numbers])
    axes.set(xlabel="x", ylabel="x squared")
    return axes
