"""Writes the class report: the results of a class in one assignment, as a page and as tables."""
