"""Writes pages and tables for people: feedback, class reports, and marks for other programs."""
