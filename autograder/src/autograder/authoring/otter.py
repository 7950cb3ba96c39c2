"""Turns master notebooks of otter-assign into source notebooks of nbgrader.

Each test case becomes a test cell with its points, so that a question gives the points that otter
gives. What has no counterpart is reported with its cell, and no source is written then.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import Any

import nbformat
import yaml
from nbformat.notebooknode import NotebookNode

from ..course_folder.own_notebooks import parse_notebook
from ..errors import CourseError
from ..files import write_atomic

_OUTPUT = {"source", "release", "submitted", "autograded", "feedback"}
_FENCED = re.compile(r"^```otter\n(.*?)\n```[ \t]*$", re.MULTILINE | re.DOTALL)
_BOUNDARY = re.compile(r"# *(assignment config|(?:begin|end) (?:question|prompt|solution|tests))",
                       re.IGNORECASE)  # fmt: skip
_OLD = re.compile(r"^```\s*\n\s*BEGIN (?:QUESTION|ASSIGNMENT)\b", re.MULTILINE)
_IGNORED = re.compile(r"(?:## *ignore *##|# *ignore)\s*$", re.IGNORECASE | re.MULTILINE)
_IGNORED_LINES = re.compile(
    r"^ *# *BEGIN IGNORE\s*$.*?# *END IGNORE *$\n?|^[^\n]*# IGNORE *$\n?", re.MULTILINE | re.DOTALL
)
_CONFIG = re.compile(r"""("{3}|'{3}) *# BEGIN TEST CONFIG\n(.*?)\n\1;? *# END TEST CONFIG\n?""",
                     re.DOTALL)  # fmt: skip
_PROMPT = re.compile(r"""^( *)("{3}|'{3}) *# BEGIN PROMPT\n(.*?)\n *\2;? *# END PROMPT$""",
                     re.MULTILINE | re.DOTALL)  # fmt: skip
_MARKED = re.compile(r"(.*?)\s*# ?((?:BEGIN |END )?SOLUTION)(?: NO PROMPT)?\s*")
_BEGIN, _END = "### BEGIN SOLUTION", "### END SOLUTION"
_HIDDEN = "### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS"
_TRUE = ("True", "np.True_")
_PRINTED = """from contextlib import redirect_stdout
from io import StringIO

with redirect_stdout(StringIO()) as printed:
{}
assert printed.getvalue().rstrip() == {!r}"""
_WITHOUT = {
    "seed": "set the seed in a cell in front of the answers, as in `random.seed(42)`",
    "plugins": "no plugin is run",
    "public_multiplier": "give visible tests points of their own",
    "grade_from_log": "the notebook itself is graded",
}
"""Settings that change marks and have no counterpart, each with what holds in place of it."""


def take_masters(root: Path) -> tuple[list[Path], list[str]]:
    """Write a source notebook for each master notebook below a folder that has none yet, and copy
    its files beside it.

    Returns:
        The source notebooks, and a message on each cell that has no counterpart.
    """
    wrote, problems = [], []
    for path in sorted(root.rglob("*.ipynb")):
        parts, source = path.relative_to(root).parts, root / "source" / path.stem
        if parts[0] in _OUTPUT or any(part.startswith(".") for part in parts) or source.exists():
            continue
        with suppress(CourseError):  # Anything may lie beside a course, such as half a notebook.
            master = _Master(parse_notebook(path))
            problems += [f"{path}, {each}" for each in master.problems]
            if master.is_one and not master.problems:
                _write(master, path.parent, source / path.name)
                wrote.append(source / path.name)
    return wrote, problems


def _write(master: _Master, folder: Path, target: Path) -> None:
    for name in master.files:
        for file in (folder / name, *(folder / name).rglob("*")):
            if file.is_file():
                beside = target.parent / file.relative_to(folder)
                write_atomic(beside, file.read_bytes(), 0o644)
    text = nbformat.writes(nbformat.v4.new_notebook(cells=master.made), version=4)
    write_atomic(target, text.encode(), 0o644)


