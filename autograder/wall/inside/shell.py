"""Runs notebook cells as a Jupyter kernel would, and keeps their outputs."""

from __future__ import annotations

import ast
import io
import math
import sys
import warnings
from hashlib import blake2b
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.history import HistoryManager
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type

_TRUNCATED = "\n[The rest of this output was dropped: it went on for over {} kB.]\n"


class Outputs:
    """The outputs of the running cell, in nbformat's form, bounded in size.

    Attributes:
        most: bytes that one cell may show before the rest is dropped.
        names: folders that differ from run to run, and the names shown for them.
    """

    def __init__(self) -> None:
        self.most = 1_000_000
        self.names: dict[str, str] = {}
        self.start()

    def start(self) -> None:
        self._items: list[dict[str, Any]] = []
        self._room = self.most

    def take(self) -> list[dict[str, Any]]:
        """Return the outputs so far, streams joined."""
        for item in self._items:
            if item["output_type"] == "stream":
                item["text"] = "".join(item["text"])
        return self._items

    def write(self, name: str, text: str) -> None:
        if self._room <= 0:
            return
        text = self._renamed(text)
        if len(text) > self._room:
            text = text[: self._room] + self._cut()
            self._room = 0
        else:
            # A tiny write costs more than its text to keep.
            self._room -= len(text) + 8
        last = self._items[-1] if self._items else None
        if last and last["output_type"] == "stream" and last["name"] == name:
            last["text"].append(text)
        else:
            self._items.append({"output_type": "stream", "name": name, "text": [text]})

    def show(self, kind: str, data: Any, metadata: Any, **more: Any) -> None:
        data = {str(key): self._renamed(each) for key, each in data.items() if _is_json(each)}
        self._room -= 200 + sum(len(v) if isinstance(v, str) else 2000 for v in data.values())
        if self._room <= 0:
            self.write("stderr", self._cut())
            if kind != "execute_result" or type(data.get("text/plain")) is not str:
                return
            # A test cell is judged by its result, so the beginning is kept.
            data = {"text/plain": data["text/plain"][:200]}
        metadata = metadata if _is_json(metadata) else {}
        item = {"output_type": kind, "data": data, "metadata": metadata or {}, **more}
        self._items.append(item)

    def update(self, display_id: str, data: Any, metadata: Any) -> None:
        for item in self._items:
            if item.get("transient") == display_id:
                item["data"], item["metadata"] = data, metadata or {}

    def fail(self, name: str, value: str, lines: list[str]) -> None:
        text = [self._renamed(line[:20_000]) for line in lines[:200]]
        value = self._renamed(value[:20_000])
        self._items.append(
            {"output_type": "error", "ename": name, "evalue": value, "traceback": text}
        )

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, str):
            for folder, name in self.names.items():
                value = value.replace(folder, name)
        return value

    def _cut(self) -> str:
        return _TRUNCATED.format(self.most // 1000)

    def clear(self) -> None:
        self._items.clear()


def _is_json(value: Any, depth: int = 0) -> bool:
    if value is None or type(value) in (str, int, bool):
        return True
    if type(value) is float:
        return math.isfinite(value)
    if depth > 20:
        return False
    if type(value) is list:
        return all(_is_json(item, depth + 1) for item in value)
    if type(value) is dict:
        return all(type(k) is str and _is_json(v, depth + 1) for k, v in value.items())
    return False


class _Stream(io.TextIOBase):
    """A standard stream that writes into the running cell's outputs."""

    encoding = "utf-8"

    def __init__(self, name: str, outputs: Outputs) -> None:
        self.name = name
        self._outputs = outputs

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._outputs.write(self.name, str(text))
        return len(text)


class _Publisher(DisplayPublisher):
    outputs: Outputs

    def publish(  # type: ignore[no-untyped-def]
        self, data, metadata=None, source=None, *, transient=None, update=False, **_ignored
    ) -> None:
        display_id = (transient or {}).get("display_id")
        if update:
            self.outputs.update(str(display_id), data, metadata)
        elif display_id is None:
            self.outputs.show("display_data", data, metadata)
        else:
            self.outputs.show("display_data", data, metadata, transient=str(display_id))

    def clear_output(self, wait: bool = False) -> None:
        self.outputs.clear()


class _Hook(DisplayHook):
    outputs: Outputs

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        count = self.prompt_count
        self.outputs.show("execute_result", format_dict, md_dict, execution_count=count)

    def finish_displayhook(self) -> None:
        pass


class _Compiler(CachingCompiler):
    """Parses a cell once, and names it without OpenSSL."""

    _last: tuple[str, ast.AST] | None = None

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        """Return the file name of a cell in tracebacks."""
        # IPython's own uses OpenSSL, and loading that takes as long as the cell.
        digest = blake2b(raw_code.encode(), digest_size=6).hexdigest()
        return f"<ipython-input-{number}-{digest}>"

    def ast_parse(self, source: str, filename: str = "<unknown>", symbol: str = "exec") -> ast.AST:
        last, self._last = self._last, None
        if last is None or last[0] != source:
            last = source, super().ast_parse(source, filename, symbol)
        return last[1]

    def parse_ahead(self, source: str) -> ast.AST:
        """Parse a cell that will be compiled next. Raises the errors of parsing."""
        if self._last is None or self._last[0] != source:
            with warnings.catch_warnings(action="ignore"):  # the cell's run shows them
                self._last = source, super().ast_parse(source)
        return self._last[1]


class _History(HistoryManager):
    """The inputs of a session, in memory alone."""

    # IPython makes traits of them, which take longer to set than all the rest.
    _i00 = _i = _ii = _iii = ""


class Shell(InteractiveShell):
    """An IPython shell whose displays, streams and tracebacks become notebook outputs."""

    compiler_class = Type(_Compiler)
    compile: _Compiler
    _is_running = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.outputs = Outputs()
        for part in (self.display_pub, self.displayhook):
            setattr(part, "outputs", self.outputs)  # noqa: B010 (IPython makes the parts)

    def init_history(self) -> None:
        self.config.HistoryManager.enabled = False
        self.history_manager = _History(shell=self, parent=self)
        self.configurables.append(self.history_manager)  # type: ignore[arg-type]

    def _format_exception_for_storage(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {}  # The history is not stored, and to format a traceback takes long.

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing for `%matplotlib inline`: there is no window to draw in."""

    def transform_cell(self, raw_cell: str) -> str:
        """Skip IPython's magic transform, which is slow, for cells that parse as Python."""
        try:
            self.compile.parse_ahead(raw_cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return str(super().transform_cell(raw_cell))
        return raw_cell

    def should_run_async(self, raw_cell: str, **options: Any) -> bool:
        if "await" not in raw_cell and "async" not in raw_cell:
            return False
        return bool(super().should_run_async(raw_cell, **options))

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        lines = stb if isinstance(stb, list) else [str(stb)]
        self.outputs.fail(getattr(etype, "__name__", "Error"), _text(evalue), lines)

    def interrupt(self, *_: object) -> None:
        """Handle SIGINT: raise `KeyboardInterrupt` if a cell is running."""
        __tracebackhide__ = True
        if self._is_running:
            self._is_running = False
            raise KeyboardInterrupt

    def run_one_cell(self, source: str, until: int = 0) -> dict[str, Any]:
        """Run a cell.

        Args:
            until: the line, counted from 1, of the first statement to leave out; 0 to run all.

        Returns:
            Its `outputs`, its `execution_count`, the class name of its `error`, and the lines in
            which a KeyboardInterrupt `stopped` it: of the cell's statement, and of the innermost
            call of a function of the cell.
        """
        if until:
            source = _statements_before(source, until)
        self.outputs.start()
        count = self.execution_count
        streams = sys.stdout, sys.stderr
        sys.stdout = _Stream("stdout", self.outputs)
        sys.stderr = _Stream("stderr", self.outputs)
        error: BaseException | None
        try:
            self._is_running = True
            result = self.run_cell(source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
        except KeyboardInterrupt as interrupt:
            # The interrupt came while IPython itself was at work.
            error = interrupt
        finally:
            self._is_running = False
            sys.stdout, sys.stderr = streams
        outputs = self.outputs.take()
        for item in outputs:
            item.pop("transient", None)
        return {
            "outputs": outputs,
            "execution_count": count,
            "error": None if error is None else type(error).__name__[:80],
            "stopped": _lines_of(error) if isinstance(error, KeyboardInterrupt) else [],
        }


def _lines_of(error: BaseException) -> list[int]:
    """Return the lines in which the error left the cell's statement and its innermost function."""
    lines, name = [], ""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        name = name or (file if file.startswith("<ipython-input-") else "")
        if name and file == name:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return [lines[0], lines[-1]] if lines else [1, 1]


def _statements_before(source: str, line: int) -> str:
    """Return the statements of a cell before the one that `line` is in."""
    lines = source.splitlines(keepends=True)
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # A cell with magics.
        return "".join(lines[: line - 1])
    for each in body:
        if (each.end_lineno or 0) >= line:
            first = min(part.lineno for part in (each, *getattr(each, "decorator_list", ())))
            return "".join([*lines[: first - 1], lines[first - 1][: each.col_offset]])
    return source


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"


def warm_shell() -> Shell:
    """Return a shell in the state of a fresh kernel's.

    A notebook that plots imports matplotlib in its own process: with it in memory, every process
    would take twice as long to fork, and the graded cells of the course do not plot.
    """
    shell: Shell = Shell.instance(
        display_pub_class=_Publisher, displayhook_class=_Hook, colors="nocolor", xmode="Context"
    )
    return shell


def forget(shell: Shell) -> None:
    """Remove all traces of the cells that were run so far."""
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):
            delattr(sys, name)
    shell.reset(new_session=True)
