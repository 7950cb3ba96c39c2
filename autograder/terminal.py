"""What all commands share: the consoles, the option `--course`, and how errors are printed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console

from .errors import CourseError, SandboxUnavailable

console = Console()
errors = Console(stderr=True)


def for_people(command: Callable[..., Any]) -> Callable[..., Any]:
    """Print an error that a user can mend as one sentence, and end with status 2."""

    @wraps(command)
    def told(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except (CourseError, SandboxUnavailable) as error:
            _end(str(error))
        except KeyboardInterrupt:
            errors.print("autograder: stopped; what was graded so far is stored")
            sys.exit(130)
        except OSError as error:
            if error.filename is None:  # It is about no file: a pipe that nobody reads any more.
                raise
            _end(f"{error.filename}: cannot be read or written ({error.strerror}).")
        except Exception as error:
            # Recognised by its name: most commands do not import the library, which takes long.
            if not type(error).__module__.startswith("sqlalchemy."):
                raise
            from .gradebook.writing import told as told_of_gradebook

            _end(f"the gradebook cannot be used {told_of_gradebook(error)}")

    return told


def _end(sentence: str) -> NoReturn:
    """End the command with a sentence, in one line, so that a command in it can be copied."""
    told = f"autograder: {sentence}"
    errors.print(told, style="red", highlight=False, markup=False, soft_wrap=True)
    sys.exit(2)


course_option = click.option(
    "--course",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The course folder; by default the one you are in.",
)
