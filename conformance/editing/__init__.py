"""Recorded streams as values that can be edited: pieces, where they hold what, edits of them."""
