"""Quick checks for students: public examples, and the likely mistake by name.

`from coursecheck import check` checks by the table `checks.json` beside the notebook. A course that
comes as a package makes its own, `Checks(folder)`, from the tables in a folder.
"""

from coursecheck.check import CheckFailed, Checks

check = Checks()

__all__ = ["CheckFailed", "Checks", "check"]
