"""No reply to a hidden test lets it pass without an answer, or blames the test."""

from __future__ import annotations

import pytest
from campaigns import seed, size
from odd_replies import survey
from other_courses import COURSES
from tested_course import COURSE

EVERY = [COURSE.root, *sorted(path.parent for path in COURSES.glob("*/course.toml"))]


@pytest.mark.sized
def test_no_forged_reply_passes_a_hidden_test_or_counts_as_a_test_defect():
    found = survey(EVERY, size(12, 240) / 1000, seed(1))

    assert found.tests > 50
    assert found.runs > 10 * found.tests
    assert not found.passed, str(found)
    assert not found.blamed, str(found)
