"""Compares the verdicts of a checker that a student wrote with the right ones."""

from autograder.testing import plain


def to_verdict(answer):
    """Return the answer if it is True or False; None for anything else, even 1 and 0."""
    return answer if type(answer) is bool else None


def assert_distinguishes(rng, ask, right, wrong):
    """Assert that a checker accepts right objects and rejects wrong ones.

    The objects are made in a random order, and the checker is asked about each twice, in another
    random order, so that neither the order nor the repetition of questions reveals the answer.

    Args:
        ask: calls the checker with an object.
        right, wrong: functions without arguments that make the objects.
    """
    makers = [*right, *wrong]
    turns = range(len(makers))
    made = {turn: makers[turn]() for turn in rng.sample(turns, len(turns))}
    answers = {turn: [] for turn in turns}
    for turn in rng.sample([*turns] * 2, 2 * len(turns)):
        answers[turn].append(ask(made[turn]))
    found = [[plain(each, to_verdict) for each in answers[turn]] for turn in turns]
    assert found == [[True, True]] * len(right) + [[False, False]] * len(wrong)
