"""Judges one notebook: from cells to verdicts, and from verdicts to a report."""
