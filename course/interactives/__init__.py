"""Pictures of a student's own engine that move: a stepper, a playground, and a training on XOR.

Each is a model in plain Python (`stepping`, `playing`, `training`) that says what its controls are
and what its picture is. One view, `panel`, shows any of them. Nothing of Jupyter is imported until
one of them is shown.
"""

from course.interactives.playing import playground
from course.interactives.stepping import step_through
from course.interactives.training import xor_trainer

__all__ = ["playground", "step_through", "xor_trainer"]
