"""Verdicts of a checker that a student wrote, on right things and wrong ones."""

from autograder.testing import plain


def to_verdict(answer):
    """True and False alone are verdicts: 1 and 0 are not."""
    return answer if type(answer) is bool else None


def assert_tells(rng, ask, right, wrong):
    """Assert that a checker accepts the right things and rejects the wrong ones.

    They are made in an order that is drawn, and it is asked about each twice, in another one: that
    a thing comes early or late, or once more, tells nothing about it.

    Args:
        ask: asks the checker about one of them.
        right, wrong: functions without arguments, which make them.
    """
    makers = [*right, *wrong]
    turns = range(len(makers))
    made = {turn: makers[turn]() for turn in rng.sample(turns, len(turns))}
    answers = {turn: [] for turn in turns}
    for turn in rng.sample([*turns] * 2, 2 * len(turns)):
        answers[turn].append(ask(made[turn]))
    found = [[plain(each, to_verdict) for each in answers[turn]] for turn in turns]
    assert found == [[True, True]] * len(right) + [[False, False]] * len(wrong)
