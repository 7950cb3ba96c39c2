"""Makes this clone a working nbgrader course: `nbgrader ...` and the formgrader use it as it is."""

import os
import sys

import autograder.gradebook.people  # noqa: F401 - markup in students' names becomes plain text
from autograder.nbgrader_plugins import formgrader

# nbgrader starts `alembic` by name; it lies beside the interpreter, active environment or not.
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "autograd"
c.CourseDirectory.solution_directory = "solutions"

# nbgrader's own steps, and one that leaves extra exercises without points if course.toml says
# `core_only = true`. The former release stays until the new one is whole, and exercises may come
# and go after students have handed in.
c.GenerateAssignment.exporter_class = "autograder.nbgrader_plugins.release.ReleaseExporter"
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "autograder.nbgrader_plugins.weights.CoreOnly",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "autograder.nbgrader_plugins.release.FitCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# Only what the source gives goes to students, never a release that somebody worked in.
c.ExchangeFactory.release_assignment = "autograder.nbgrader_plugins.release.ReleaseToExchange"

# Damaged notebooks are read as far as they can be, and locked cells are put back in place.
c.Autograde.exporter_class = "autograder.nbgrader_plugins.autograde.SubmissionExporter"
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "autograder.nbgrader_plugins.autograde.RestoreCells",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# Student code runs in the sandbox and hidden tests run in the grader: no kernel is started.
c.Autograde.autograde_preprocessors = [
    "autograder.nbgrader_plugins.autograde.GradeInSandbox",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.nbgrader_plugins.autograde.StoreMarks",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# Late submissions. These are the possible settings, with values that take nothing off;
# docs/instructors.md explains each.
c.AssignLatePenalties.plugin_class = "autograder.nbgrader_plugins.late_policy.LatePolicy"
c.LatePolicy.grace_minutes = 0
c.LatePolicy.percent_a_day = 0
c.LatePolicy.maximum_percent = 100
c.LatePolicy.tokens = 0
c.LatePolicy.time_zone = "UTC"

# Feedback shows the verdicts, never a hidden test.
c.GenerateFeedback.exporter_class = "autograder.pages.feedback.FeedbackExporter"
c.GenerateFeedback.preprocessors = [
    "autograder.pages.feedback.ReadMarks",
    "autograder.nbgrader_plugins.autograde.HideTests",
]

# The formgrader stores only what somebody typed, and never over a mark that has changed meanwhile.
# It shows texts and names without anything that could run there, and needs no internet.
formgrader.extend(c)