class _Master:
    """A master notebook.

    Attributes:
        is_one: whether the notebook is a master notebook at all.
        made: the cells of the source notebook.
        files: the files and folders that its settings name.
        problems: a message on each cell that has no counterpart.
    """

    def __init__(self, notebook: NotebookNode) -> None:
        self.is_one, self._is_ok_format, self._number = False, True, 0
        self.made: list[NotebookNode] = []
        self.files: list[str] = []
        self.problems: list[str] = []
        question: tuple[dict[str, Any], list[tuple[str, int, NotebookNode]]] | None = None
        block = ""
        for self._number, cell in _cells(notebook):
            found = _BOUNDARY.match(cell.source) if cell.cell_type == "raw" else None
            kind = found[1].lower() if found else ""
            if kind:
                self.is_one = True
            if kind == "assignment config":
                self._configure(self._settings(cell.source))
            elif kind == "begin question":
                question, block = (self._settings(cell.source), []), "question"
            elif kind == "end question" and question:
                self._add_question(*question)
                question = None
            elif kind:
                block = kind[6:] if kind.startswith("begin") else "question"
            elif question:
                question[1].append((block, self._number, cell))
            elif cell.cell_type == "markdown" and _OLD.search(cell.source):
                self.is_one = True
                self._refuse("is in otter-assign's older form: `python -m otter.assign.v0.convert` "
                             "of otter-grader 4 converts it")  # fmt: skip
            else:
                self._add(cell)
        if question:
            self._refuse("is the last one, and a question has no # END QUESTION")
        language = notebook.metadata.get("kernelspec", {}).get("language") or "python"
        if self.is_one and language.lower() != "python":
            self.problems = [f"written in {language}: only Python is graded here"]

    def _refuse(self, why: str) -> None:
        self.problems.append(f"cell {self._number} {why}")

    def _settings(self, text: str) -> dict[str, Any]:
        try:
            found = yaml.safe_load(text) or {}
        except yaml.YAMLError as error:
            self._refuse(f"holds no YAML: {str(error).splitlines()[0]}")
            return {}
        return found if isinstance(found, dict) else {}

    def _configure(self, settings: dict[str, Any]) -> None:
        tests, generate = settings.get("tests"), settings.get("generate")
        self._is_ok_format = not isinstance(tests, dict) or tests.get("ok_format", True)
        for key in ("files", "student_files", "autograder_files"):
            self.files += settings.get(key) or ()
        if outside := [name for name in self.files if ".." in Path(name).parts]:
            self._refuse(f"names {outside[0]}: put it beside the notebook, or below")
        named = {*settings, *(generate if isinstance(generate, dict) else ())}
        for key, instead in _WITHOUT.items():
            if key in named:
                self._refuse(f"sets {key}, which does nothing here: {instead}, and delete it")

    def _add(self, cell: NotebookNode, source: str | None = None, **marks: Any) -> None:
        """Add a cell to the source notebook, with nbgrader's marks if there are any."""
        if source is not None:
            cell.source = source
        if marks:
            blank = {"schema_version": 3, "grade": False, "solution": False, "task": False}
            cell.metadata["nbgrader"] = {**blank, "locked": not marks.get("solution"), **marks}
        self.made.append(cell)

    def _add_question(
        self, settings: dict[str, Any], cells: Sequence[tuple[str, int, NotebookNode]]
    ) -> None:
        name = re.sub(r"[^\w-]+", "_", str(settings.get("name") or ""))
        if not name:
            self._refuse("ends a question without a name")
        tests = [self._test(number, cell) for block, number, cell in cells if block == "tests"]
        by_hand = bool(settings.get("manual")) and not tests
        answers, total = 0, settings.get("points")
        for block, self._number, cell in cells:
            is_code = cell.cell_type == "code"
            source = self._solution(cell.source) if is_code else cell.source
            if block == "solution" and (source != cell.source or not is_code):
                answers += 1
                points = {"grade": True, "points": 1 if total is None else total}
                if is_code or by_hand:
                    self._add(cell, source, solution=True,
                              grade_id=name if answers == 1 else f"{name}_{answers}",
                              **(points if by_hand and answers == 1 else {}))  # fmt: skip
                else:
                    self._add(cell, "_Type your answer here, replacing this text._")
            elif block != "tests":
                self._add(cell)
        if by_hand and not answers:
            self._refuse(f"ends {name}, which a person marks, and no cell of it is a solution")
        if settings.get("all_or_nothing"):
            each = [points for _, points, _ in tests]
            whole = "\n".join(source for source, *_ in tests)
            tests = [(whole, sum(_points(total, each)), tests[0][2])] if tests else []
            total = None
        shares = _points(total, [points for _, points, _ in tests])
        for place, ((source, _, cell), share) in enumerate(zip(tests, shares, strict=True), 1):
            grade_id = f"test_{name}" if len(tests) == 1 else f"test_{name}_{place}"
            self._add(cell, source, grade=True, points=share, grade_id=grade_id)

    def _solution(self, source: str) -> str:
        """Return an answer with nbgrader's marks in place of otter's. What students see in place of
        the lines between marks is a comment, since the source runs it, too."""
        if re.search(r"# (?:SEED|BEGIN PLUGIN)\s*$", source, re.MULTILINE):
            self._refuse("has a line `# SEED` or a plugin: set the seed in a cell of its own in "
                         "front of the question, and take plugins out")  # fmt: skip
        source = _PROMPT.sub(
            lambda found: indent(found[3], f"{found[1]}# ").replace("# #", "#"), source
        )
        lines: list[str] = []
        for line in source.splitlines():
            space = line[: len(line) - len(line.lstrip())]
            mark = _MARKED.fullmatch(line)
            if not mark:
                lines.append(line)
            elif mark[2] == "SOLUTION":
                target = re.match(r"\s*([^=()]+?) *=(?!=)", mark[1])
                shown = [f"{space}# {target[1]} = ..."] if target else []
                lines += [*shown, f"{space}{_BEGIN}", mark[1], f"{space}{_END}"]
            else:
                lines.append(f"{space}{_BEGIN if mark[2].startswith('BEGIN') else _END}")
        return "\n".join(lines)

    def _test(self, number: int, cell: NotebookNode) -> tuple[str, float | None, NotebookNode]:
        """Return the source of a test cell, and its points, if it names any."""
        self._number, source = number, cell.source
        first, _, rest = source.partition("\n")
        is_hidden = first.lstrip().startswith("#") and bool(re.search(r"\bhidden\b", first, re.I))
        source = rest if is_hidden else source
        settings = {}
        if config := _CONFIG.match(source):
            settings, source = self._settings(config[2]), source[config.end() :]
        try:
            body = ast.parse(source).body
        except SyntaxError as error:
            body = []
            self._refuse(f"is a test that Python cannot read: {error}")
        if body and self._is_ok_format:
            source = self._compared(source, body, cell)
        elif body and isinstance(body[0], ast.FunctionDef):
            names = [each.arg for each in body[0].args.args]
            values = ", ".join("globals()" if each == "env" else each for each in names)
            source = f"{source.rstrip()}\n\n{body[0].name}({values})"
        elif body:
            self._refuse("is no test function, as `ok_format: false` wants")
        is_hidden = settings.get("hidden", is_hidden)
        return _HIDDEN.format(source) if is_hidden else source, settings.get("points"), cell

    def _compared(self, source: str, body: list[ast.stmt], cell: NotebookNode) -> str:
        """Return a test that compares what its cell shows with what the master notebook shows."""
        *before, last = body
        outputs = cell.outputs
        data = [each.get("text") or each.get("data", {}).get("text/plain", "") for each in outputs]
        shown = "".join(data).rstrip()
        if not shown:
            if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call | ast.Constant):
                self._refuse("is a test that shows nothing: run the notebook, save it, and run "
                             "this again, since otter compares what tests show")  # fmt: skip
            return source
        is_value = isinstance(last, ast.Expr)
        value = ast.unparse(last.value) if isinstance(last, ast.Expr) else ""
        if is_value and not any(each.output_type == "stream" for each in outputs):
            lines = source.splitlines()[: last.lineno - 1]
            test = f"({value}) == True" if shown in _TRUE else f"repr({value}) == {shown!r}"
            return "\n".join([*lines, f"assert {test}"])
        if is_value and not value.startswith("print("):
            before.append(ast.parse(f"print(repr({value}))").body[0])
        else:
            before.append(last)
        text = "\n".join(map(ast.unparse, before))
        return _PRINTED.format(indent(text, "    "), shown)


