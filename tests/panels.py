"""Helpers of the tests of interactives."""

from course.interactives.model import Control, Model


def control(model: Model, name: str) -> Control:
    """Return the control of a name."""
    return next(each for each in model.controls() if each.name == name)
