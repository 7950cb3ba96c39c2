"""Shows how an answer differs from the one that a person marked."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from markupsafe import Markup, escape

_MOST = 300
"""Greatest number of words, or else of lines, that are compared: the time grows with its cube."""


def difference(before: str, now: str) -> Markup:
    """Return the earlier text as HTML in which what is gone and what is new is marked.

    Words are compared or, in longer texts, lines. Of texts with too many lines, the earlier one is
    returned as a whole.
    """
    for part in (r"\S+\s*", r".*\n?"):
        old, new = (re.findall(part, text) for text in (before, now))
        if max(len(old), len(new)) <= _MOST:
            return _marked(old, new)
    return escape(before)


def _marked(old: list[str], new: list[str]) -> Markup:
    parts = []
    matcher = SequenceMatcher(a=old, b=new, autojunk=False)
    for _, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        gone, added = old[old_start:old_end], new[new_start:new_end]
        if gone == added:
            parts.append(escape("".join(gone)))
            continue
        for tag, words in (("del", gone), ("ins", added)):
            if words:
                parts.append(Markup(f"<{tag}>{{}}</{tag}>").format("".join(words)))
    return Markup("").join(parts)
