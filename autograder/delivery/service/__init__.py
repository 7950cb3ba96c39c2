"""Grades submissions as they arrive, and returns the feedback at once."""
