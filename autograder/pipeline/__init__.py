"""Grades many submissions: one after another, by several processes, or by a cluster."""
