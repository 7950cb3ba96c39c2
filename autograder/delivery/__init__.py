"""Delivers the course: bundles, a hub, a service, and the pages of the lesson."""
