"""Writes solution pages, which students may read when an assignment is over."""
