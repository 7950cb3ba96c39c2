"""Mounted over `multiprocessing/__init__.py` by bubblewrap: runs Python's own file, and then
installs the functions of `standins`."""

import importlib
import sys

with open("/sandbox/multiprocessing.py") as _own:
    exec(compile(_own.read(), __file__, "exec"))

# The server of "forkserver", Python's default from 3.14 on, needs a socket that listens.
_contexts = sys.modules["multiprocessing.context"]
_contexts._default_context._default_context = _contexts._concrete_contexts["fork"]


def _refuse_managers(*_: object, **__: object) -> None:
    raise OSError(
        "multiprocessing.Manager needs a socket that listens, which the sandbox refuses: share "
        "values by Queue, Pipe, Value or Array"
    )


Manager = _contexts.BaseContext.Manager = _refuse_managers

# A process that `multiprocessing` spawns gets its sys.path only later.
sys.path.insert(0, "/sandbox/packages")
importlib.import_module("guest.standins").install()
sys.path.remove("/sandbox/packages")
