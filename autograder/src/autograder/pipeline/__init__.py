"""Grades many submissions: one after another, in several processes, or on a cluster."""
