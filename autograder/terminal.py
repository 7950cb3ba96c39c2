"""What the commands share: where they write, and how a user's mistake is told."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console

from .assignments import CourseError
from .sandbox import SandboxUnavailable

console = Console()
errors = Console(stderr=True)


def for_people(command: Callable[..., Any]) -> Callable[..., Any]:
    """A user's mistake, or a machine that lacks something, is told in a sentence."""

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
            # Told by its name: most commands do without the library, which takes long to import.
            if not type(error).__module__.startswith("sqlalchemy."):
                raise
            _end(
                f"the gradebook cannot be used ({getattr(error, 'orig', error)}). Put back a copy "
                "of its file; or where `db_url` in nbgrader_config.py names a server, see that it "
                "runs and lets you in."
            )

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
