"""Writes HTML pages and CSV tables: feedback, solutions, class reports."""
