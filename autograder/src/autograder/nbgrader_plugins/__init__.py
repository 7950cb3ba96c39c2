"""Plugins for nbgrader and nbconvert, which a course's `nbgrader_config.py` names."""
