"""The package that students of the course import: drawings of graphs and checks of their work."""

from pathlib import Path

from course.draw import GraphDrawing, draw_graph
from course.export_engine import export, own_engine, own_network
from coursecheck import Checks

check = Checks(Path(__file__).parent / "tables")

__all__ = ["GraphDrawing", "check", "draw_graph", "export", "own_engine", "own_network"]
