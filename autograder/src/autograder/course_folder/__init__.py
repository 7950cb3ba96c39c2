"""The course folder: settings, assignments, misconceptions, release, key and version."""
