"""Mounted over `multiprocessing/__init__.py` by bubblewrap: runs Python's own file, and then
installs the functions of `standins`."""

import importlib
import sys

with open("/sandbox/multiprocessing.py") as _own:
    exec(compile(_own.read(), __file__, "exec"))

# A process that `multiprocessing` spawns gets its sys.path only later.
sys.path.insert(0, "/sandbox/packages")
importlib.import_module("guest.standins").install()
sys.path.remove("/sandbox/packages")
