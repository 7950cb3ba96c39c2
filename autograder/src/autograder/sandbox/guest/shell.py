"""Runs notebook cells as a Jupyter kernel does, and collects their outputs."""

from __future__ import annotations

import ast
import asyncio
import io
import marshal
import math
import os
import sys
import warnings
from collections.abc import Coroutine
from contextlib import suppress
from contextvars import copy_context
from hashlib import blake2b
from inspect import CO_COROUTINE
from types import CodeType, ModuleType
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.history import HistoryManager
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.process import system  # type: ignore[attr-defined]
from traitlets import Type

_BETWEEN_CELLS = 0.01
"""Seconds for which tasks that a cell has left in the event loop run before the next cell."""
STREAMS = {"stdout": 1, "stderr": 2}
"""The descriptors of the standard streams, by name."""
_TRUNCATED = "\n[The rest of this output was dropped: it went on for over {} kB.]\n"


class Outputs:
    """The outputs of the running cell, in nbformat's form and of limited size.

    Attributes:
        most: the greatest number of characters of one cell's output; the rest is dropped.
        names: by the path of a folder that varies from run to run, the path that is shown for it.
        files: by the name of a standard stream, the descriptor of a file to which programs that a
            cell starts write.
    """

    def __init__(self) -> None:
        self.most = 1_000_000
        self.names: dict[str, str] = {}
        self.files: dict[str, int] = {}
        self.start()

    def start(self) -> None:
        self._items: list[dict[str, Any]] = []
        self._room = self.most

    def take(self) -> list[dict[str, Any]]:
        """Return the outputs so far. Successive writes to a stream are one output."""
        self._collect()
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
            # Each write also counts as 8 characters, since the object of a short text takes more
            # memory than its characters.
            self._room -= len(text) + 8
        last = self._items[-1] if self._items else None
        if last and last["output_type"] == "stream" and last["name"] == name:
            last["text"].append(text)
        else:
            self._items.append({"output_type": "stream", "name": name, "text": [text]})

    def show(self, kind: str, data: Any, metadata: Any, **more: Any) -> None:
        self._collect()
        data = {str(key): self._renamed(each) for key, each in data.items() if _is_json(each)}
        self._room -= 200 + sum(len(v) if isinstance(v, str) else 2000 for v in data.values())
        if self._room <= 0:
            self.write("stderr", self._cut())
            if kind != "execute_result" or type(data.get("text/plain")) is not str:
                return
            # The beginning of a result is kept, since the result of a test cell gives the points.
            data = {"text/plain": data["text/plain"][:200]}
        metadata = metadata if _is_json(metadata) else {}
        item = {"output_type": kind, "data": data, "metadata": metadata or {}, **more}
        self._items.append(item)

    def _collect(self) -> None:
        """Add what programs that the cell has started wrote to the standard streams."""
        for name, descriptor in self.files.items():
            with suppress(OSError):
                if os.fstat(descriptor).st_size:
                    written = os.pread(descriptor, self.most, 0)
                    os.ftruncate(descriptor, 0)
                    self.write(name, written.decode(errors="replace"))

    def update(self, display_id: str, data: Any, metadata: Any) -> None:
        for item in self._items:
            if item.get("transient") == display_id:
                item["data"], item["metadata"] = data, metadata or {}

    def fail(self, name: str, value: str, lines: list[str]) -> None:
        self._collect()
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
        self._process = os.getpid()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return STREAMS[self.name]

    def write(self, text: str) -> int:
        if os.getpid() == self._process:
            self._outputs.write(self.name, str(text))
        else:  # A process that the cell has forked.
            os.write(self.fileno(), str(text).encode(errors="replace"))
        return len(text)


class _Publisher(DisplayPublisher):
    """Collects what `display` shows."""

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
    """Collects the value of a cell's last expression."""

    outputs: Outputs

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        count = self.prompt_count
        self.outputs.show("execute_result", format_dict, md_dict, execution_count=count)

    def finish_displayhook(self) -> None:
        pass


