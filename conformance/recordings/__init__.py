"""Work on recordings: check, identify, lint, rechunk, examples."""
