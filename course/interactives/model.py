"""The interface between a model and the view that shows it: controls, a picture, a text, and news
for a screen reader."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, Protocol


@dataclass(frozen=True)
class Control:
    """A control of an interactive.

    Attributes:
        name: the control's name in `Model.act`.
        label: the control's name on the screen and for a screen reader.
        kind: "button", "toggle", "slider", "choice", "text", a line that is sent as it is typed,
            "pad", an area to draw strokes on, or "field", to type an answer or press one of the
            options.
        value: the present value; None for a button.
        enabled: whether the control can be used now.
        low, high, step: for a slider, the range and the distance between two values.
        options: for a choice, the possible values; for a field, the possible answers, or none.
    """

    name: str
    label: str
    kind: str = "button"
    value: Any = None
    enabled: bool = True
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    options: Sequence[Any] = ()


class Model(Protocol):
    """The state of an interactive picture, and what its controls do. A view shows the model.

    Before `begin` is called, the picture is the one for pages without working controls.

    Attributes:
        title: the name of the interactive picture.
        news: the last event, in words that a screen reader reads out.
        running: whether the view has to call `act("tick", None)` again and again, such as while a
            network trains.
    """

    title: str
    news: str
    running: bool

    def begin(self) -> None:
        """Go to the initial state: from now on the controls work."""

    def controls(self) -> list[Control]:
        """Return the controls, in the order in which the Tab key reaches them. In every state of
        the model they are the same controls."""

    def act(self, name: str, value: Any) -> None:
        """Do what a control does.

        Args:
            name: the control's name; "tick" while the model is running.
            value: the control's new value; None for a button.

        Raises `YourCodeFailed` if the student's code raised an error.
        """

    def html(self) -> str:
        """Return the picture and its description, as HTML."""

    def text(self) -> str:
        """Return the description of the picture, as plain text."""


class YourCodeFailed(Exception):
    """The student's code raised an error; the message says which code and which error.

    JupyterLab shows the message and the student's line, without the traceback through this package.
    """

    def _render_traceback_(self) -> list[str]:
        lines = [part for line in str(self).splitlines() for part in wrap(line, 80) or [""]]
        frames = traceback.extract_tb(self.__cause__.__traceback__) if self.__cause__ else []
        # The student's lines are in a cell, which is no file; the lines of packages are in files.
        if own := [frame for frame in frames if not Path(frame.filename).exists()]:
            lines.append(f"It was in {own[-1].name}, line {own[-1].lineno} of its cell:")
            lines.append(f"    {own[-1].line}")
        return lines


@contextmanager
def your_code(what: str) -> Iterator[None]:
    """Run a student's code in the `with` block, and turn any error into `YourCodeFailed`.

    Args:
        what: the beginning of the message, which names the code, such as "The network".
    """
    try:
        yield
    except Exception as error:
        # Student code may raise any error, and the student should see each of them.
        raise YourCodeFailed(f"{what} raised {describe(error)}") from error


def describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
