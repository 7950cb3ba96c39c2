"""Submissions that try to use up the grader's memory or time: files that are expensive to read, and
cells with huge outputs.

Each function in `FILES` makes a submitted file from an honest notebook's JSON. `CELLS` are code
cells that are inserted at the beginning of an honest notebook.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

MB = 1_000_000


def _with(honest: str, *cells: dict[str, Any], **more: Any) -> bytes:
    """Return the honest notebook with these cells appended, and with these keys at the top level of
    its JSON."""
    notebook = json.loads(honest)
    notebook["cells"] += cells
    return json.dumps({**notebook, **more}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _code(source: Any = "", outputs: Any = (), **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": outputs,
            "execution_count": None, **more}  # fmt: skip


def _text(source: Any = "", **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source, **more}


def _shown(kind: str, content: Any) -> dict[str, Any]:
    """Return a cell that the grader does not run, with an output of this MIME type."""
    display = {"output_type": "display_data", "data": {kind: content}, "metadata": {}}
    return _code("", [display], metadata={"tags": ["demonstration"]})


def _in_metadata(value: str) -> Callable[[str], bytes]:
    """Return a function that adds the key `more` with this JSON value to an honest notebook."""
    return lambda honest: f'{{"more": {value}, {honest.lstrip()[1:]}'.encode()


def _cells(*cells: dict[str, Any]) -> Callable[[str], bytes]:
    return lambda honest: _with(honest, *cells)


def _no_json(text: str) -> Callable[[str], bytes]:
    return lambda honest: text.encode()


FILES: dict[str, Callable[[], Callable[[str], bytes]]] = {
    "heads of a script": lambda: _no_json("# %%\n" * (10 * MB // 5)),
    "paragraphs of a script": lambda: _no_json("# %%\n" + "a\n\n" * (10 * MB // 3)),
    "comments of a script": lambda: _no_json("# %%\na\n\n" + "#\n\n" * (10 * MB // 3)),
    "a long comment of a script": lambda: _no_json("# %%\na\n\n" + "#\n" * (5 * MB)),
    "starts of cells around numbers": lambda: _no_json(
        '{"source":' * 960 + "[" + "1.25e1," * (2 * MB // 7)
    ),
    "starts of cells around a text without end": lambda: _no_json(
        '{"source":' * 960 + '"' + "x" * (40 * MB)
    ),
    "starts of cells before nesting": lambda: _no_json(
        ('{"source":[' + "1," * 5000 + "[" * 5000) * 200
    ),
    "objects": lambda: _in_metadata("[" + '{"a":1},' * (12 * MB // 8) + "0]"),
    "lists": lambda: _in_metadata("[" + "[]," * MB + "0]"),
    "short texts": lambda: _in_metadata("[" + '"ab",' * (28 * MB // 10) + "0]"),
    "names": lambda: _in_metadata(
        "{" + ",".join(f'"{number:x}":0' for number in range(28 * MB // 10)) + "}"
    ),
    "numbers of many digits": lambda: _in_metadata("[" + ("9" * 4300 + ",") * 10_000 + "0]"),
    "a number of a million places": lambda: _in_metadata("[1." + "1" * (40 * MB) + "]"),
    "one wide sign in a long text": lambda: _in_metadata('"' + "x" * (48 * MB) + '\U0001f600"'),
    "one wide sign, escaped": lambda: _in_metadata('"' + "x" * (48 * MB) + '\\ud83d\\ude00"'),
    "many wide signs": lambda: _in_metadata('"' + "\U0001f600" * (12 * MB) + '"'),
    "no encoding": lambda: lambda honest: b"\xff" + b"x\x81" * (24 * MB),
    "UTF-16": lambda: lambda honest: ("\ufeff" + "\U0001f600" + "x" * (24 * MB)).encode("utf-16"),
    "white space": lambda: lambda honest: b" " * (27 * MB) + honest.encode(),
    "brackets": lambda: _no_json("[" * (48 * MB)),
    "a long code cell": lambda: _cells(_code("x = '" + "y" * (27 * MB) + "'")),
    "words in a text": lambda: _cells(_text("a " * (13 * MB))),
    "words in a code cell": lambda: _cells(_code("a " * (13 * MB))),
    "a text of lines": lambda: _cells(_text(["ab\n"] * MB)),
    "many long cells": lambda: _cells(*[_code(f"{i} # " + "x" * 10_000) for i in range(2500)]),
    "cells of short names": lambda: _cells(
        *[_code(f"a{i} = 0\n" + "b=0\n" * 4900) for i in range(1100)]
    ),
    "long cells of names": lambda: _cells(
        *[_code("".join(f"b{i:x}{j:x}=0\n" for j in range(20_000))) for i in range(110)]
    ),
    "cells that go on with a long one": lambda: _cells(
        _code("x = '" + "y" * (20 * MB)), *[_code("  y")] * 2500
    ),
    "cells that go on with what is no Python": lambda: _cells(
        *[_code("(" * 90 + "x = 1\n" * 800), _code("  y")] * 1400
    ),
    "cells that go on with what is Python": lambda: _cells(
        *[_code("if x:\n" + " y=(((1)))\n" * 400), _code("  y")] * 1400
    ),
    "cells without number": lambda: _cells(*[_code()] * 60_000),
    "tags": lambda: _cells(_code(metadata={"tags": ["x" * 90] * 250_000})),
    "marks": lambda: _cells(
        _code(metadata={"nbgrader": {f"{'x' * 90}{i}": "y" * 900 for i in range(20_000)}})
    ),
    "an attachment": lambda: _cells(
        _text("![x](attachment:x.png)", attachments={"x.png": {"image/png": "A" * (27 * MB)}})
    ),
    "attachments of words": lambda: _cells(
        _text("![x](attachment:x.png)", attachments={"x.png": {"image/png": "AAA " * (6 * MB)}})
    ),
    "attachments": lambda: _cells(
        _text("x", attachments={f"{i}.png": {"image/png": "AAAA"} for i in range(200_000)})
    ),
    "pictures": lambda: _cells(*[_shown("image/png", "AAAA" * (MB // 4))] * 26),
    "pictures in words": lambda: _cells(_shown("image/png", "AAA " * (6 * MB))),
    "pages": lambda: _cells(*[_shown("text/html", "<b>x</b>" * 1200)] * 2000),
    "nested pages": lambda: _cells(*[_shown("text/html", "<div>" * 4900)] * 1000),
    "drawings": lambda: _cells(
        *[_shown("image/svg+xml", "<svg>" + "<g/>" * 40_000 + "</svg>")] * 160
    ),
    "drawings in a page": lambda: _cells(
        *[_shown("text/html", "<svg><g/></svg>" * 240)] * 2500
    ),
    "data": lambda: _cells(
        *[_shown("application/json", {"a": [{"b": 1}] * 100})] * 2000
    ),
    "kinds of data": lambda: _cells(
        _code("", [{"output_type": "display_data", "metadata": {},
                    "data": {f"text/{i}": "x" for i in range(300_000)}}],
              metadata={"tags": ["demonstration"]})
    ),
    "small outputs in the file": lambda: _cells(
        *[_code("", [{"output_type": "stream", "name": "stdout", "text": "x"}] * 200,
                metadata={"tags": ["demonstration"]})] * 500
    ),
    "formulas": lambda: _cells(*[_text("$x^2$ " * 3000)] * 1400),
    "formulas without end": lambda: _cells(*[_text("\\\\(" * 6600)] * 600),
}  # fmt: skip

CONNECTION = """
import gc, struct
from guest.session import Session
connection = next(o for o in gc.get_objects() if isinstance(o, Session))._connection._socket
body = (
    '{"outputs": [{"output_type": "display_data", "metadata": {}, "data": {"text/plain": "%s"}}],'
    ' "execution_count": 1, "error": null, "stopped": []}'
)
def say(text):
    text = text.encode()
    connection.sendall(struct.pack(">I", len(text)) + text)
