"""The file of a project: what `conformance.yaml` in the folder where the user stands may say."""

from __future__ import annotations

from typing import Final

CONFIGURATION: Final = "conformance.yaml"
KEYS: Final = ("trust", "importers")
"""What stands in it: recordings that may excuse themselves, and rows of recorders."""
