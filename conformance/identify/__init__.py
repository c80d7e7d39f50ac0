"""Which system sent a stream, and how it speaks its dialect.

The system is named by fingerprints only; the knobs are what the stream was seen to do, whoever
sent it. A profile for an unknown system is drafted from both.
"""

from conformance.identify.draft import draft
from conformance.identify.witness import Certainty, Identity, Witness, named

__all__ = ["Certainty", "Identity", "Witness", "draft", "named"]
