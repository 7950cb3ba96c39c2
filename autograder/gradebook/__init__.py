"""The gradebook, which is nbgrader's: marks, penalties, and the record of gradings."""
