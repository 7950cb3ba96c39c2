"""Writes the class report: a class's results in one assignment, as HTML page and CSV tables."""
