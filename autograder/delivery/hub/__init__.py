"""A JupyterHub for the course on one machine, for students and the instructor."""
