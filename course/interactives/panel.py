"""The widget with a model's controls, and a live region for screen readers.

`panel.js` draws the widget in the browser. Import this module only to show a widget, since it
imports the widget library.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from course.interactives.model import Model, YourCodeFailed
from course.interactives.showing import Picture

_HERE = Path(__file__).parent


class Panel(anywidget.AnyWidget):
    """A widget that passes changes of its controls on to a model, and shows the model's new state.

    Attributes:
        picture: the display handle of the model's picture; None until the picture is displayed.
        turn: the number of answers so far, by which the browser knows that it may send the next
            message.
    """

    _esm = (_HERE / "panel.js").read_text("utf-8")
    _css = (_HERE / "panel.css").read_text("utf-8")

    title = traitlets.Unicode().tag(sync=True)
    controls: traitlets.List[Any] = traitlets.List().tag(sync=True)
    news = traitlets.Unicode().tag(sync=True)
    running = traitlets.Bool().tag(sync=True)
    turn = traitlets.Int().tag(sync=True)

    def __init__(self, model: Model) -> None:
        self._model = model
        self._begun = False
        self.picture: Any = None
        super().__init__(**self._state(""))
        self.on_msg(self._hear)

    def mimebundle(self) -> dict[str, Any]:
        """Return the data of an output that shows this widget."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"application/vnd.jupyter.widget-view+json": view}

    def _state(self, problem: str) -> dict[str, Any]:
        return {
            "title": self._model.title,
            "controls": [asdict(control) for control in self._model.controls()],
            "news": problem or self._model.news,
            "running": self._model.running,
            "turn": self.turn + 1,
        }

    def _hear(self, _: Any, message: dict[str, Any], __: Any) -> None:
        problem = ""
        if message["name"] != "hello":
            try:
                self._model.act(message["name"], message["value"])
            except YourCodeFailed as error:
                problem = str(error)
        elif not self._begun:  # a second view of the same widget does not begin from the start
            self._begun = True
            self._model.begin()
        if self.picture is not None:
            self.picture.update(Picture(self._model, problem))
        with self.hold_sync():
            for name, value in self._state(problem).items():
                setattr(self, name, value)