class _Compiler(CachingCompiler):
    """Parses each cell only once, and names cells without loading OpenSSL."""

    _last: tuple[str, ast.AST] | None = None

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        """Return the file name of a cell in tracebacks."""
        # IPython would hash by OpenSSL, and to load OpenSSL takes longer than most cells.
        digest = blake2b(raw_code.encode(), digest_size=6).hexdigest()
        return f"<ipython-input-{number}-{digest}>"

    def ast_parse(self, source: str, filename: str = "<unknown>", symbol: str = "exec") -> ast.AST:
        last, self._last = self._last, None
        if last is None or last[0] != source:
            last = source, super().ast_parse(source, filename, symbol)
        return last[1]

    def parse_ahead(self, source: str) -> ast.AST:
        """Parse the cell that is compiled next, and keep the result for `ast_parse`.

        Raises what `ast.parse` raises.
        """
        if self._last is None or self._last[0] != source:
            # Warnings are shown when the cell is run.
            with warnings.catch_warnings(action="ignore"):
                self._last = source, super().ast_parse(source)
        return self._last[1]


class _History(HistoryManager):
    """A history that is kept only in memory."""

    # Plain attributes: in IPython these are traits, and to set traits takes longer than the rest of
    # the history.
    _i00 = _i = _ii = _iii = ""