def _cells(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    """Yield the numbered cells; in place of a text with fenced marks, its parts. Ignored cells and
    lines are left out."""
    for number, cell in enumerate(notebook.cells, 1):
        if _IGNORED.match(cell.source):
            continue
        parts = _FENCED.split(cell.source) if cell.cell_type == "markdown" else []
        if len(parts) < 2:
            if cell.cell_type == "code":
                cell.source = _IGNORED_LINES.sub("", cell.source)
            yield number, cell
            continue
        for place, text in enumerate(parts):
            if text.strip():
                make = nbformat.v4.new_raw_cell if place % 2 else nbformat.v4.new_markdown_cell
                yield number, make(text.strip("\n"))


def _points(total: Any, each: Sequence[float | None]) -> list[float]:
    """Return the points of each test case as otter shares them out.

    Args:
        total: the question's points: a number, a list of numbers, `{"each": number}`, or None.
        each: what the cases name themselves.
    """
    if isinstance(total, dict):
        total = total.get("each", 1) * len(each)
    if isinstance(total, list):
        total, each = None, total
    given = [points for points in each if points is not None]
    rest = (1.0 if not any(given) else 0.0) if total is None else total - sum(given)
    share = rest / max(1, len(each) - len(given))
    return [share if points is None else points for points in each]
