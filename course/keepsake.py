"""A page for the student to keep: five dates in the history of neural networks, each with the
student's own code doing what was done then.

`keepsake(by="Ada")` at the end of `mlp`, `digits` and `gpt` shows the page and writes it to
`built_by_me.html`, beside `my_engine.py`. What an earlier notebook put on the page stays there. The
page works offline and without JavaScript.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from course.datasets import xor
from course.digits import digits
from course.drawing.chart import Picture
from course.export_engine import code_lines, own_file
from course.interactives.digit_reader import Reader, named
from course.interactives.word_writer import Writer
from course.plots import decision_boundary, draw_attention, draw_pictures

FILE = "built_by_me.html"
ROUNDS = 100  # greatest number of rounds through all points in which a neuron is trained

_STYLE = """
body{margin:0 auto;max-width:44rem;padding:2rem 1rem;font:17px/1.55 system-ui,sans-serif;
color:#1b1f24;background:#fff}
h1{font-size:2rem;line-height:1.2;margin:0}h2{font-size:1.2rem;margin:0}
section{border-left:4px solid #2f7fd6;margin:1.6rem 0;padding:.1rem 0 .1rem 1rem}
section.later{border-color:#c4cad1;color:#4d5560}
svg{height:auto!important;max-width:100%!important}
@media(prefers-color-scheme:dark){body{color:#e6e9ed;background:#14171a}
section.later{color:#a9b1ba}}
"""


@dataclass(frozen=True)
class Milestone:
    """A date in the history of neural networks, and what the student's code does today.

    Attributes:
        year, title, past: the year, the name of what happened then, and a sentence about it.
        today: the result of the student's code, or the exercise that it still needs.
        picture: the result as a picture; None if the code was not run.
        kept: the section of the page that an earlier run wrote; "" if there is none.
    """

    year: int
    title: str
    past: str
    today: str
    picture: Picture | None
    kept: str = ""


class Keepsake:
    """A finished page: a notebook shows the page, a terminal its text."""

    def __init__(self, by: str, lines: int, milestones: Sequence[Milestone]) -> None:
        self.title = f"Built by {by}" if by else "Built by me"
        engine = f"{lines} lines of code of my own" if lines else "code of my own"
        self.about = (
            f"An autograd engine and neural networks, from single numbers up: {engine}. "
            "It computed each picture below."
        )
        self.milestones = milestones

    def __repr__(self) -> str:
        dates = [f"{each.year} · {each.title}: {each.today}" for each in self.milestones]
        return "\n".join([self.title, self.about, *dates])

    def html(self) -> str:
        """Return the content of the page, as HTML."""
        parts = [f"<h1>{escape(self.title)}</h1><p>{escape(self.about)}</p>"]
        for each in self.milestones:
            if each.kept and not each.picture:
                parts.append(each.kept)
                continue
            picture = each.picture._repr_mimebundle_()["text/html"] if each.picture else ""
            look = "run" if picture else "later"
            parts.append(
                f'<section class="{look}">'
                f"<h2>{each.year} · {escape(each.title)}</h2>"
                f"<p>{escape(each.past)}</p>{picture}<p><strong>{escape(each.today)}</strong></p>"
                "</section>"
            )
        return "".join(parts)

    def page(self) -> str:
        """Return the whole page, as an HTML document that needs no other file."""
        title = escape(self.title)
        return (
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{title}</title><style>{_STYLE}</style><main>{self.html()}</main></html>\n"
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}


def keepsake(
    by: str = "",
    network: Callable[[list[float]], Any] | None = None,
    drawn: Reader | None = None,
    writer: Writer | None = None,
    namespace: dict[str, Any] | None = None,
) -> Keepsake:
    """Show a page of what your own code can do, and write it to a file that you can keep.

    Args:
        by: your name.
        network: your network that reads digits: it takes 64 numbers and gives ten logits.
        drawn: the result of `draw_digit`, with the digit that you drew.
        writer: the result of `write_words`, with the words that your model wrote.
        namespace: where `Neuron` and `train_xor` are defined; by default your notebook.
    """
    if namespace is None:
        namespace = sys._getframe(1).f_globals
    neuron: Any = namespace.get("Neuron")
    train_xor: Any = namespace.get("train_xor")
    reads: Any = network
    writes: Any = writer
    runs = [
        ("the notebook mlp, exercise Neuron", neuron, lambda: _perceptron(neuron)),
        ("the notebook mlp, exercise Neuron", neuron, lambda: _one_neuron(neuron)),
        ("the notebook mlp, exercise XOR", train_xor, lambda: _hidden_layer(train_xor)),
        ("the notebook digits", network, lambda: _digits(reads, drawn)),
        ("the notebook gpt", writer, lambda: _words(writes)),
    ]
    file = own_file()
    path = (file.parent if file else Path()) / FILE
    kept = _sections(path.read_text("utf-8")) if path.is_file() else {}
    milestones = []
    state = random.getstate()
    random.seed(0)
    for (year, title, past), (needs, thing, run) in zip(_PAST, runs, strict=True):
        today, picture = f"Still to come, with {needs}.", None
        if year in kept:
            today = "As it was when this page was written before."
        if thing is not None:
            try:
                today, picture = run()
            except NotImplementedError:
                pass
            except Exception as error:
                today = f"It raised {type(error).__name__} ({error}). See {needs}."
        milestones.append(Milestone(year, title, past, today, picture, kept.get(year, "")))
    random.setstate(state)
    page = Keepsake(by, code_lines(file.read_text("utf-8")) if file else 0, milestones)
    path.write_text(page.page(), "utf-8")
    print(f"{path.name} is written, a page to keep and to share.\n{_where(path)}")
    return page


def _sections(page: str) -> dict[int, str]:
    """Return by year the sections of a written page with a result of the student's code."""
    found = re.findall(r'<section class="run"><h2>(\d+) .*?</section>', page, re.DOTALL)
    texts = re.findall(r'<section class="run">.*?</section>', page, re.DOTALL)
    return dict(zip(map(int, found), texts, strict=True))


def _where(path: Path) -> str:
    """Return a sentence on how the student opens the written file."""
    if sys.platform == "emscripten":  # in a browser tab
        return "The course's start page saves it as a file."
    above = len(path.parent.parts)  # folders from this one up to the file
    places = ("in this notebook's folder", "in the folder above", "two folders above")
    return f"It is {places[above]}. Open it in a browser."


_PAST = [
    (
        1958,
        "The perceptron",
        "Frank Rosenblatt lets a neuron learn from its errors: after each wrong answer every "
        "weight moves by its input.",
    ),
    (
        1969,
        "One or the other, but not both",
        "Marvin Minsky and Seymour Papert show what a single layer cannot do. XOR becomes its "
        "emblem.",
    ),
    (
        1986,
        "The hidden layer learns",
        "David Rumelhart, Geoffrey Hinton and Ronald Williams send the error back through the "
        "layers, by the chain rule.",
    ),
    (
        1989,
        "Digits are read",
        "Yann LeCun and others train a network that reads handwritten digits.",
    ),
    (
        2017,
        "Attention",
        "Ashish Vaswani and seven others build a network, the transformer, in which each word of a "
        "text weighs all the others. It is the T of GPT.",
    ),
]


def _perceptron(neuron_class: Callable[[int], Any]) -> tuple[str, Picture]:
    inputs, _ = xor()
    targets = [float(any(point)) for point in inputs]
    neuron = neuron_class(2)
    for parameter in (*neuron.w, neuron.b):
        parameter.data = -1.0  # wrong at three of the four points
    rounds = _learnt(neuron, inputs, targets)
    end = f"in {rounds} times through its four points" if rounds else "but not in time"
    return (
        f"My neuron learnt OR by this rule, {end}.",
        decision_boundary(neuron, inputs, [2 * each - 1 for each in targets]),
    )


def _one_neuron(neuron_class: Callable[[int], Any]) -> tuple[str, Picture]:
    inputs, targets = xor()
    neuron = neuron_class(2)
    _learnt(neuron, inputs, targets)
    right = sum((neuron(x).data > 0) == (t > 0) for x, t in zip(inputs, targets, strict=True))
    return (
        f"After {ROUNDS} times through XOR, my neuron has {right} of 4 right: "
        "no straight line does it.",
        decision_boundary(neuron, inputs, [2 * each - 1 for each in targets]),
    )


def _learnt(neuron: Any, inputs: list[list[float]], targets: list[float]) -> int | None:
    """Train a neuron by the perceptron's rule; return after how many rounds through all points each
    of them was right, or None if that was not reached in `ROUNDS`.

    A point on the border is an error too.

    Source:
        F. Rosenblatt, *The perceptron*, Psychological Review 65, 1958: w += t·x after an error, for
        targets t of -1 and 1.
    """
    for number in range(1, ROUNDS + 1):
        is_right = True
        for point, target in zip(inputs, targets, strict=True):
            step = 1.0 if target > 0 else -1.0
            if step * neuron(point).data <= 0:
                is_right = False
                for weight, x in zip(neuron.w, point, strict=True):
                    weight.data += step * x
                neuron.b.data += step
        if is_right:
            return number
    return None


def _hidden_layer(train_xor: Callable[..., Any]) -> tuple[str, Picture]:
    inputs, targets = xor()
    model = train_xor(inputs, targets, 0)
    answers = zip(inputs, targets, strict=True)
    right = sum((model(x).data > 0.5) == (t > 0.5) for x, t in answers)
    return (
        f"My network with a hidden layer, trained by my own gradients, has {right} of 4 right.",
        decision_boundary(model, inputs, targets, threshold=0.5),
    )


def _digits(network: Callable[..., Any], drawn: Reader | None) -> tuple[str, Picture]:
    def read(picture: list[float]) -> int:
        logits = network(picture)
        return max(range(10), key=lambda digit: float(logits[digit].data))

    pictures, labels = digits(100, seed=2)
    right = sum(read(x) == label for x, label in zip(pictures, labels, strict=True))
    shown, captions = pictures[:5], [f"reads {read(each)}" for each in pictures[:5]]
    today = f"My network reads {right} of 100 digits that it has never seen."
    if drawn is not None and any(drawn.picture):
        shown, captions = [drawn.picture, *shown], [f"mine: {read(drawn.picture)}", *captions]
        today += f" The one that I drew, it reads as {named(read(drawn.picture))}."
    return today, draw_pictures(shown, captions, "Digits that the network reads")


def _words(writer: Writer) -> tuple[str, Picture]:
    for _ in range(8):
        writer.act("finish", None)
    written = list(dict.fromkeys(word for word in writer.written if word))[-8:]
    return (
        f"My engine writes words of its own: {', '.join(written)}.",
        draw_attention("·" + writer.word, writer.looks),
    )
