"""A film of the forward and the backward pass, as one SVG that is animated by CSS only.

Each number appears when the pass has reached its node. Dots carry the numbers along the arrows, and
beside a gradient stands what is added to it. The film pauses while the mouse or the keyboard's
focus is on it, and ends after some rounds. If the browser asks for reduced motion, the picture
stands still and shows the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from course.drawing.graph import read_graph, short
from course.drawing.layout import (
    PADDING,
    ROW,
    Layout,
    Picture,
    compose,
    layout_in_layers,
)
from course.drawing.operands import as_number
from course.drawing.svg import framed, svg_label, svg_of
from course.interactives.stepping import Step, Stepper

MAX_STEPS = 60
SLOT = 1.3  # length of a slot in seconds; each step has one slot
_ARRIVAL = 0.7  # share of a slot after which a travelling number has arrived
_HOLD = 3  # slots at the end, in which everything is seen
_ROUNDS = 10  # the film ends after these rounds: motion uses a phone's battery, even when unseen

_STYLE = """
.fm .fm-dot{fill:#2f7fd6}.fm .fm-dot.fm-backward{fill:#d1610f}
.fm .fm-ring{fill:none;stroke:#2f7fd6;stroke-width:3}
.fm .fm-ring.fm-backward{stroke:#d1610f;stroke-dasharray:8 5}
.fm .fm-gain{font-weight:bold;fill:var(--jp-warn-color0,#b34700)}
.fm:hover *,:focus>div>.fm *{animation-play-state:paused!important}
@media(prefers-reduced-motion:reduce){.fm *{animation:none!important}}
"""


class Film:
    """A finished film: a notebook shows the film, a terminal its steps in words."""

    def __init__(self, svg: str, tall: str, text: str) -> None:
        self.svg = svg
        self.tall = tall
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        steps = "".join(f"<li>{escape(line)}</li>" for line in self.text.splitlines())
        words = f"<details><summary>The film in words</summary><ol>{steps}</ol></details>"
        return {"text/html": framed(self.svg, self.tall) + words, "text/plain": self.text}


def watch(root: Any) -> Film:
    """Show the forward and the backward pass through the graph of `root` as a film.

    Args:
        root: a Value, yours or the course's. All gradients stay as they are.

    Raises:
        TypeError: `root` is not a Value, or a node behind it lacks what a backward pass needs.
        ValueError: the film would have more than 60 steps.
    """
    stepper = Stepper(root)
    if len(stepper.steps) > MAX_STEPS:
        raise ValueError(
            f"this film would have {len(stepper.steps)} steps, more than {MAX_STEPS}: take a node "
            "farther from its root, or step_through"
        )
    graph = read_graph(stepper.copies()[-1], MAX_STEPS, {})
    picture = compose(graph)
    layouts = [layout_in_layers(picture, down) for down in (False, True)]
    reels = [_Reel(picture, layout, stepper.steps) for layout in layouts]
    # The still picture has empty places, in which the film shows the numbers.
    for node in graph.nodes:
        node.data = node.grad = ""
    title = f"The forward and the backward pass of {graph.nodes[-1].name}, as a film"
    wide, tall = (
        svg_of(graph, picture, layout, is_still=False)
        .replace('class="cg"', 'class="cg fm"', 1)
        .replace(escape(graph.title), title)
        .removesuffix("</svg>")
        + f"<style>{_STYLE}{reel.keyframes}</style>{reel.parts}</svg>"
        for layout, reel in zip(layouts, reels, strict=True)
    )
    return Film(wide, tall, "\n".join(map(str, stepper.steps)))


class _Reel:
    """The moving parts of a film.

    Times are in slots from the beginning of a round; each step has one slot.

    Attributes:
        parts: the parts, as SVG.
        keyframes: the CSS animations that the parts use.
    """

    def __init__(self, picture: Picture, layout: Layout, steps: list[Step]) -> None:
        self._picture, self._layout, self._steps = picture, layout, steps
        self._routes = [*zip(picture.arrows, layout.routes, strict=True)]
        self._slots = len(steps) + _HOLD
        self._rules: dict[str, str] = {}
        self.parts = "".join([*self._numbers(), *self._movements()])
        self.keyframes = "".join(f"@keyframes {n}{{{rule}}}" for n, rule in self._rules.items())

    def _numbers(self) -> Iterator[str]:
        """Yield texts: each number for the time in which it is valid, and what is added to each
        gradient."""
        nodes = [shape.node for shape in self._picture.shapes.values() if shape.node]
        grads: dict[int, tuple[float, Any]] = {node.number: (0.0, 0.0) for node in nodes}
        for slot, step in enumerate(self._steps):
            arrival = slot + _ARRIVAL
            if step.phase == "forward":
                for node in nodes:
                    if node.number == step.place or (step.place < 0 and not node.operands):
                        yield self._text(node.number, 0, node.data, arrival)
            for place, grad in step.grads.items():
                since, old = grads[place]
                yield self._text(place, 1, short(old), since, arrival)
                before, after = as_number(old), as_number(grad)
                if before is not None and after is not None:
                    gain = f"{after - before:+.4g}"
                    yield self._text(place, 2, gain, slot + 0.4, slot + 1.0, "fm-gain")
                grads[place] = arrival, grad
        for place, (since, grad) in grads.items():
            yield self._text(place, 1, short(grad), since)
        computed = {step.place: i for i, step in enumerate(self._steps) if step.phase == "forward"}
        for arrow, at in zip(self._picture.arrows, self._layout.labels, strict=True):
            if at:
                since = computed[int(arrow.way.partition(".")[0])] + _ARRIVAL
                yield f"<g {self._seen(since)}>{svg_label(arrow, *at)}</g>"

    def _movements(self) -> Iterator[str]:
        """Yield the ring around the current node, and the dots that carry its numbers."""
        for slot, step in enumerate(self._steps):
            if step.place < 0:
                continue
            shape = self._picture.shapes[f"v{step.place + 1}"]
            x, y = self._layout.centres[shape.id]
            width, height = shape.width + 9, shape.height + 9
            yield (
                f'<rect class="fm-ring fm-{step.phase}" {self._seen(slot, slot + 1.0)} rx="9" '
                f'x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" '
                f'width="{width:.1f}" height="{height:.1f}"/>'
            )
            is_start = step.phase == "backward" and step.grads.keys() == {step.place}
            for (tail, head, *_), (route, tip) in self._routes:
                op = f"op{step.place + 1}"
                if op not in (tail, head) or is_start:
                    continue
                # In the forward pass, numbers travel into the operation in the first half of the
                # slot and out of it in the second; in the backward pass the other way round.
                half = 0.0 if (head == op) == (step.phase == "forward") else _ARRIVAL / 2
                start, *rest = (f"{a:.1f} {b:.1f}" for a, b in (*route, tip))
                path = f"M{start}C{' '.join(rest[:-1])}L{rest[-1]}"
                style = self._travels(slot + half, step.phase == "backward")
                yield (
                    f'<circle class="fm-dot fm-{step.phase}" r="5" opacity="0" '
                    f"style=\"offset-path:path('{path}');{style}\"/>"
                )

    def _text(
        self, place: int, row: int, words: str, start: float, end: float | None = None,
        look: str = "",
    ) -> str:  # fmt: skip
        shape = self._picture.shapes[f"v{place + 1}"]
        x, y = self._layout.centres[shape.id]
        right, bottom = x + shape.width / 2 - PADDING, y + shape.height / 2 - PADDING / 2 - 5
        return (
            f'<text class="{look}" {self._seen(start, end)} x="{right:.1f}" '
            f'y="{bottom + (row - 1) * ROW:.1f}" text-anchor="end">{escape(words)}</text>'
        )

    def _seen(self, start: float, end: float | None = None) -> str:
        """Return the SVG attributes of a part that is seen from `start` to `end`; without `end`,
        to the end of the round."""
        name = f"fm-{self._slots}-{start * 10:.0f}-{(end or 0) * 10:.0f}"
        hidden = "" if end is None else f"{self._share(end)}{{opacity:0}}"
        self._rules[name] = f"0%{{opacity:{int(not start)}}}"
        self._rules[name] += f"{self._share(start)}{{opacity:1}}" * bool(start) + hidden
        time = f"{self._slots * SLOT:g}s step-end {_ROUNDS}"
        return f'opacity="{int(end is None)}" style="animation:{name} {time}"'

    def _travels(self, start: float, is_backward: bool) -> str:
        """Return the style of a dot that travels along its path, from `start` on for half of the
        time `_ARRIVAL`."""
        end = start + _ARRIVAL / 2
        name = f"fm-{self._slots}-{start * 100:.0f}{'b' * is_backward}"
        ways = [f"offset-distance:{0 if (at == 0) != is_backward else 100}%" for at in (0, 1)]
        self._rules[name] = (
            f"0%,{self._share(start - 0.01)}{{opacity:0;{ways[0]}}}"
            f"{self._share(start)}{{opacity:1;{ways[0]}}}{self._share(end)}{{opacity:1;{ways[1]}}}"
            f"{self._share(end + 0.01)},100%{{opacity:0;{ways[1]}}}"
        )
        return f"animation:{name} {self._slots * SLOT:g}s linear {_ROUNDS}"

    def _share(self, slots: float) -> str:
        return f"{100 * max(slots, 0) / self._slots:.2f}%"
