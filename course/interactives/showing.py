"""Shows a model: its picture as an output, and above it the controls, where widgets work.

The picture is an ordinary output, which is replaced at each change. So, unlike a widget, the
picture is kept in a saved notebook, on an exported page, and in feedback.
"""

from __future__ import annotations

import sys
from html import escape
from typing import Any

from course.interactives.model import Model

NOTE = "The controls appear where a notebook is running: run this cell again to use them."


class Picture:
    """The present picture of a model, as HTML and as text.

    Args:
        problem: an error message to show above the picture; "" for none.
    """

    def __init__(self, model: Model, problem: str = "") -> None:
        warning = f"<p><strong>✗ {escape(problem)}</strong></p>" if problem else ""
        self._html = f'<div style="max-width:70em">{warning}{model.html()}</div>'
        self._text = "\n".join(part for part in (problem, model.text()) if part)

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return self._html


def show(model: Model) -> None:
    """Show a model: with controls in a notebook, without controls elsewhere."""
    IPython = sys.modules.get("IPython")
    shell = IPython.get_ipython() if IPython is not None else None
    if shell is None:
        print(Picture(model))
        return
    from IPython.display import display

    panel = _panel(model) if getattr(shell, "kernel", None) is not None else None
    if panel is None:
        display(Picture(model))
        return
    # The output holds both: JupyterLab shows the widget, a page without widgets shows the note.
    note = {"text/plain": NOTE, "text/html": f"<p><em>{NOTE}</em></p>"}
    display({**panel.mimebundle(), **note}, raw=True)
    panel.picture = display(Picture(model), display_id=True)


def _panel(model: Model) -> Any:
    """Return the widget with the model's controls; None if the widget library is missing."""
    try:
        from course.interactives.panel import Panel
    except ImportError:
        return None
    return Panel(model)
