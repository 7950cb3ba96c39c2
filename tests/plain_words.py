"""Find habits of style that keep a reader out, in docstrings, comments, test names and Markdown.

`python tests/plain_words.py` prints each finding with its line and a remedy, and exits with 1 if
there is one. A person silences a line by a comment with the reason: `# words: the name of a cell`,
or `<!-- words: … -->` in Markdown. The comment behind a docstring silences the whole docstring.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

STUDENTS_READ = re.compile(
    r"course/(lesson|slides|scripts)/|(.*/)?misconceptions/|tests/(courses|recipes|variants|gamed)/"
    r"|grading_tests/test_|autograder/authoring/(recipes|template)/|docs/students\.md"
)
"""Files whose texts are a lesson, an answer or a sentence for students: they are not checked."""

SILENCED = re.compile(r"\bwords: \w")
PROCESS = r"(?:process|worker|cell|kernel|server|job|branch|trunk|machine|grader|submission)"


@dataclass(frozen=True)
class Habit:
    """A pattern to find, the kinds of texts to search, and the remedy."""

    pattern: re.Pattern[str]
    remedy: str
    kinds: tuple[str, ...] = ("docstring", "comment", "test name", "Markdown")


def habit(pattern: str, remedy: str, *kinds: str) -> Habit:
    return Habit(re.compile(pattern, re.IGNORECASE), remedy, kinds or Habit.kinds)


HABITS = [
    habit(r"\b(tell|tells|telling|told|untold)\b",
          "say which: print, report, raise, log, render, distinguish"),
    habit(r"\A(What|Whether|How|Where|Who|Which|Why|When|That)\b",
          "begin with a verb (Return, Run) or with a term of the words in docs/how-it-works.md",
          "docstring"),
    habit(r"(\A(?-i:Where)|[.;] where)\b(?! (is|are|do|does|to)\b)",
          "a condition uses `if` or `when`", "docstring", "comment", "Markdown"),
    habit(r"\b(say|says|said|know|knows|known|learns?|speaks?|hears?|heard) of\b",
          "write `about`, or name what is reported"),
    habit(r"\A(It|Its|They|Their|These|This|He|She)\b(?! (module|function|file|test)\b)",
          "name the subject", "docstring"),
    habit(r"\Atest (what|who|whose|whoever|where|it|they|nor|or|of)\b",
          "name the subject first: `test_a_file_that_…`", "test name"),
    habit(r"\b(nobody|no one|no-one|nothing else|nowhere)\b(?! less)",
          "state the positive: who does, what holds"),
    habit(r"\b(anew|whence|whoever|whosoever|thereof|whereof|wherein|thereby|therein|hither)\b",
          "use the everyday word: again, who, of it, in it"),
    habit(r"\bc[ao]me?s? round\b", "write `poll`"),
    habit(r"\bat rest\b", "write `idle` or `unchanged`"),
    habit(r"\b(put|puts|putting) aside\b", "write `back up` or `set aside`"),
    habit(rf"\b{PROCESS}s? (?:that )?(?:is|was|are|were|be|been|gets?) lost\b|\blost {PROCESS}s?\b",
          "write `terminated`"),
]  # fmt: skip


@dataclass(frozen=True)
class Text:
    """A docstring, comment, test name or paragraph, with the line that it begins on."""

    kind: str
    line: int
    text: str


def of_python(source: str) -> Iterator[Text]:
    """Yield the docstrings, comments and test names that no comment silences."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else ():
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                text = each.value.value
                if isinstance(text, str) and not SILENCED.search(lines[each.end_lineno - 1]):
                    yield Text("docstring", each.lineno, prose(text))
        is_test = isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if is_test and not SILENCED.search(lines[node.lineno - 1]):
            yield Text("test name", node.lineno, node.name.replace("_", " "))
    yield from comments(source)


def comments(source: str) -> Iterator[Text]:
    """Yield each comment; those on lines that follow one another are one text."""
    block: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            alone = token.line.strip().startswith("#")
            if block and not (alone and token.start[0] == block[-1][0] + 1):
                yield from joined(block)
                block = []
            block.append((token.start[0], token.string.lstrip("#! ")))
    yield from joined(block)


def prose(text: str) -> str:
    """Return a text with its inline code blanked out."""
    return re.sub(r"`[^`\n]*`", "``", text)


def joined(block: list[tuple[int, str]]) -> Iterator[Text]:
    if block and not any(SILENCED.search(text) for _, text in block):
        yield Text("comment", block[0][0], prose("\n".join(text for _, text in block)))


def of_markdown(source: str) -> Iterator[Text]:
    """Yield each line outside of code blocks, without its inline code and addresses.

    An indented line is code, unless it continues the item of a list.
    """
    fenced = in_list = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        if line.strip() and not line.startswith("    "):
            in_list = re.match(r" *([-*]|\d+\.) ", line) is not None or (
                in_list and line.startswith(" ")
            )
        is_code = fenced or (line.startswith("    ") and not in_list)
        if not is_code and not SILENCED.search(line):
            yield Text("Markdown", number, re.sub(r"\]\([^)]*\)", "", prose(line)))


def findings(path: str, source: str) -> Iterator[str]:
    """Yield one message for each habit in a file: its place, the words and the remedy."""
    for text in of_python(source) if path.endswith(".py") else of_markdown(source):
        for each in HABITS:
            for found in each.pattern.finditer(text.text) if text.kind in each.kinds else ():
                line = text.line + text.text.count("\n", 0, found.start())
                yield f"{path}:{line}: {text.kind}: “{found[0].strip()}”: {each.remedy}"


def files() -> list[str]:
    """Return the clone's Python and Markdown files that maintainers read."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.py", "*.md"],
                            cwd=ROOT, capture_output=True, text=True, check=True)  # fmt: skip
    return [path for path in listed.stdout.splitlines() if not STUDENTS_READ.match(path)]


def main() -> int:
    found = [each for path in files() for each in findings(path, (ROOT / path).read_text("utf-8"))]
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
