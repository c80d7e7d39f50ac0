"""Files that recorders of other people write: a table of them, and one reader for all."""
