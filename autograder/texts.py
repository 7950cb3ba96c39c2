"""Makes texts from outside safe to write into files and to print."""

from __future__ import annotations

import shlex

_UNFIT = dict.fromkeys(
    [
        *(*range(9), *range(11, 32), *range(127, 160), *range(0xD800, 0xE000)),
        *(*range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # they turn the order of what follows
    ],
    "\ufffd",
)


def visible(text: str) -> str:
    """Return the text in one line, with invisible characters and terminal commands as escapes.

    Bytes of a file's name that are no text become escapes, too.
    """
    decoded = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in decoded
    )


def fit(text: str) -> str:
    """Return the text without lone surrogates, which no file holds, terminal commands, and marks
    that turn the direction of reading."""
    return text.translate(_UNFIT)


def command(*words: object) -> str:
    """Return a command for a message, in backquotes and as a shell reads it."""
    return f"`{visible(shlex.join(map(str, words)))}`"
