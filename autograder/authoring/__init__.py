"""Tools for authors: new exercises, released notebooks, and the audit of hidden tests."""
