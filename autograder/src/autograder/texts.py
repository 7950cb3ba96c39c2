"""Sanitizes untrusted texts for files and terminals."""

from __future__ import annotations

import json
import re
import shlex

_UNSAFE = dict.fromkeys(
    [
        *(*range(9), *range(11, 32), *range(127, 160), *range(0xD800, 0xE000)),
        *(*range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # bidi controls
    ],
    "\ufffd",
)


def visible(text: str) -> str:
    """Return the text in one line, with every unprintable character as a Python escape.

    Bytes of a file name that are not UTF-8 become escapes as well.
    """
    decoded = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in decoded
    )


def fit(text: str) -> str:
    """Return the text with lone surrogates, control characters and bidi controls replaced.

    The replacement is U+FFFD. Tabs and line breaks stay. A control character could begin an ANSI
    escape sequence.
    """
    return text.translate(_UNSAFE)


def command(*words: object) -> str:
    """Return a command for a message: its words quoted for a shell, all of it in backquotes."""
    return f"`{visible(shlex.join(map(str, words)))}`"


def toml_table(*names: str) -> str:
    """Return the header of a table in TOML, such as `[assignments."Week 1"]`."""
    parts = (
        name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
        for name in names
    )
    return f"[{'.'.join(parts)}]"
