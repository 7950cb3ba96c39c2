"""Runs a JupyterHub for a course on one machine, for students and the instructor."""