"""
_DISPLAY = "from IPython.display import display\n"
CELLS: dict[str, list[str]] = {
    "a full output in every cell": ["print('x' * 999_000)"] * 300,
    "a full output of wide signs": ["print('\\U0001f600' * 900_000)"] * 60,
    "a full output of control signs": ["print('\\x01' * 900_000)"] * 60,
    "a full output of signs that pages escape": ["print('&' * 990_000)"] * 60,
    "a full output of brackets": ["print('<' * 990_000)"] * 60,
    "colours": ["print('\\x1b[31mx' * 120_000)"] * 20,
    "many small displays": [
        _DISPLAY + "for i in range(4000): display({'text/plain': 'x'}, raw=True)"
    ]
    * 200,
    "outputs by turns": [
        "import sys\nfor i in range(40_000): print('x', file=(sys.stdout, sys.stderr)[i % 2])"
    ]
    * 60,
    "pages": [_DISPLAY + "display({'text/html': '<b>x</b>' * 1200}, raw=True)"] * 400,
    "nested pages": [_DISPLAY + "display({'text/html': '<div>' * 4900}, raw=True)"] * 400,
    "nested tables": [_DISPLAY + "display({'text/html': '<table><td>' * 2400}, raw=True)"] * 200,
    "open formatting": [_DISPLAY + "display({'text/html': '<p><b><i>' * 1600}, raw=True)"] * 200,
    "a page of signs": [_DISPLAY + "display({'text/html': '&<' * 400_000}, raw=True)"] * 30,
    "a page of words": [_DISPLAY + "display({'text/html': '<p ' + 'a ' * 9_000}, raw=True)"] * 200,
    "a page of pictures": [
        _DISPLAY + "p = '<img src=\"data:image/png;base64,' + 'A' * 900_000 + '\">'\n"
        "display({'text/html': p}, raw=True)"
    ]
    * 30,
    "drawings": [
        _DISPLAY + "display({'image/svg+xml': '<svg>' + '<g/>' * 45_000 + '</svg>'}, raw=True)"
    ]
    * 60,
    "drawings in a page": [_DISPLAY + "display({'text/html': '<svg><g/></svg>' * 240}, raw=True)"]
    * 200,
    "long drawings in a page": [
        _DISPLAY + "display({'text/html': ('<svg>' + '<g/>' * 1000 + '</svg>') * 200}, raw=True)"
    ]
    * 60,
    "pictures in words": [_DISPLAY + "display({'image/png': 'AAA ' * 240_000}, raw=True)"] * 60,
    "Markdown": [_DISPLAY + "display({'text/markdown': '$x$ ' * 4900}, raw=True)"] * 200,
    "updates of a display": [
        _DISPLAY + "shown = display({'text/plain': 'x'}, raw=True, display_id='x')\n"
        "display({'text/plain': 'x' * 7_000_000}, raw=True, display_id='x', update=True)"
    ]
    * 60,
    "data": [
        _DISPLAY + "shown = display({'text/plain': 'x'}, raw=True, display_id='x')\n"
        "display({'application/json': [{'a': 1}] * 400_000}, raw=True, display_id='x', update=True)"
    ]
    * 20,
    "metadata": [
        _DISPLAY + "display({'text/plain': 'x'}, raw=True, metadata={'x': 'y' * 7_000_000})"
    ]
    * 20,
    "kinds of data": [_DISPLAY + "display({f'a/{i}': 'x' for i in range(490)}, raw=True)"] * 100,
    "errors": ["raise ValueError('x' * 1_000_000)"] * 300,
    "errors with long tracebacks": [
        "class E(Exception):\n"
        "    def _render_traceback_(self): return ['x' * 20_000] * 200\n"
        "raise E"
    ]
    * 60,
    "lines of a traceback": ["def f(n): 1 / 0 if n == 0 else f(n - 1)\nf(150)"] * 200,
}

_OBJECTS = '\'"}, "x": [\' + \'{"a":1},\' * 480_000 + \'0], "y": {"z": "\''
_KEYS = '\'"}, "x": {\' + \',\'.join(\'"%x":0\' % n for n in range(700_000)) + \'}, "y": {"z": "\''
_STREAM = '{"output_type": "stream", "name": "stdout", "text": "x"},'
CELLS |= {
    "a frame of texts": [CONNECTION + "say(body % ('x' * 8_300_000))"] * 40,
    "a frame with a wide sign": [CONNECTION + "say(body % ('😀' + 'x' * 8_300_000))"] * 40,
    "a frame of objects": [CONNECTION + f"say(body % ({_OBJECTS}))"] * 20,
    "a frame of keys": [CONNECTION + f"say(body % ({_KEYS}))"] * 20,
    "a frame of streams": [
        CONNECTION + f"say(body.replace('[{{', '[' + {_STREAM!r} * 110_000 + '{{') % 'x')"
    ]
    * 20,
}
