"""Runs the code blocks of a text one after the other, like the cells of a notebook."""

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
class BlockResults:
    """The results of running a code block.

    Attributes:
        printed: the text that the block printed.
        value: the value of the block's last statement if that is an expression, otherwise None.
    """

    printed: str
    value: Any


class Session:
    """The variables that the blocks of one text share."""

    def __init__(self, text: str, scope: dict[str, Any]) -> None:
        """Start a session.

        Args:
            text: the name of the text's file, for messages.
            scope: the variables that the first block can use; blocks change this dictionary.
        """
        self.text = text
        self.scope = scope

    def mistake(self, line: int, what: str) -> LessonError:
        """Return the error for a mistake in a line of the text.

        Args:
            line: the number of the line in the text's file.
            what: the message.
        """
        return LessonError(f"{self.text}, line {line}: {what}")

    def run(self, source: str, line: int) -> BlockResults:
        """Run a block, and return its results. Raises `LessonError` if it fails.

        Args:
            source: the block's code.
            line: the number of the line above the code, in the text's file.
        """
        printed = io.StringIO()
        value = None
        try:
            # Empty lines in front give tracebacks the line numbers of the text's file.
            body = ast.parse("\n" * line + source, self.text).body
            last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
            with redirect_stdout(printed):
                exec(compile(ast.Module(body, []), self.text, "exec"), self.scope)
                if isinstance(last, ast.Expr):
                    value = eval(compile(ast.Expression(last.value), self.text, "eval"), self.scope)
        except Exception as error:
            raise self.mistake(line, "\n" + traceback.format_exc(limit=-1)) from error
        return BlockResults(printed.getvalue(), value)

    def fill(self, text: str, line: int) -> str:
        """Return a text with each `{= expression}` replaced by the expression's value.

        A format may follow, as in `{= x:.2f}`.

        Args:
            line: the number of the text's first line in its file, for messages.
        """

        def value(found: re.Match[str]) -> str:
            try:
                # Evaluate as an f-string, so that formats have Python's syntax.
                return str(eval(f'f"""{{{found.group(1)}}}"""', self.scope))
            except Exception as error:
                raise self.mistake(line, f"below it, {found.group()} failed: {error}") from error

        return re.sub(r"\{= *([^}]+?) *\}", value, text)
