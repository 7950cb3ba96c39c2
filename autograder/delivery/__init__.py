"""How the course reaches people: bundles, a hub, and the pages of the lesson."""
