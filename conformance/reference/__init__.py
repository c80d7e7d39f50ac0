"""In a checkout: the name under which a wheel carries `reference_impl`, with the same modules."""

from pathlib import Path

# A wheel has those modules in this folder, and not this file.
__path__ = [str(Path(__file__).parents[2] / "reference_impl")]
