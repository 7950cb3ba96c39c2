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
    │   └── NoLength             an object of its has no length (also a TypeError)
    ├── AuthorError              a hidden test asks for what cannot be (also a TypeError)
    ├── ForeignObject            stands for whatever another process of a cluster sent
    └── wall.inside.protocol.ProtocolError    a student process sent what is no reply

What a message says is for a person: what happened, where, and what to do next.
"""

from __future__ import annotations

import builtins
from typing import Any

from .texts import fit


class CourseError(Exception):
    """The course folder lacks something. The message says what, and what to do."""


class SuiteError(CourseError):
    """The hidden tests themselves are broken. The message says which and how."""


class LessonError(CourseError):
    """A text of the lesson must be mended before it can be built; the message says where and
    how."""


class UnreadableNotebook(Exception):
    """Nothing in the file can be graded. The message names the file and the remedy."""

    def __init__(self, message: str) -> None:
        # A file may have any name, in any encoding.
        super().__init__(fit(message))


class SandboxUnavailable(Exception):
    """Student code cannot be confined on this machine. The message says what to do."""


class SandboxLost(SandboxUnavailable):
    """A warm server has ended or does not answer, by no fault of a student. Start another."""


class ProcessKilled(SandboxLost):
    """A student process was killed from outside, such as by the kernel for want of memory."""


class StudentLost(Exception):
    """The student process has ended. `reason` is "timeout", "out_of_memory" or "crashed"."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class StudentError(Exception):
    """The code under test raised. The class is no subclass of built-in ones, since Python reacts to
    some of them: a StopIteration that student code raises would end a loop of the test's.

    Attributes:
        kind: the name of the nearest built-in class. Any other name may have been made up to hold a
            hidden number.
        is_remote: whether the student's process raised it, and not the test's own arithmetic.
    """

    def __init__(self, kind: str, is_remote: bool = False) -> None:
        super().__init__(kind)
        self.kind = kind
        self.is_remote = is_remote

    def is_a(self, *kinds: Any) -> bool:
        """Return whether an `except` clause with these classes, or tuples of them, would fit."""
        return isinstance(self, kinds) or issubclass(getattr(builtins, self.kind), kinds)


class NoLength(StudentError, TypeError):
    """An object whose length was asked for has none, or raised a TypeError.

    Python takes the length before it iterates, as in `list(answer)`, and ignores this class alone.
    """


class AuthorError(TypeError):
    """A hidden test asks for something impossible. The message says what to write instead."""


class ForeignObject(Exception):
    """Stands for any object that another process of a cluster sends, and does nothing.

    Attributes:
        kind: the name of the object's class there.
    """

    kind = "an object"

    def __setstate__(self, state: object) -> None:
        """Drop the object's state."""


BUILT_IN = {name for name, each in vars(builtins).items()
             if isinstance(each, type) and issubclass(each, BaseException)}  # fmt: skip
