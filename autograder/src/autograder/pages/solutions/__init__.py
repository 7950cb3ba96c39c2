"""Writes solution pages, for students to read when an assignment is over."""
