# %% assignment: plots
# title: Pictures of numbers
# packages: matplotlib matplotlib-inline
# preload: matplotlib.pyplot

import matplotlib.pyplot as plt

# %% exercise: squares
# title: A curve
# text: Draw the squares of some numbers over the numbers, as a line.
def squares(numbers):
    """Return axes with a line through the points (x, x * x), with labels for both axes.

    The horizontal axis is called `x`, the vertical one `x squared`.
    """
    ### BEGIN SOLUTION
    _, axes = plt.subplots()
    axes.plot(numbers, [x * x for x in numbers])
    axes.set(xlabel="x", ylabel="x squared")
    return axes
    ### END SOLUTION
