"""Hostile servers, clients and files against the command line, within limits of time and memory.

`make test-hostile` runs all of it; what bears no marker is the sample that `make test` runs.
What is promised, and what is not, stands in docs/security.md.
"""
