"""Grades Jupyter notebooks of any course: student code in a sandbox, verdicts outside it."""
