"""Everything that runs on the student's side of the wall.

These modules are mounted into the sandbox and imported there by a fresh interpreter, so they use
the standard library, IPython and `course` alone. They hold no secret: no reference, no test, no
expected value. The grader imports `wire` and `objects` too, to speak the same language.
"""
