"""Every error that this package raises on purpose; messages say what happened, where, what to do.

Exception
├── CourseError              the course folder lacks something
│   ├── SuiteError           its hidden tests are broken
│   └── LessonError          a text of its lesson is broken
├── UnreadableNotebook       nothing in a submitted file can be graded
├── SandboxUnavailable       student code cannot be confined here: nothing was run
│   └── SandboxDied          the sandbox ended while it was used
│       └── ProcessKilled    a student process was killed from outside
├── StudentProcessDied       a student process ended or was ended: out of time, of memory, …
├── StudentError             the code under test raised
│   └── NoLength             one of its objects has no length (also a TypeError)
├── AuthorError              a hidden test asks for something impossible (also a TypeError)
├── ForeignObject            placeholder for an object that a cluster's process sent
└── sandbox.guest.protocol.ProtocolError    a student process sent an invalid reply
"""

from __future__ import annotations

import builtins
from typing import Any

from .records import Status
from .texts import fit


class CourseError(Exception):
    """The course folder lacks something. The message says what, and what to do."""


class SuiteError(CourseError):
    """The hidden tests themselves are broken. The message says which and how."""


class LessonError(CourseError):
    """A text of the lesson must be mended before it can be built; the message says where and
    how."""


class UnreadableNotebook(Exception):
    """Nothing in a submitted file can be graded. The message names the file and the remedy."""

    def __init__(self, message: str) -> None:
        # A file may have any name, in any encoding.
        super().__init__(fit(message))


class SandboxUnavailable(Exception):
    """Student code cannot be confined on this machine. The message says what to do."""


class SandboxDied(SandboxUnavailable):
    """A fork server has ended or does not answer, by no fault of a student. The remedy is to start
    another one."""


class ProcessKilled(SandboxDied):
    """A student process was killed from outside, such as by the kernel for want of memory."""


class StudentProcessDied(Exception):
    """The student process has ended.

    Attributes:
        reason: `Status.TIMEOUT`, `OUT_OF_MEMORY` or `CRASHED`.
    """

    def __init__(self, reason: Status, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class StudentError(Exception):
    """The code under test raised an error.

    The class derives from no built-in error, since Python acts on some of them: a student's
    StopIteration would end a loop in the test.

    Attributes:
        kind: the name of the nearest built-in class from which the error derives. The name of a
            student's own class could smuggle out a hidden number.
        is_remote: whether the student process raised the error; otherwise the arithmetic of the
            test raised it, with a value of the student's.
    """

    def __init__(self, kind: str, is_remote: bool = False) -> None:
        super().__init__(kind)
        self.kind = kind
        self.is_remote = is_remote

    def is_a(self, *kinds: Any) -> bool:
        """Return whether an `except` clause with these classes, or tuples of classes, would catch
        the error."""
        return isinstance(self, kinds) or issubclass(getattr(builtins, self.kind), kinds)


class NoLength(StudentError, TypeError):
    """A hidden test asked for the length of an object that has none, or whose `__len__` raised a
    TypeError.

    Python asks for the length before it iterates, as in `list(answer)`. Only if this raises a
    TypeError does Python go on without the length, so this class derives from TypeError.
    """


class AuthorError(TypeError):
    """A hidden test asks for something impossible. The message says what to write instead."""


class ForeignObject(Exception):
    """Placeholder for an object that another process of a cluster sent; it has no behaviour.

    Attributes:
        kind: the name of the object's class.
    """

    kind = "an object"

    def __setstate__(self, state: object) -> None:
        """Drop the object's state."""


BUILT_IN = {name for name, each in vars(builtins).items()
             if isinstance(each, type) and issubclass(each, BaseException)}  # fmt: skip
