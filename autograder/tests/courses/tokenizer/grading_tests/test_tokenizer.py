"""The hidden tests of `tokenizer`."""

from __future__ import annotations

from pathlib import Path

from autograder.testing import exercise

CORPUS = Path(__file__).parents[1] / "source" / "tokenizer" / "corpus.txt"


@exercise("count_pairs")
class TestCountPairs:
    def test_counts(self, student, numbers):
        """Each pair of neighbours is counted as often as it is there."""
        a, b, c = numbers(3)
        assert student.count_pairs([a, b, a, b, c]) == {(a, b): 2, (b, a): 1, (b, c): 1}

    def test_pairs_may_overlap(self, student, numbers):
        """Three equal numbers in a row are two pairs."""
        [a] = numbers(1)
        assert student.count_pairs([a, a, a]) == {(a, a): 2}

    def test_order_counts(self, student, numbers):
        """A pair the other way round is another pair."""
        a, b = sorted(numbers(2))
        assert student.count_pairs([b, a]) == {(b, a): 1}
        assert student.count_pairs([a, b]) == {(a, b): 1}

    def test_no_pair(self, student, numbers):
        """An empty list and a single number have no pair."""
        assert [student.count_pairs(ids) for ids in ([], numbers(1))] == [{}, {}]


@exercise("merge")
class TestMerge:
    def test_every_place(self, student, numbers):
        """The new number takes the place of the pair wherever that stands, at both ends too."""
        a, b, c, d = numbers(4)
        assert student.merge([a, b, c, a, b, d, a, b], (a, b), 300) == [300, c, 300, d, 300]

    def test_from_left_to_right(self, student, numbers):
        """A number that was merged already is part of no other pair."""
        a, b = numbers(2)
        assert student.merge([a, a, a, b], (a, a), 300) == [300, a, b]

    def test_halves_stay(self, student, numbers):
        """One half of the pair alone, or the two the other way round, stay as they are."""
        a, b, c = numbers(3)
        assert student.merge([b, a, c, b, c, a], (a, b), 300) == [b, a, c, b, c, a]

    def test_a_new_list(self, student, numbers):
        """The list that was given keeps its numbers."""
        a, b, c = numbers(3)
        given = student.remote.builtins.list([a, b, c])
        assert student.merge(given, (a, b), 300) == [300, c]
        assert given == [a, b, c]


@exercise("words_in")
class TestWordsIn:
    def test_all_words(self, student):
        """All words of the file come in their order, as bytes in UTF-8."""
        expected = [word.encode() for word in CORPUS.read_text("utf-8").split()]
        assert list(student.words_in("corpus.txt")) == expected

    def test_one_by_one(self, student):
        """It is a generator: the first word is there before the next one is asked for."""
        words = student.words_in("corpus.txt")
        assert [next(words), next(words), next(words)] == [b"The", b"wind", b"and"]

    def test_ends(self, student):
        """After the last word it ends."""
        words = student.words_in("corpus.txt")
        assert student.remote.builtins.len(list(words)) > 0
        with student.raises(StopIteration):
            next(words)


@exercise("vocabulary")
class TestVocabulary:
    def test_bytes(self, student, numbers):
        """The first 256 numbers stand for one byte each."""
        known = student.Vocabulary([])
        some = [0, 255, *numbers(3)]
        assert [known[number] for number in some] == [bytes([number]) for number in some]

    def test_merges(self, student, numbers):
        """A merged number stands for the bytes of its pair, also where that was merged itself."""
        a, b, c = numbers(3)
        known = student.Vocabulary([(a, b), (256, c), (c, 257)])
        found = [known[256], known[257], known[258]]
        assert found == [bytes([a, b]), bytes([a, b, c]), bytes([c, a, b, c])]

    def test_length(self, student, numbers):
        """`len` says how many numbers there are."""
        a, b = numbers(2)
        assert len(student.Vocabulary([])) == 256
        assert len(student.Vocabulary([(a, b), (b, a)])) == 258

    def test_no_such_number(self, student, numbers):
        """A number that is too large, or below 0, raises IndexError."""
        a, b = numbers(2)
        known = student.Vocabulary([(a, b)])
        assert known[256] == bytes([a, b])
        for number in (257, -1):
            with student.raises(IndexError):
                known[number]

    def test_decodes(self, student, word):
        """Numbers become the text again, letters beyond ASCII too."""
        text = word(6)
        first, second, *rest = text.encode()
        known = student.Vocabulary([(first, second)])
        assert known.decode([256, *rest]) == text

    def test_each_for_itself(self, student, numbers):
        """A second vocabulary knows nothing of the first."""
        a, b, c, d = numbers(4)
        one, other = student.Vocabulary([(a, b)]), student.Vocabulary([(c, d)])
        assert [one[256], other[256]] == [bytes([a, b]), bytes([c, d])]
        assert [len(one), len(other)] == [257, 257]
