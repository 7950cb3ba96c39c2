"""Reads and writes nbgrader's gradebook: marks, late penalties, and the record of gradings."""
