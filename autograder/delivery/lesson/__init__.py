"""Builds the lesson and the slides: Markdown whose code is run, drawn and set as HTML pages.

The code may use what `lesson.names` of course.toml gives it, such as the solution notebooks' own
definitions. Students get the HTML, which holds what the code showed and none of these definitions.
"""
