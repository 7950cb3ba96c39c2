"""Makes this folder an nbgrader course: `nbgrader ...` and the formgrader use it as it is."""

import os
import sys

# nbgrader starts `alembic` by name; it lies beside the interpreter, active environment or not.
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "COURSE_ID"
c.CourseDirectory.solution_directory = "solutions"

# nbgrader's own steps, and one that leaves extra exercises without points where course.toml says
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

# Damaged notebooks are read as far as they can be, and locked cells are put back in place.
c.Autograde.exporter_class = "autograder.nbgrader_plugins.autograde.SubmissionExporter"
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "autograder.nbgrader_plugins.autograde.RestoreCells",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# Student code runs behind the wall and hidden tests run in the grader: no kernel is started.
c.Autograde.autograde_preprocessors = [
    "autograder.nbgrader_plugins.autograde.GradeBehindWall",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.nbgrader_plugins.autograde.StoreMarks",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# Late penalties: all settings that there are, with the values that take no points off.
c.AssignLatePenalties.plugin_class = "autograder.nbgrader_plugins.late_policy.LatePolicy"
c.LatePolicy.grace_minutes = 0
c.LatePolicy.percent_a_day = 0
c.LatePolicy.maximum_percent = 100
c.LatePolicy.tokens = 0
c.LatePolicy.time_zone = "UTC"

# Feedback shows what was found, never a hidden test.
c.GenerateFeedback.exporter_class = "autograder.pages.feedback.FeedbackExporter"
c.GenerateFeedback.preprocessors = [
    "autograder.pages.feedback.ReadMarks",
    "autograder.nbgrader_plugins.autograde.HideTests",
]

# What students wrote and displayed is shown by the formgrader without anything that could run
# there, and formulas without a server that sets them.
c.HTMLExporter.filters = {"markdown2html": "autograder.pages.markdown.markdown2html"}
