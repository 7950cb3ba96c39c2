"""The hidden tests of `words`.

Each test's docstring is what a student reads when it fails. `word` draws other words for each
submission.
"""

from __future__ import annotations

from autograder.testing import exercise


@exercise("longest_word")
class TestLongestWord:
    def test_finds_the_longest(self, student, word):
        """The longest word is found, wherever it stands."""
        short, middle, long = word(2), word(4), word(7)
        for words in ([long, short, middle], [short, long, middle], [middle, short, long]):
            assert student.longest_word(" ".join(words)) == long

    def test_first_of_several(self, student, word):
        """Of several words of the same length it is the first."""
        one, other = "b" + word(5), "a" + word(5)
        assert student.longest_word(f"{word(3)} {one} {other}") == one
        assert student.longest_word(f"{word(3)} {other} {one}") == other

    def test_any_white_space(self, student, word):
        """Line breaks and several blanks part words as one blank does."""
        first, second = word(4), word(6)
        assert student.longest_word(f"{first}\n{second}  {first}") == second

    def test_no_words(self, student):
        """A text without words gives an empty text."""
        assert [student.longest_word(text) for text in ("", "  \n ")] == ["", ""]


@exercise("count_words")
class TestCountWords:
    def test_counts(self, student, word):
        """The dictionary says of each word how often it stands in the text."""
        one, other = word(4), word(5)
        text = f"{one} {other} {one} {one}"
        assert student.count_words(text) == {one: 3, other: 1}

    def test_letters_of_any_size(self, student, word):
        """Capital letters make no difference: words are counted in small letters."""
        one = word(5)
        text = f"{one.upper()} {one} {one.title()}"
        assert student.count_words(text) == {one: 3}

    def test_each_text_for_itself(self, student, word):
        """A second text is counted from the start."""
        one, other = word(4), word(5)
        assert [student.count_words(each) for each in (one, other)] == [{one: 1}, {other: 1}]

    def test_no_words(self, student):
        """A text without words gives an empty dictionary."""
        assert student.count_words("") == {}
