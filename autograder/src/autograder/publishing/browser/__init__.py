"""Builds the browser edition: a static site on which students work without installing anything.

JupyterLite is JupyterLab in a browser tab, and its Pyodide kernel is Python in WebAssembly. The
site holds both, with every package that the notebooks need, so that any web server can serve it and
no other server is contacted.
"""
