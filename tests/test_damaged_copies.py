"""Honest submissions keep their marks through what editors and mail programs do to files."""

from __future__ import annotations

import pytest
from damage import DAMAGES
from damaged_copies import survey

SEED = 7


@pytest.mark.slow
def test_damaged_copies_keep_their_honest_marks(grader, course, measured, capsys):
    found = survey(course, grader, 8 * len(DAMAGES), SEED, most=60)
    with capsys.disabled():
        print(f"\nseed {SEED}; {found}")
    measured("damaged", found.copies)
    measured("damaged kept", found.kept)
    assert min(found.by_kind.values()) >= 3, "too few copies of a kind were looked at"
    assert found.kept >= 0.99 * found.copies, str(found)
    assert not found.unclear, str(found)
