"""Holds the parts that all commands share: consoles, the option `--course`, printing of errors."""

from __future__ import annotations

import errno
import io
import json
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console

from .errors import CourseError, SandboxUnavailable, UnreadableNotebook
from .faults import in_words, kept_at

_log = logging.getLogger(__name__)

console = Console()
errors = Console(stderr=True)


def say(text: object, style: str = "", to: Console = console) -> None:
    """Print a text as it is, in lines that are not broken: commands and paths can be copied."""
    to.print(str(text), style=style, markup=False, highlight=False, soft_wrap=True)


def for_people(command: Callable[..., Any]) -> Callable[..., Any]:
    """Print an error as one sentence, and end with status 2."""

    @wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except (CourseError, SandboxUnavailable, UnreadableNotebook) as error:
            _end(str(error))
        except KeyboardInterrupt:
            say("autograder: stopped; what was graded so far is stored", to=errors)
            sys.exit(130)
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # The reader of the output has closed its end.
            _log.debug("the command ends", exc_info=True)
            # Recognised by its name: most commands do not import the library, which takes long.
            if not type(error).__module__.startswith("sqlalchemy."):
                _end(in_words(error))
            from .gradebook.writing import with_remedy

            _end(f"the gradebook cannot be used {with_remedy(error)}")

    return wrapped


def _end(sentence: str) -> NoReturn:
    """End the command with a sentence."""
    say(f"autograder: {sentence}", "red", errors)
    sys.exit(2)


class EachAssignment:
    """Keeps an error in one of several assignments from ending a command for the others.

    If there is one alone, or if all of them fail, the command ends with the error.

    Attributes:
        failed: the error's text, by assignment.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.failed: dict[str, str] = {}

    def left(self) -> list[str]:
        """Return the assignments without an error."""
        return [name for name in self._names if name not in self.failed]

    @contextmanager
    def kept(self, name: str) -> Iterator[None]:
        """Go on after an error in the block."""
        with kept_at(name) as fault:
            yield
        if fault.reason:
            self.failed[name] = fault.reason
            if self.failed.keys() >= {*self._names}:
                raise CourseError("\n".join(self.failed.values()))

    def report(self) -> None:
        """Print the errors."""
        for name, why in self.failed.items():
            say(f"autograder: {name} is left out: {why}", "red", errors)


def print_json(value: object, indent: int | None = None) -> None:
    """Print a value as JSON, with escapes where the terminal's encoding lacks letters."""
    is_plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(json.dumps(value, indent=indent, ensure_ascii=is_plain))


def print_every_letter() -> None:
    """Print letters that the terminal's encoding lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


course_option = click.option(
    "--course",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The course folder; by default the one you are in.",
)
