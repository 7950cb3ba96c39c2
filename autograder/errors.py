"""Every error that this package raises on purpose.

    Exception
    ├── CourseError              the course folder lacks something
    │   ├── SuiteError           its hidden tests are broken
    │   └── LessonError          a text of its lesson is broken
    ├── UnreadableNotebook       nothing in a submitted file can be graded
    ├── SandboxUnavailable       student code cannot be confined here: nothing was run
    │   └── SandboxLost          the sandbox ended while it was used
    │       └── ProcessKilled    a student process was killed from outside
    ├── StudentLost              a student process ended or was ended: out of time, of memory, …
    ├── StudentError             the code under test raised
    ├── AuthorError              a hidden test asks for what cannot be (also a TypeError)
    ├── ForeignObject            stands for whatever another process of a cluster sent
    └── wall.inside.protocol.ProtocolError    a student process sent what is no reply
    BaseException
    └── OutOfTime                code that the audit runs has used up its processor time

What a message says is for a person: what happened, where, and what to do next.
"""

from __future__ import annotations

import builtins
from functools import cache

from .texts import fit


class CourseError(Exception):
    """The course folder lacks something. The message says what, and what to do."""


class SuiteError(CourseError):
    """The hidden tests themselves are broken. The message says which and how."""


class LessonError(CourseError):
    """Something in the text must be mended before it can be built; says where and what."""


class UnreadableNotebook(Exception):
    """Nothing in the file can be graded. The message names the file and the remedy."""

    def __init__(self, message: str) -> None:
        # A file may be called anything, in any encoding.
        super().__init__(fit(message))


class SandboxUnavailable(Exception):
    """Student code cannot be confined on this machine. The message says what to do."""


class SandboxLost(SandboxUnavailable):
    """A warm server has ended or does not answer, by no fault of a student. Start another."""


class ProcessKilled(SandboxLost):
    """A student process was killed by something outside, such as the kernel for want of memory."""


class StudentLost(Exception):
    """The student process is gone. `reason` is "timeout", "out_of_memory" or "crashed"."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class StudentError(Exception):
    """The code under test raised. It is also of the built-in class that the student's error is of.

    Attributes:
        kind: the name of the nearest built-in class. Any other name may have been made up to hold
            a hidden number.
    """

    kind = "Exception"

    def __str__(self) -> str:
        return self.kind


class AuthorError(TypeError):
    """A hidden test asks for something that cannot be. The message says what to write instead."""


class ForeignObject(Exception):
    """Stands for any object that another process of a cluster sends, and does nothing.

    Attributes:
        kind: the name of the object's class there.
    """

    kind = "an object"

    def __setstate__(self, state: object) -> None:
        """Leave out what the object holds there."""


class OutOfTime(BaseException):
    """The code used up its processor time. Nothing that it catches itself is a parent of this."""


@cache
def error_class(kind: str) -> type[StudentError]:
    """The class of a student's error whose nearest built-in class has this name."""
    base = getattr(builtins, kind)
    bases = (StudentError, base) if issubclass(base, _ORDINARY) else (StudentError,)
    # The built-in classes differ in their constructors and in `__str__`.
    own = {"kind": kind, "__init__": lambda self: None, "__str__": StudentError.__str__}
    return type(f"Student{kind}", bases, own)


_ORDINARY = (ArithmeticError, AssertionError, AttributeError, EOFError, ImportError, LookupError,
             NameError, OSError, RuntimeError, StopIteration, TypeError, ValueError)  # fmt: skip


BUILT_IN = {name for name, each in vars(builtins).items()
             if isinstance(each, type) and issubclass(each, BaseException)}  # fmt: skip
