"""Runs nbgrader's *Validate* in a program of its own, for the Jupyter server of a student.

nbgrader runs the whole notebook inside the server, which answers no other request meanwhile. With
this module, another program runs the notebook. A cell that does not end is stopped, and is the
first in the list of failures. Without nbgrader, there is no button *Validate* and this module does
nothing.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

CELL_SECONDS = 20
"""Time limit of a cell in seconds, unless `c.Execute.timeout` sets another limit."""

NOTEBOOK_SECONDS = 300
"""Time limit of the whole notebook in seconds."""

_ENDLESS = (
    "This cell did not come to an end within {} seconds, so it was stopped.\n"
    "Look for a loop that never ends, or a function that keeps calling itself."
)
_TOO_LONG = (
    f"The notebook did not come to an end within {NOTEBOOK_SECONDS} seconds, so validation was "
    "stopped. Run your cells one by one to find the one that takes so long."
)
_STOPPED = (
    "The notebook could not be run to its end. Restart the kernel, run all cells, and look at the "
    "first one that fails."
)
_TOO_OLD = (
    "This notebook was made for an older nbgrader and cannot be validated as it is. Save it, keep "
    "a copy and close it. Then type `nbgrader update {}` in a terminal in its folder, and open it "
    "anew."
)
_TIMED_OUT = "CellTimeoutError"


def validate(path: Path) -> dict[str, Any]:
    """Run a notebook and return the tests that fail, as the data that nbgrader's dialog expects."""
    from nbgrader.apps import NbGrader
    from nbgrader.nbgraderformat import SchemaTooOldError
    from nbgrader.validator import Validator

    class NamesEndlessCells(Validator):
        def _get_failed_cells(self, notebook: Any) -> list[Any]:
            endless = [cell for cell in notebook.cells if _timed_out(cell)]
            others = super()._get_failed_cells(notebook)
            return endless + [cell for cell in others if cell not in endless]

        def _extract_error(self, cell: Any) -> str:
            # The message for the time limit; that of the interrupt would add nothing.
            return text if _timed_out(cell) else str(super()._extract_error(cell))

    application = NbGrader()
    application.load_config_file()
    execute = application.config.Execute
    execute.setdefault("timeout", CELL_SECONDS)
    text = _ENDLESS.format(execute.timeout)
    execute.error_on_timeout = {"ename": _TIMED_OUT, "evalue": text, "traceback": [text]}
    try:
        found = NamesEndlessCells(config=application.config).validate(str(path))
    except SchemaTooOldError:
        return {"success": False, "value": _TOO_OLD.format(shlex.quote(path.name))}
    return {"success": True, "value": found}


def _timed_out(cell: Any) -> bool:
    return any(output.get("ename") == _TIMED_OUT for output in cell.get("outputs", ()))


async def answer(path: Path, seconds: float = NOTEBOOK_SECONDS) -> dict[str, Any]:
    """Let another program run the notebook, wait for it, and return the data for the dialog.

    Args:
        seconds: time limit of the whole notebook.
    """
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "course.validating", str(path),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = await asyncio.wait_for(program.communicate(), seconds)
        reply: dict[str, Any] = json.loads(printed)
        return reply
    except TimeoutError:
        return {"success": False, "value": _TOO_LONG}
    except ValueError:
        return {"success": False, "value": _STOPPED}
    finally:
        # The program and the kernel that it started are in the same session: both are ended.
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "course.validating"}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Register a handler for the address of the button *Validate*, in place of nbgrader's."""
    try:
        import nbgrader  # noqa: F401
    except ImportError:
        return
    from jupyter_server.base.handlers import JupyterHandler
    from jupyter_server.utils import url_path_join
    from tornado.web import HTTPError, authenticated

    root = Path(server.root_dir).resolve()

    class Validate(JupyterHandler):
        @authenticated
        async def post(self) -> None:
            given = self.get_argument("path", None) or (self.get_json_body() or {}).get("path", "")
            path = (root / given).resolve()
            if not path.is_relative_to(root):
                raise HTTPError(403, "that notebook is not in this server's folder")
            self.finish(await answer(path))

    address = url_path_join(server.web_app.settings["base_url"], "assignments", "validate")
    server.web_app.add_handlers(".*$", [(address, Validate)])


if __name__ == "__main__":
    # Text that the notebook's kernel or nbgrader prints is not part of the answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    json.dump(validate(Path(sys.argv[1]).resolve()), answers)
