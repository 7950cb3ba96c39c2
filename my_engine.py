"""A scalar autograd engine. The cells of its notebooks that passed their checks."""

# From the notebook "value".


