"""A JupyterHub for the course on one machine: the students' day and the instructor's on it."""