class Shell(InteractiveShell):
    """An IPython shell that collects displays, streams and tracebacks as notebook outputs.

    Attributes:
        outputs: the outputs of the running cell.
        context: the context variables of all cells, such as the precision of `decimal`.
    """

    compiler_class = Type(_Compiler)
    compile: _Compiler
    _given: CodeType | None = None
    _is_running = False
    _loop: asyncio.AbstractEventLoop | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.outputs = Outputs()
        self.context = copy_context()
        self.loop_runner = self._run_in_loop
        for part in (self.display_pub, self.displayhook):
            setattr(part, "outputs", self.outputs)  # noqa: B010 (IPython makes the parts)

    def init_history(self) -> None:
        self.config.HistoryManager.enabled = False
        self.history_manager = _History(shell=self, parent=self)
        self.configurables.append(self.history_manager)  # type: ignore[arg-type]

    def _format_exception_for_storage(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {}  # Nobody reads the history, and to format a traceback is slow.

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing, for `%matplotlib inline`: there is no window in which to draw."""

    def system(self, cmd: str) -> None:
        """Run a line `!command`, which raises nothing in a kernel: neither does it here, where the
        sandbox may start no program."""
        try:
            code = system(self.var_expand(cmd, depth=1))
        except OSError:
            print(f"The sandbox starts no program here: `{cmd}` was not run.")
            code = 127  # As in a shell that does not find the program.
        self.user_ns["_exit_code"] = code

    def transform_cell(self, raw_cell: str) -> str:
        """Return a cell as Python code. IPython's slow transformation of magics is skipped for a
        cell that is plain Python."""
        try:
            self.compile.parse_ahead(raw_cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return str(super().transform_cell(raw_cell))
        return raw_cell

    async def run_ast_nodes(self, nodelist: Any, cell_name: str, **options: Any) -> Any:  # type: ignore[override]
        """Run a cell's statements, or the compiled code that runs in their place."""
        given, self._given = self._given, None
        if given is None:
            return await super().run_ast_nodes(nodelist, cell_name, **options)
        result = options.get("result")
        return await self.run_code(_in_file(given, cell_name), result, async_=_is_async(given))

    def should_run_async(self, raw_cell: str, **options: Any) -> bool:
        """Return True for a cell of the notebook, which sees a running event loop as in a kernel.
        Code that a cell gives to IPython is run as IPython runs it."""
        is_inside = asyncio._get_running_loop() is not None
        return not is_inside or bool(super().should_run_async(raw_cell, **options))

    def _run_in_loop(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the event loop of this process, and then the tasks that it started,
        for as long as the next cell of a notebook may take to arrive."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        task = self._loop.create_task(coroutine, context=self.context)
        try:
            result = self._loop.run_until_complete(task)
        except KeyboardInterrupt:
            # It came while the cell waited: the cell is stopped at its `await`.
            task.cancel()
            result = self._loop.run_until_complete(task)
        if asyncio.all_tasks(self._loop):
            self._loop.run_until_complete(asyncio.sleep(_BETWEEN_CELLS))
        return result

    def close_loop(self) -> None:
        """Close the event loop: a forked process needs one of its own."""
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        lines = stb if isinstance(stb, list) else [str(stb)]
        self.outputs.fail(getattr(etype, "__name__", "Error"), _text(evalue), lines)

    def interrupt(self, *_: object) -> None:
        """Handle SIGINT: raise `KeyboardInterrupt` if a cell is running."""
        __tracebackhide__ = True
        if self._is_running:
            self._is_running = False
            raise KeyboardInterrupt

    def run_one_cell(self, source: str, until: int = 0, given: str = "") -> dict[str, Any]:
        """Run a cell.

        Args:
            until: a line number, counted from 1: only the statements before the one with this line
                run. 0 to run all statements.
            given: compiled code that runs in place of the cell, marshalled and as hexadecimal text;
                "" to run the cell. Input history, line cache and hooks see `source` in any case.

        Returns:
            A dict with the cell's `outputs`, its `execution_count`, `error`, the class name of the
            error that it raised, or None, and `stopped`. After an interrupt, `stopped` has two line
            numbers: that of the cell's statement, and that in the innermost function that
            the cell defines.
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
            self._given = marshal.loads(bytes.fromhex(given)) if given else None
            result = self.run_cell(source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
            # If `run_ast_nodes` was not reached, since `source` is empty or has a syntax error, the
            # compiled code has not run yet.
            if (code := self._given) is not None:
                self.loop_runner(self.run_code(code, async_=_is_async(code)))
        except KeyboardInterrupt as interrupt:
            # The interrupt came in code of IPython, outside the cell.
            error = interrupt
        finally:
            is_stopped, self._is_running = not self._is_running, False
            self._given = None
            sys.stdout, sys.stderr = streams
        outputs = self.outputs.take()
        for item in outputs:
            item.pop("transient", None)
        return {
            "outputs": outputs,
            "execution_count": count,
            "error": None if error is None else type(error).__name__[:80],
            "stopped": _lines_of(error) if error and is_stopped else [],
        }


def _is_async(code: CodeType) -> bool:
    return bool(code.co_flags & CO_COROUTINE)


def _in_file(code: CodeType, name: str) -> CodeType:
    """Return a code object with the file name `name`, in nested code objects, too."""
    inner = (_in_file(each, name) if type(each) is CodeType else each for each in code.co_consts)
    return code.replace(co_filename=name, co_consts=tuple(inner))


def _lines_of(error: BaseException) -> list[int]:
    """Return two line numbers of a cell from an error's traceback: that of the cell's statement,
    and that in the innermost function of the cell. Without such lines, return 1 and 1."""
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
    """Return the part of a cell's source before the statement that contains `line`."""
    lines = source.splitlines(keepends=True)
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # The cell has magics.
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


def start_shell() -> Shell:
    """Return a shell in the state of a fresh kernel.

    matplotlib is not imported here: with matplotlib in memory, a fork takes twice as long, and few
    notebooks plot in graded cells.
    """
    shell: Shell = Shell.instance(
        display_pub_class=_Publisher, displayhook_class=_Hook, colors="nocolor", xmode="Context"
    )
    return shell


def reset(shell: Shell) -> None:
    """Remove from a shell all traces of the cells that have run."""
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):
            delattr(sys, name)
    shell.reset(new_session=True)
    # As in a kernel's `__main__`: `multiprocessing` reads these, and `reset` has removed them.
    shell.user_ns |= vars(ModuleType("__main__", shell.user_module.__doc__))
    shell.close_loop()
