"""Invented words for a model to learn: made of syllables by a seeded rule."""

from __future__ import annotations

import random
import re

VOWELS = ("aou", "ei")
"""The dark vowels and the bright ones. A word has vowels of one kind only."""
_CONSONANTS = "klmnprstv"
_ENDS = ("", "", "n", "s")
_WORD = re.compile("|".join(f"(?:[{_CONSONANTS}][{vowels}]){{2,3}}[ns]?" for vowels in VOWELS))


def words(n: int, seed: int = 0) -> list[str]:
    """Make different words of two or three syllables.

    A syllable is a consonant and a vowel; all vowels of a word are of one kind, either of `a`, `o`,
    `u` or of `e`, `i`. One word in three has three syllables, and every other word ends in `n` or
    `s`.

    Args:
        n: how many words.
        seed: the same seed gives the same words.
    """
    draw = random.Random(seed)
    made: dict[str, None] = {}  # like a set, but in order
    while len(made) < n:
        vowels = draw.choice(VOWELS)
        syllables = draw.choice((2, 2, 3))
        letters = [draw.choice(_CONSONANTS) + draw.choice(vowels) for _ in range(syllables)]
        made["".join(letters) + draw.choice(_ENDS)] = None
    return list(made)


def keeps_rule(word: str) -> bool:
    """Return whether `words` could have made this word."""
    return _WORD.fullmatch(word) is not None
