"""Builds the lesson and the slides: text from `course/`, run, drawn and set as HTML pages.

The text is Markdown whose code blocks really run, on the engine that the solution notebooks
build. What students get is the HTML, which holds what the code showed and no engine.
"""
