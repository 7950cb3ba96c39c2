"""The service: grades submissions as they arrive, and shows students the feedback at once."""
