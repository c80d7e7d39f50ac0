"""The reference server: one engine, three APIs on top of it."""
