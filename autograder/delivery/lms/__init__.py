"""Exchanges data with a learning management system: submissions in, feedback and marks out."""
