"""The program that runs in the sandbox, on the untrusted side.

These modules are mounted into the sandbox and run by a fresh interpreter, so they import only the
standard library and IPython. They hold no secret: no solution, no test, no expected value. The
grader imports `protocol` and `steps` too, so that both sides share the format of messages.
"""
