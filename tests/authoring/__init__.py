"""The writer of the shipped cassettes: synthetic streams in the shapes of real systems.

`catalogue.good` are streams that keep every rule of their profile, `catalogue.mutants` are edits of
them that break one rule each. Prompts, texts and ids are invented. The same code always writes the
same bytes; after a change run `python -m tests.authoring` in the repository root.
"""
