"""The parts that all commands share: consoles, the option `--course`, printing of errors."""

from __future__ import annotations

import errno
import io
import json
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console

from .course_folder.course import find_course
from .errors import CourseError, SandboxUnavailable, UnreadableNotebook
from .isolation import in_words, isolated_errors

_log = logging.getLogger(__name__)

console = Console()
errors = Console(stderr=True)


def echo(text: object, style: str = "", to: Console = console) -> None:
    """Print a text as it is, without markup or line breaks, so that commands and paths can be
    copied."""
    to.print(str(text), style=style, markup=False, highlight=False, soft_wrap=True)


def report_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a command: it prints an error as one message, without a traceback, and exits with
    status 2."""

    @wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except (CourseError, SandboxUnavailable, UnreadableNotebook) as error:
            _end(str(error))
        except KeyboardInterrupt:
            echo("autograder: stopped; what was graded so far is stored", to=errors)
            sys.exit(130)
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # The program that reads the output has closed the pipe: click handles it.
            _log.debug("the command ends", exc_info=True)
            # Compared by name, since importing SQLAlchemy takes long and most commands do not
            # need it.
            if not type(error).__module__.startswith("sqlalchemy."):
                _end(in_words(error))
            from .gradebook.writing import with_remedy

            _end(f"the gradebook cannot be used {with_remedy(error)}")

    return wrapped


def _end(sentence: str) -> NoReturn:
    """Print an error message and exit with status 2."""
    echo(f"autograder: {sentence}", "red", errors)
    sys.exit(2)


class AssignmentErrors:
    """Isolates errors of the assignments that a command works on.

    If every assignment fails, also if there is only one, the command ends with their errors.

    Attributes:
        failed: the error messages, by assignment.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.failed: dict[str, str] = {}

    def left(self) -> list[str]:
        """Return the assignments without an error so far."""
        return [name for name in self._names if name not in self.failed]

    @contextmanager
    def isolate(self, name: str) -> Iterator[None]:
        """Catch an error in the `with` block, and store its message in `failed`.

        Raises `CourseError` with all messages once every assignment has failed.
        """
        with isolated_errors(name) as fault:
            yield
        if fault.reason:
            self.failed[name] = fault.reason
            if self.failed.keys() >= {*self._names}:
                raise CourseError("\n".join(self.failed.values()))

    def report(self) -> None:
        """Print the collected errors."""
        for name, why in self.failed.items():
            echo(f"autograder: {name} is left out: {why}", "red", errors)


def print_json(value: object, indent: int | None = None) -> None:
    """Print a value as JSON. Characters other than ASCII are escaped, unless stdout has an encoding
    for all of Unicode, such as UTF-8."""
    is_plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(json.dumps(value, indent=indent, ensure_ascii=is_plain))


def print_every_letter() -> None:
    """Make stdout and stderr escape the characters that their encoding lacks, where Python would
    raise `UnicodeEncodeError`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


_course_option = partial(
    click.option,
    "--course",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The course folder; by default the one you are in.",
)
folder_option = _course_option()
course_option = _course_option(callback=report_errors(lambda _, __, folder: find_course(folder)))
"""The option `--course`: as a `Course`, or, for a command that also runs without a course, as the
path that was given."""
