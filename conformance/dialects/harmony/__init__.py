"""Harmony, the token text of gpt-oss.

It has no endpoint: raw text comes from files, completions from servers whose path serves any
model. So there is nothing to ask a server for, nothing to play, and no client of it.
"""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.harmony.markers import SPECIAL_TOKENS
from conformance.dialects.harmony.reader import NAME, VOCABULARY, HarmonyReader, recognises
from conformance.dialects.harmony.turns import TURNS
from conformance.dialects.harmony.wire_keys import WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=HarmonyReader,
    recognises=recognises,
    framing="text",
    keys=WIRE_KEYS,
    turns=TURNS,
    special_tokens=SPECIAL_TOKENS,
    carriers=frozenset({"openai.completions"}),
)
