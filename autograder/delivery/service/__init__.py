"""Grades submissions as they arrive, and gives the feedback back at once."""
