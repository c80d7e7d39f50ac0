"""Streams nobody would send, judged both ways: frame by frame, and in runs."""
