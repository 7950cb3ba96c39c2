"""The public examples in docs/authors.md do what the guide says."""

from __future__ import annotations

import re
from textwrap import dedent

from tested_course import COURSE

from coursecheck.examples import play


def test_an_example_can_keep_printed_text_and_errors_as_the_guide_shows():
    guide = (COURSE.root / "docs" / "authors.md").read_text("utf-8")
    parts = re.findall(
        r"# %% example: \w+\n    # about.*\n((?: {4}.*\n)+?) {4}# observe: (.*)", guide
    )
    scope = {"greet": print, "TooLittle": IndexError, "withdraw": [].__getitem__}

    observed = [play({"code": dedent(code), "observe": [both]}, scope) for code, both in parts]

    assert observed == [["Ada\n"], [{"tuple": [True, "list index out of range"]}]]
