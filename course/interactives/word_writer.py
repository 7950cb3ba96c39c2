"""Finishes words that a person begins, with the student's own language model."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from course.drawing.chart import attention_drawing, bars, in_rows
from course.drawing.operands import as_number
from course.interactives.model import Control, YourCodeFailed, your_code
from course.interactives.showing import show

_LONGEST = 7
_KEPT = 12  # number of written words that stay on the screen


def write_words(model: Callable[[list[int]], Any], letters: str) -> Writer:
    """Type the beginning of a word, and your model finishes it, letter by letter.

    Args:
        model: your trained model. It takes a list of places in `letters` and gives for each a list
            of logits, one for each letter. If it has `looks`, the weights of its attention in the
            last call, they are drawn.
        letters: all letters. The first one stands in front of each word and behind it.

    Returns:
        An object that holds the words written so far (`written`).

    Raises:
        YourCodeFailed: the model raised an error, or did not return a logit for each letter.
    """
    writer = Writer(model, letters)
    show(writer)
    return writer


class Writer:
    """The model of the writing desk: a beginning, the letters added to it, and the chances of the
    next one.

    Attributes:
        beginning: what the person typed.
        word: the beginning, and the letters that were added.
        finished: whether the word has ended.
        temperature: what the logits are divided by.
        chances: for each letter the probability that it comes next; they add up to 1.
        looks: the weights with which each place of the word looks at the places up to it.
        written: the words finished so far.
    """

    title = "Begin a word"
    running = False

    def __init__(self, model: Callable[[list[int]], Any], letters: str) -> None:
        self._model = model
        self._letters = letters
        self.temperature = 1.0
        self.written: list[str] = []
        self._start("")
        self.news = ""

    def __repr__(self) -> str:
        return self.text()

    def begin(self) -> None:
        self.news = self.summary()

    def controls(self) -> list[Control]:
        return [
            Control("beginning", "Beginning", "text", self.beginning),
            Control("letter", "Add a letter"),
            Control("finish", "Finish the word"),
            Control("temperature", "Temperature", "slider", self.temperature, True, 0.2, 2.0, 0.1),
        ]

    def act(self, name: str, value: Any) -> None:
        if name == "beginning":
            typed = value.lower()
            kept = "".join(each for each in typed if each in self._letters[1:])[:_LONGEST]
            self._start(kept)
            self.news = self.summary()
            if kept != typed:
                known = " ".join(self._letters[1:])
                self.news = f"It knows words of up to {_LONGEST} of the letters {known}."
        elif name == "temperature":
            self.temperature = value
            self._read()
            self.news = self.summary()
        else:
            if self.finished:
                self._start(self.beginning)
            self._add()
            while name == "finish" and not self.finished:
                self._add()
            self.news = self.summary()

    def _start(self, beginning: str) -> None:
        self.beginning = self.word = beginning
        self.finished = False
        self._read()

    def _add(self) -> None:
        """Draw the next letter by its chance; the first one of all letters ends the word."""
        [letter] = random.choices(self._letters, self.chances)
        ends = letter == self._letters[0]
        if not ends:
            self.word += letter
            self._read()
        if ends or len(self.word) == _LONGEST:
            self.finished = True
            self.written.append(self.word)

    def _read(self) -> None:
        """Ask the model about the word as it is."""
        numbers = [self._letters.index(letter) for letter in self._letters[0] + self.word]
        with your_code("The model"):
            answer = [as_number(getattr(each, "data", each)) for each in self._model(numbers)[-1]]
        logits = [each for each in answer if each is not None and math.isfinite(each)]
        if not len(answer) == len(logits) == len(self._letters):
            raise YourCodeFailed(
                f"The model should give {len(self._letters)} logits, one for each letter."
            )
        powers = [math.exp((logit - max(logits)) / self.temperature) for logit in logits]
        self.chances = [power / sum(powers) for power in powers]
        self.looks = [[float(share) for share in row] for row in getattr(self._model, "looks", ())]

    def summary(self) -> str:
        if self.finished:
            return f"It writes {self.word}."
        order = sorted(range(len(self.chances)), key=lambda i: -self.chances[i])[:3]
        likely = ", ".join(f"{self._named(i)} at {self.chances[i]:.0%}" for i in order)
        return f"After {self.word or 'nothing yet'}, most likely comes {likely}."

    def _named(self, number: int) -> str:
        return self._letters[number] if number else "the end"

    def html(self) -> str:
        added = self.word.removeprefix(self.beginning)
        word = f'<span style="font-size:1.5em">{self.beginning}<strong>{added}</strong></span>'
        ended = self._letters[0] if self.finished else "…"
        rows = [(self._named(i), chance, f"{chance:.0%}") for i, chance in enumerate(self.chances)]
        drawings = [bars("What comes next", rows, self.summary(), {})]
        if self.looks:
            drawings.append(attention_drawing(self._letters[0] + self.word, self.looks))
        return (
            f"<p>{word}{ended}</p><p>{self.summary()}</p>{in_rows(drawings, 1.0)}"
            f"<p>{self._list()}</p>"
        )

    def text(self) -> str:
        return "\n".join(filter(None, [self.summary(), self._list()]))

    def _list(self) -> str:
        return f"Written: {', '.join(self.written[-_KEPT:])}" if self.written else ""
