"""Draws a small picture of square pixels, such as a digit of 8 by 8."""

from __future__ import annotations

from collections.abc import Sequence

from course.drawing.chart import Svg


def pixel_drawing(picture: Sequence[float], caption: str, pixel: int, about: str) -> Svg:
    """Return the drawing, with a caption above.

    Args:
        picture: a number from 0 (paper) to 1 (ink) for each pixel, row by row; as many rows as
            columns.
        caption: stands above.
        pixel: the side of a pixel, in pixels of the screen.
        about: a description of the picture.
    """
    columns = round(len(picture) ** 0.5)
    side = pixel * columns
    svg = Svg(side + 24, side + 42, about)
    svg.text(svg.width / 2, 20, caption, "middle", "ch-title")
    svg.add(f'<rect class="ch-node" x="12" y="30" width="{side}" height="{side}"/>')
    for place, ink in enumerate(picture):
        if ink:
            x, y = 12 + pixel * (place % columns), 30 + pixel * (place // columns)
            svg.add(
                f'<rect class="ch-fill-ink" fill-opacity="{min(1.0, ink):.2f}" x="{x}" y="{y}" '
                f'width="{pixel}" height="{pixel}"/>'
            )
    return svg
