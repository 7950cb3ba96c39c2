"""Tools for authors: new and adopted courses, new exercises, releases, the audit of hidden
tests."""
