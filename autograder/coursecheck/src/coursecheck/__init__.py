"""Quick checks for students: they run public examples and say which mistake is likely.

`from coursecheck import check` uses the table `checks.json` beside the notebook. A course that
comes as a package makes its own checks from a folder of tables: `check = Checks(folder)`.
"""

from coursecheck.check import CheckFailed, Checks

check = Checks()

__all__ = ["CheckFailed", "Checks", "check"]
