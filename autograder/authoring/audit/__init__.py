"""Holds the grading tests against what is known to be wrong and what is known to be right."""
