"""Publishes the course: bundles, the browser edition, Gradescope's zip, and the lesson's pages."""
