"""Runs of deltas, read in bulk."""
