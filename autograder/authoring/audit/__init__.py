"""Runs the grading tests on known wrong and known right answers."""
