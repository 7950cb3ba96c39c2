"""The verbs of the `autograder` command."""
