"""The interface of a model to the view: controls, a picture, words, and news for a screen
reader."""

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
        name: its name for the model's `act`.
        label: its name on the screen and for a screen reader.
        kind: "button", "toggle", "slider", "choice" or "pad", a place to draw strokes on.
        value: its state now; a button has none.
        enabled: whether it has an effect now.
        low, high, step: of a slider.
        options: of a choice.
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
    """An interactive without its looks.

    Before `begin`, a model shows a picture for pages without working controls.

    Attributes:
        title: the name of the interactive.
        news: the last event, in words to be read out.
        running: whether it goes on by itself, by an `act("tick", None)` every now and then.
    """

    title: str
    news: str
    running: bool

    def begin(self) -> None:
        """Go to the start, since the controls work from now on."""

    def controls(self) -> list[Control]:
        """Return the controls in the keyboard's order: always the same ones, whatever their
        state."""

    def act(self, name: str, value: Any) -> None:
        """Do a control's action. Raises `YourCodeFailed` if the student's code raised."""

    def html(self) -> str:
        """Return the picture, with its words."""

    def text(self) -> str:
        """Return the picture in words alone."""


class YourCodeFailed(Exception):
    """The student's code raised; the message names the code and the error.

    JupyterLab shows the message and the student's line: the rest of the traceback is this package.
    """

    def _render_traceback_(self) -> list[str]:
        lines = [part for line in str(self).splitlines() for part in wrap(line, 80) or [""]]
        frames = traceback.extract_tb(self.__cause__.__traceback__) if self.__cause__ else []
        # A cell is no file.
        if own := [frame for frame in frames if not Path(frame.filename).exists()]:
            lines.append(f"It was in {own[-1].name}, line {own[-1].lineno} of its cell:")
            lines.append(f"    {own[-1].line}")
        return lines


@contextmanager
def your_code(what: str) -> Iterator[None]:
    """Run a student's code; `what` names it, as the beginning of a sentence."""
    try:
        yield
    except Exception as error:
        # Student code may raise anything, and all of it concerns the student.
        raise YourCodeFailed(f"{what} raised {describe(error)}") from error


def describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
