"""Puts our steps in the place of nbgrader's where its own tests take one by its name.

A plugin for the process that runs those tests. Whatever goes by the configuration needs none.
"""

import nbgrader.preprocessors as theirs

from autograder.feedback import ReadMarks
from autograder.preprocessors import RestoreCells, SaveVerdicts

theirs.OverwriteCells = RestoreCells
theirs.SaveAutoGrades = SaveVerdicts
theirs.GetGrades = ReadMarks
