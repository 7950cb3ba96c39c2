"""Grades Jupyter notebooks of any course: student code in a sandbox, verdicts outside it."""

import sys

# nbformat imports jsonschema, which, if it finds this package, builds a grammar of web addresses
# from it: over a second in every program, for a format that notebooks' schema does not use.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
