"""Runs the code blocks of a text, one after the other, as a notebook would."""

from __future__ import annotations

import ast
import io
import re
import traceback
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from ...errors import LessonError


@dataclass(frozen=True)
class Shown:
    """The results of a block.

    Attributes:
        printed: its printed text.
        value: the value of its last line if that is an expression, otherwise None.
    """

    printed: str
    value: Any


class Session:
    """The variables that the blocks of one text share."""

    def __init__(self, text: str, scope: dict[str, Any]) -> None:
        """Begin with the variables in `scope`; `text` names the file, for messages."""
        self.text = text
        self.scope = scope

    def mistake(self, line: int, what: str) -> LessonError:
        """Return the error for a mistake in that line of the text."""
        return LessonError(f"{self.text}, line {line}: {what}")

    def run(self, source: str, line: int) -> Shown:
        """Run a block that begins in this line. Raises LessonError if it fails."""
        printed = io.StringIO()
        value = None
        try:
            # Empty lines in front make Python count as the text does.
            body = ast.parse("\n" * line + source, self.text).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            with redirect_stdout(printed):
                exec(compile(ast.Module(body, []), self.text, "exec"), self.scope)
                if isinstance(last, ast.Expr):
                    value = eval(compile(ast.Expression(last.value), self.text, "eval"), self.scope)
        except Exception as error:
            raise self.mistake(line, "\n" + traceback.format_exc(limit=-1)) from error
        return Shown(printed.getvalue(), value)

    def fill(self, text: str, line: int) -> str:
        """Replace each `{= expression}` by its value; a format may follow, as in `{= x:.2f}`."""

        def value(found: re.Match[str]) -> str:
            try:
                # An f-string, so that formats work as everywhere in Python.
                return str(eval(f'f"""{{{found.group(1)}}}"""', self.scope))
            except Exception as error:
                raise self.mistake(line, f"below it, {found.group()} failed: {error}") from error

        return re.sub(r"\{= *([^}]+?) *\}", value, text)
