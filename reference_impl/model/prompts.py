"""The instructions after which the model summarises reasoning, as the reference server sends them.

One user message: the instruction, then the reasoning. The model also knows other wordings of the
same, and those of OGX; see the corpus.
"""

from __future__ import annotations

from typing import Final

CONCISE: Final = "Summarise: {reasoning}"
DETAILED: Final = "Summarise in detail: {reasoning}"
