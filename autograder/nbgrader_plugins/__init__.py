"""The classes that nbgrader_config.py names, which nbgrader calls."""
