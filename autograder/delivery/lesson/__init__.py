"""Builds the lesson and the slides: Markdown whose code is run, rendered as HTML pages.

The code may use names from `lesson.names` of course.toml, such as the solution notebooks' own
definitions. Students get the HTML, which holds the results of the code and none of these
definitions.
"""
