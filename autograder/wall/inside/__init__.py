"""The program on the student's side of the wall.

These modules are mounted into the box and imported there by a fresh interpreter, so they use the
standard library and IPython alone. They hold no secret: no reference, no test, no expected value.
The grader imports `protocol` and `steps` too, so that both sides have the same format.
"""
