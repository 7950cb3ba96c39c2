"""Plugins with which `nbgrader generate_feedback` writes feedback pages."""

from .exporter import FeedbackExporter
from .from_gradebook import ReadMarks, StoredMarks, course_rubrics, is_current, stored_marks

__all__ = [
    "FeedbackExporter",
    "ReadMarks",
    "StoredMarks",
    "course_rubrics",
    "is_current",
    "stored_marks",
]
