"""Shows a model: its picture as an output of its own, and above it controls, if they work there.

The picture is an ordinary output that is replaced at each change. So, unlike a widget, it stays in
a saved notebook, on an exported page, and in feedback.
"""

from __future__ import annotations

import sys
from html import escape
from typing import Any

from course.interactives.model import Model

NOTE = "The controls appear where a notebook is running: run this cell again to use them."


class Picture:
    """The present picture of a model, for any page.

    Args:
        problem: an error message to show above it.
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
    """Show a model: in a notebook with controls, elsewhere without."""
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
    # Pages without widgets show the note, JupyterLab shows the widget.
    note = {"text/plain": NOTE, "text/html": f"<p><em>{NOTE}</em></p>"}
    display({**panel.mimebundle(), **note}, raw=True)
    panel.picture = display(Picture(model), display_id=True)


def _panel(model: Model) -> Any:
    """Return the model's controls, or None if the widget library is missing."""
    try:
        from course.interactives.panel import Panel
    except ImportError:
        return None
    return Panel(model)
