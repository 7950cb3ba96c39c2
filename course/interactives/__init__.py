"""Interactive pictures of a student's own engine: a stepper, a playground, and a training panel.

Each is a model in plain Python, such as `stepping` or `playing`, that defines its controls and its
picture. One view, the widget `panel`, shows any of these models. Jupyter's modules are imported
only when a model is shown. A picture made by `film` moves by itself, without a running kernel.
"""

from course.interactives.film import watch
from course.interactives.fitting import fit_line
from course.interactives.playing import playground
from course.interactives.predicting import predict
from course.interactives.stepping import step_through
from course.interactives.training import training_panel

__all__ = ["fit_line", "playground", "predict", "step_through", "training_panel", "watch"]
