"""The subcommands of `autograder`: one file for each group that `autograder --help` lists."""
