"""Makes texts from outside safe to write into files and to print."""

from __future__ import annotations

_UNFIT = dict.fromkeys(
    [*range(9), *range(11, 32), *range(127, 160), *range(0xD800, 0xE000)], "\ufffd"
)


def visible(text: str) -> str:
    """The text in one line, with what does not show, or what a terminal obeys, as escapes.

    The name of a file may hold bytes that are no text; they become escapes, too.
    """
    told = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(each if each.isprintable() else _escape(each) for each in told)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def fit(text: str) -> str:
    """The text without half characters, which no file holds, and without a terminal's commands."""
    return text.translate(_UNFIT)
