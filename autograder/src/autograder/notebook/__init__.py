"""Converts a submitted file to cells, and writes verdicts back into a file."""
