"""The subcommands of `autograder`."""
