"""Reads a course folder: its settings, its assignments, its key, and its version."""
