"""Pictures of a student's own engine that move: a stepper, a playground, and a sandbox.

Each is a model in plain Python (`stepping`, `playing`, `sandbox`) that defines its controls and its
picture. One view, `panel`, shows any of them. Jupyter's modules are imported only when one of them
is shown. `film` needs no kernel at all: its picture moves by itself.
"""

from course.interactives.film import watch
from course.interactives.playing import playground
from course.interactives.sandbox import sandbox
from course.interactives.stepping import step_through

__all__ = ["playground", "sandbox", "step_through", "watch"]
