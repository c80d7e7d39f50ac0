"""Adapters of clients under test that `conformance init --adapter` writes into a folder."""
