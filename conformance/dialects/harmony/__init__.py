"""Harmony, the token text of gpt-oss.

It has no endpoint: raw text comes from files, completions from servers whose path serves any
model. So there is nothing to ask a server for, nothing to play, and no client of it.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.harmony.header import ASSISTANT
from conformance.dialects.harmony.markers import SPECIAL_TOKENS
from conformance.dialects.harmony.prompt import prompt_items
from conformance.dialects.harmony.reader import HarmonyReader
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.turns import HistoryEntry, HistoryForm, history_call
from conformance.dialects.wire_keys import AnswerBounds, WireKeys


def _read_entry(entry: Any) -> HistoryEntry:
    item = mapping(entry)
    role, content = string(item.get("role")), string(item.get("content"))
    if role == "user":
        return HistoryEntry("user", content)
    if role in ("system", "developer"):
        return HistoryEntry("other", content)
    if role != ASSISTANT:
        return HistoryEntry("tool", content, results=(role,))
    if item.get("channel") == "analysis":
        return HistoryEntry("model")
    if recipient := string(item.get("recipient")):
        name = recipient.removeprefix("functions.")
        return HistoryEntry("model", calls=(history_call("", name, content),))
    return HistoryEntry("model", content)


BOUNDS: Final = AnswerBounds(last=frozenset({"harmony.end"}))


DIALECT: Final = Dialect(
    **facets(__name__),
    reader=HarmonyReader,
    framing="text",
    keys=WireKeys(
        texts=("text",),
        shown=("text",),
        indices=("index",),
        words=("finish_reason",),
        free=("logprobs",),
        unrolled=("choices",),
        unrolling=("harmony.",),
    ),
    turns=HistoryForm("prompt", prompt_items, _read_entry),
    special_tokens=SPECIAL_TOKENS,
    carriers=frozenset({"openai.completions"}),
)
