"""Whatever one step of a hidden test replies, the test holds: a sample of `make every-reply`."""

from __future__ import annotations

from every_reply import survey


def test_no_reply_lets_a_hidden_test_pass_or_takes_the_blame_from_an_answer():
    found = survey(share=0.003, seed=1, quick=True)
    assert found.tests > 350 and found.runs > 10 * found.tests
    assert not found.passed and not found.blamed, str(found)
