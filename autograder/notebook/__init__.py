"""A notebook: from a submitted file to its cells, and from verdicts back to a file."""
