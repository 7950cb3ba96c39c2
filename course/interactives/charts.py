"""Draws a loss curve and a decision picture as SVG, on light cards of their own.

They change several times a second while a network trains, so each must be drawn in milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

MARGIN = 0.25  # how much of the plane the decision picture shows around the four points
WIDTH, HEIGHT, PAD = 340, 260, 40
POINTS = 300  # of the loss curve, at most
_INK, _QUIET, _LINE = "#1b1f24", "#57606a", "#b35c00"
_LOW, _HIGH = (138, 180, 248), (255, 214, 102)  # the network's answers 0 and 1


def loss_svg(losses: Sequence[float]) -> str:
    """The loss by epoch."""
    title = "Loss by epoch"
    if not losses:
        return _svg(title, [_text(WIDTH / 2, HEIGHT / 2, "no epoch yet", "middle")])
    top = max(losses) * 1.05 or 1.0
    last = len(losses) - 1
    shown = sorted({round(i * last / POINTS) for i in range(POINTS + 1)}) if last else [0]

    def at(i: int) -> str:
        x = PAD + (WIDTH - 2 * PAD) * (i / last if last else 0)
        return f"{x:.1f},{HEIGHT - PAD - (HEIGHT - 2 * PAD) * losses[i] / top:.1f}"

    bottom, right = HEIGHT - PAD, WIDTH - PAD
    x, y = at(last).split(",")
    parts = [
        f'<path d="M{PAD},{PAD} V{bottom} H{right}" fill="none" stroke="{_QUIET}"/>',
        f'<polyline points="{" ".join(map(at, shown))}" fill="none" stroke="{_LINE}" '
        'stroke-width="2"/>',
        f'<circle cx="{x}" cy="{y}" r="3.5" fill="{_LINE}"/>',
        _text(PAD - 6, PAD + 4, f"{top:.2g}", "end"),
        _text(PAD - 6, bottom + 4, "0", "end"),
        _text(PAD, bottom + 18, "1", "middle"),
        _text(right, bottom + 18, f"{len(losses):,}", "middle"),
        _text(WIDTH / 2, bottom + 32, "epoch", "middle"),
    ]
    about = f"from {losses[0]:.4f} in epoch 1 to {losses[-1]:.4f} in epoch {len(losses)}"
    return _svg(f"{title}: {about}", parts, title)


def decision_svg(grid: list[list[float]], answers: Sequence[tuple[str, float, float, bool]]) -> str:
    """What the network answers all over the plane, and at the four points.

    Args:
        grid: answers row by row, the lowest row first, evenly spaced over the picture.
        answers: of each point "x xor y", the target, the answer, and whether it is right.
    """
    side = (WIDTH - 2 * PAD) / len(grid)
    low = WIDTH - PAD
    parts = []
    for j, row in enumerate(grid):
        for i, value in enumerate(row):
            x, y = PAD + i * side, low - (j + 1) * side
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{side + 0.3:.1f}" '
                f'height="{side + 0.3:.1f}" fill="{_shade(value)}"/>'
            )
    parts.append(f'<path d="{_border(grid, side, low)}" stroke="{_INK}" stroke-width="2.5"/>')

    def place(value: float) -> float:
        # A grid point lies in the middle of its square.
        return side / 2 + (value + MARGIN) / (1 + 2 * MARGIN) * (len(grid) - 1) * side

    for name, target, said, right in answers:
        across, up = (float(part) for part in name.split(" xor "))
        x, y = PAD + place(across), low - place(up)
        fill = _INK if target > 0.5 else "#fff"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="{fill}" stroke="{_INK}"/>')
        parts.append(_text(x, y + 22, f"{'✓' if right else '✗'} {said:.2f}", "middle", _INK))
    for tick in (0, 1):
        parts.append(_text(PAD + place(tick), low + 15, str(tick), "middle"))
        parts.append(_text(PAD - 8, low - place(tick) + 4, str(tick), "end"))
    parts.append(_text(WIDTH / 2, low + 32, "● target 1   ○ target 0   ━ border at 0.5", "middle"))
    heard = "; ".join(f"{name}: {answer:.2f}" for name, _, answer, _ in answers)
    return _svg(f"The network's answers: {heard}", parts, "Answers over the plane", low + PAD)


def _border(grid: list[list[float]], side: float, low: float) -> str:
    """The sides between squares of which one is above 0.5 and the other is not."""
    lines = []
    for j, row in enumerate(grid):
        for i, value in enumerate(row):
            x, y = PAD + (i + 1) * side, low - (j + 1) * side
            if i + 1 < len(row) and (value > 0.5) != (row[i + 1] > 0.5):
                lines.append(f"M{x:.1f},{y:.1f}v{side:.1f}")
            if j + 1 < len(grid) and (value > 0.5) != (grid[j + 1][i] > 0.5):
                lines.append(f"M{x:.1f},{y:.1f}h{-side:.1f}")
    return "".join(lines)


def _shade(value: float) -> str:
    share = min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.5
    mixed = (round(low + (high - low) * share) for low, high in zip(_LOW, _HIGH, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _text(x: float, y: float, words: str, anchor: str, colour: str = _QUIET) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">'
        f"{escape(words)}</text>"
    )


def _svg(about: str, parts: list[str], title: str = "", height: float = HEIGHT) -> str:
    about = escape(about)
    head = _text(WIDTH / 2, 22, title or about, "middle", _INK)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{about}" '
        f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'style="background:#fff;border-radius:6px;font:12px system-ui,sans-serif">'
        f"<title>{about}</title>{head}{''.join(parts)}</svg>"
    )
