"""No reply to a hidden test lets it pass without an answer, or blames the test."""

from __future__ import annotations

import pytest
from campaigns import seed, size
from odd_replies import survey
from tested_course import COURSE


@pytest.mark.full
@pytest.mark.subprocess
@pytest.mark.sized
def test_no_forged_reply_passes_a_hidden_test_or_counts_as_a_test_defect():
    found = survey([COURSE.root], size(3, 60) / 1000, seed(1), quick=not size(0, 1))

    assert found.tests > 300
    assert found.runs > 10 * found.tests
    assert not found.passed, str(found)
    assert not found.blamed, str(found)
