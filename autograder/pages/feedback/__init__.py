"""Makes the pages that students read when their work is graded, as part of nbgrader."""

from .exporter import FeedbackExporter
from .from_gradebook import ReadMarks

__all__ = ["FeedbackExporter", "ReadMarks"]
