"""Helpers of the tests of interactives."""

from course.interactives.model import Control, Model


def control(model: Model, name: str) -> Control:
    """Return the control with this name."""
    return next(each for each in model.controls() if each.name == name)
