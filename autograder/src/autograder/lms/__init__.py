"""Imports submissions from a learning management system, and exports feedback and marks to it."""
