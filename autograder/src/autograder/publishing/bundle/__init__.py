"""Builds the bundle for students: notebooks, wheels, and a script that installs and starts all."""
