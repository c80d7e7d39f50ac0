"""The server of LangGraph (`langgraph dev`, LangSmith deployments): the stream of a graph's run."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect
from conformance.dialects.langgraph.reader import LangGraphReader, recognises
from conformance.dialects.langgraph.requests import REQUEST, TURNS
from conformance.dialects.langgraph.vocabulary import NAME, VOCABULARY, WIRE_KEYS

DIALECT: Final = Dialect(
    name=NAME,
    vocabulary=VOCABULARY,
    reader=LangGraphReader,
    recognises=recognises,
    keys=WIRE_KEYS,
    request=REQUEST,
    turns=TURNS,
    is_application=True,
    unit="run",
)
