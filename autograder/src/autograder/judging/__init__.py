"""Judges one notebook: from cells to verdicts, from verdicts to a report."""
