"""Disables functions that would solve an exercise, while the student's own code runs."""

import sys

GIVEN = (
    ("course.draw", "draw_graph"),
    ("course.drawing.graph", "read_graph"),
    ("course.drawing.layout", "compose"),
    ("course.drawing.layout", "dot_source"),
    ("course.interactives.graphs", "topological"),
    ("course.push", "push"),
)
"""Functions that students can import and that walk or describe a graph, each with its module."""


def out_of_use(*_, **__):
    # The same error as if the module was not imported before.
    raise ModuleNotFoundError("this is out of use here: the exercise asks for code of your own")


def is_own(module, name):
    """Return whether a name in a module still belongs to the function that the module's file
    defines."""
    code = getattr(vars(module).get(name), "__code__", None)
    return code is not None and (code.co_filename, code.co_name) == (module.__file__, name)


def alone(function, *others):
    """Return a function that calls `function` while the functions in `GIVEN` and `others` are
    disabled.

    A disabled function raises an error if it is called, even through another name for it.
    """
    others = [each for each in others if each is not None]

    def run(*arguments):
        missing = [module for module, _ in GIVEN if module not in sys.modules]
        here = [sys.modules[m] for m, _ in GIVEN if m not in missing]
        names = [name for m, name in GIVEN if m not in missing]
        if not all(map(is_own, here, names)):
            # Another function stands in its place, so it may be kept elsewhere.
            return out_of_use()
        functions = [*others, *map(getattr, here, names)]
        codes = [each.__code__ for each in functions]
        sys.modules.update(dict.fromkeys(missing))  # None there makes an import fail
        for each, code in zip(functions, codes, strict=True):
            each.__code__ = out_of_use.__code__.replace(co_freevars=code.co_freevars)
        try:
            return function(*arguments)
        finally:
            for each, code in zip(functions, codes, strict=True):
                each.__code__ = code
            for module in missing:
                sys.modules.pop(module, None)

    return run


def given_backward(Value, answer):
    """Return the method `backward` that the class had before the student's cell; None if it has
    only the student's `answer`.

    The student's answer is assigned to the class as a function that was defined outside of it.
    """
    found = getattr(Value, "backward", None)
    is_answer = found is answer and "." not in answer.__qualname__
    return None if is_answer or not hasattr(found, "__code__") else found
