"""What students of the course import: drawings of their graphs and checks of their work."""

from course.check import check
from course.draw import GraphDrawing, draw_graph

__all__ = ["GraphDrawing", "check", "draw_graph"]
