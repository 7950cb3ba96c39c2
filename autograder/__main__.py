"""`python -m autograder` is the `autograder` command."""

from .cli import main

main()
