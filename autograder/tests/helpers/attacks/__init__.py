"""Hostile submissions as data: the name of each entry describes the attack."""
