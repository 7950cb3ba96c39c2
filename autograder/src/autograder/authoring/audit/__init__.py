"""Audits hidden tests: runs them on answers that are known to be wrong or right."""
