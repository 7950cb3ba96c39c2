"""Code that damages the whole process by hooks and patches. It follows the solution in an
answer."""

from __future__ import annotations

DAMAGE = {
    "profile": ("import sys\nsys.setprofile(lambda *a: 1 / 0)\n"),
    "trace": ("import sys\nsys.settrace(lambda *a: 1 / 0)\n"),
    "audit hook": (
        "import sys\n"
        "def hook(event, args):\n"
        "    if event in ('compile', 'exec', 'object.__getattr__'): raise RuntimeError('no')\n"
        "sys.addaudithook(hook)\n"
    ),
    "meta path": (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, *a): raise RuntimeError('no')\n"
        "sys.meta_path.insert(0, Finder())\n"
    ),
    "builtins sum": ("import builtins\nbuiltins.sum = lambda *a, **k: 0\n"),
    "builtins isinstance": ("import builtins\nbuiltins.isinstance = lambda *a: True\n"),
    "builtins float": ("import builtins\nbuiltins.float = int\n"),
    "builtins gone": ("import builtins\ndel builtins.set, builtins.range, builtins.zip\n"),
    "builtins build_class": ("import builtins\nbuiltins.__build_class__ = None\n"),
    "import": (
        "import builtins\ndef no(*a, **k): raise ImportError('no')\nbuiltins.__import__ = no\n"
    ),
    "recursion limit": ("import sys\nsys.setrecursionlimit(60)\n"),
    "alarm": (
        "import signal\n"
        "signal.signal(signal.SIGALRM, lambda *a: 1 / 0)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)\n"
    ),
    "gc": ("import gc\ngc.set_threshold(1)\ngc.callbacks.append(lambda *a: 1 / 0)\n"),
    "math": (
        "import math\n"
        "for name in ('exp', 'tanh', 'log', 'sqrt', 'isclose', 'pow'):\n"
        "    setattr(math, name, lambda *a, **k: 0.0)\n"
    ),
    "random": (
        "import random\n"
        "random.random = random.uniform = lambda *a: 0.5\n"
        "random.seed = lambda *a: None\n"
    ),
    "warnings": ("import warnings\nwarnings.simplefilter('error')\nwarnings.warn('no')\n"),
    "operator": (
        "import operator\n"
        "for name in ('add', 'mul', 'sub', 'truediv', 'pow', 'neg', 'methodcaller'):\n"
        "    setattr(operator, name, None)\n"
    ),
    "decimal": (
        "import decimal\n"
        "decimal.getcontext().prec = 1\n"
        "decimal.getcontext().traps[decimal.Inexact] = True\n"
    ),
    "excepthook": (
        "import sys, threading\n"
        "sys.excepthook = threading.excepthook = None\n"
        "sys.unraisablehook = None\n"
    ),
    "displayhook": ("import sys\nsys.displayhook = None\nsys.stdout = sys.stderr = None\n"),
    "Value's class": ("Value.__getattribute__ = lambda self, name: 0.0\n"),
    "Value's setattr": ("Value.__setattr__ = lambda self, name, value: None\n"),
    "Value gone": ("Value = None\n"),
    "ast transformer": (
        "import ast\n"
        "class T(ast.NodeTransformer):\n"
        "    def visit_Add(self, node): return ast.Sub()\n"
        "get_ipython().ast_transformers.append(T())\n"
    ),
    "input transformer": (
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])\n"
        "manager = get_ipython().input_transformer_manager\n"
        "manager.cleanup_transforms.insert(0, lambda lines: ['pass\\n'])\n"
    ),
    "events": (
        "get_ipython().events.register('pre_run_cell', lambda *a: 1 / 0)\n"
        "names = get_ipython().user_ns\n"
        "get_ipython().events.register('pre_execute', lambda *a: names.pop('Value', None))\n"
    ),
    "run_cell": ("get_ipython().run_cell = None\n"),
    "sys.modules": ("import sys\nsys.modules['math'] = sys.modules['collections'] = None\n"),
    "stack": (
        "import threading, sys\n"
        "threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()\n"
    ),
}
