# %% assignment: numpy
# title: Computing with arrays
# packages: numpy

import numpy as np

# %% exercise: standardised
# title: Columns on one scale
# text: Bring the columns of a table to the mean 0 and the standard deviation 1.
def standardised(table):
    """Return a new array, each column of `table` less its mean, over its standard deviation.

    Example:
        standardised(np.array([[1.0], [3.0]])) gives array([[-1.0], [1.0]]).
    """
    ### BEGIN SOLUTION
    return (table - table.mean(axis=0)) / table.std(axis=0)
    ### END SOLUTION

# %% exercise: clip
# title: Nothing below zero
# text: Set all negative numbers of an array to 0, in the array itself.
def clip(array):
    """Set what is below 0 to 0, in place. Return None."""
    ### BEGIN SOLUTION
    array[array < 0] = 0
    ### END SOLUTION
