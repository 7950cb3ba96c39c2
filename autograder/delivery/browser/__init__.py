"""Builds the browser edition: a static site on which students work without installing anything.

JupyterLite is JupyterLab in a browser tab, and its Pyodide kernel is Python there. The site serves
both by itself, with every package that the notebooks need, so that it works from any web server and
without the internet.
"""
