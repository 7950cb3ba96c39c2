"""The check of words: it finds every habit that is planted, and none in the clone."""

from __future__ import annotations

import re

import pytest
from plain_words import HABITS, ROOT, files, findings, main

PLANTED = {
    "docstring": [
        "Raises an error, and tells the author why.",
        "What a worker needs.",
        "Whether the file is there.",
        "Return a line. Where there is none, raise.",
        "Return all that is known of a student.",
        "It is sent with the next request.",
        "Refuses a file that nobody has read.",
        "Make the table anew.",
        "Ask the folder, which comes round every second.",
        "Wait until the file is at rest.",
        "Grade it elsewhere if the worker was lost.",
        "Return the folder of what was put aside.",
    ],
    "comment": ["Where the disk is full, stop.", "the user is told of it"],
    "test name": ["a_wrong_key_is_told", "nobody_waits", "a_server_that_was_lost", "what_waits"],
    "Markdown": ["Where it fails, run it again.", "Each worker knows of no other.", "whoever asks"],
}


def written(kind: str, text: str, reason: str = "") -> tuple[str, str]:
    """Return a file's name and content with the text in it, and a reason to silence it."""
    mark = f"  # words: {reason}" if reason else ""
    if kind == "Markdown":
        return "page.md", f"# Title\n\n{text}{f' <!-- words: {reason} -->' if reason else ''}\n"
    if kind == "docstring":
        return "module.py", f'def run():\n    """{text}"""{mark}\n'
    if kind == "comment":
        return "module.py", f"x = 1\n# {text}{mark}\n"
    return "module.py", f"def test_{text}():{mark}\n    pass\n"


CASES = [(kind, text) for kind, texts in PLANTED.items() for text in texts]


def test_each_habit_is_found_with_line_and_remedy_unless_there_is_a_reason():
    remedies = set()
    for kind, text in CASES:
        [found] = findings(*written(kind, text))
        place, line, said, *_, remedy = re.split(r": ?", found, maxsplit=4)
        assert (place, said) == (written(kind, text)[0], kind) and int(line) >= 1
        remedies.add(remedy)
        assert not [*findings(*written(kind, text, reason="quoted from nbgrader"))]
        name, content = written(kind, text, reason="x")
        assert [*findings(name, content.replace("words: x", "words:"))]
    assert remedies == {habit.remedy for habit in HABITS}


@pytest.mark.parametrize(
    "text",
    [
        "Return the folder in which a student's answer stands.",
        "Run the tests, if nothing has changed.",
        "Ask where the notebook is.",
        "Lost digits are replaced by zeros.",
    ],
)
def test_plain_sentences_pass(text):
    assert not list(findings(*written("docstring", text)))


def test_code_in_markdown_is_not_prose():
    assert not list(findings("page.md", "```\n# Where it is told\n```\n\nSee `told`.\n"))
    assert not list(findings("page.md", "Run\n\n    make told\n"))
    assert list(findings("page.md", "10. A file,\n    and a person is told.\n"))


def test_the_clone_has_no_finding(capsys):
    assert len(files()) > 200 and (ROOT / "CONTRIBUTING.md").exists()
    assert main() == 0, capsys.readouterr().out
