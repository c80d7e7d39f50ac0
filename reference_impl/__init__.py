"""What conformance looks like: a model, a server and a client that do everything right.

Nothing here imports the checker: a checker must not share the code that it checks.
Imports are relative: a wheel carries the same modules as `conformance.reference`.
"""
