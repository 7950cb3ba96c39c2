"""The hidden tests of `checkpoint`."""

from autograder.testing import exercise


@exercise("q1")
def test_letter(student):
    """The answer is the letter of the option that is right."""
    assert student["q1"] == "c"


@exercise("q2")
def test_number(student):
    """The answer is the right number."""
    assert student["q2"] == 2
