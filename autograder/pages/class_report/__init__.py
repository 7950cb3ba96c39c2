"""The class report: what a whole class did in one assignment, as a page and as tables."""
