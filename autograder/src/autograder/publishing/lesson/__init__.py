"""Builds the lesson and the slides: runs the code in Markdown texts, and renders HTML pages.

The code may use the names that `lesson.names` in course.toml provides, such as definitions from the
solution notebooks. Students get only the HTML pages, which hold the results of the code and none of
these definitions.
"""
