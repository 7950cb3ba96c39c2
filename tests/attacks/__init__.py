"""Hostile submissions as data: each entry says in its name what it tries."""
