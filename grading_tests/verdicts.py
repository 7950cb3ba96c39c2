"""Compares the verdicts of a student's checker with the right ones."""

from autograder.testing import plain


def to_verdict(answer):
    """Return True and False alone as verdicts: 1 and 0 are none."""
    return answer if type(answer) is bool else None


def assert_distinguishes(rng, ask, right, wrong):
    """Assert that a checker accepts the right things and rejects the wrong ones.

    They are made in a drawn order, and the checker is asked about each twice, in another one, so
    that neither the time nor the repetition of a question gives its answer away.

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
