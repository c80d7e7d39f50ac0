"""The server of LangGraph (`langgraph dev`, LangSmith deployments): the stream of a graph's run."""

from __future__ import annotations

from typing import Final

from conformance.dialects.base import Dialect, facets
from conformance.dialects.langgraph.reader import LangGraphReader

DIALECT: Final = Dialect(
    **facets(__name__, "vocabulary", "requests"),
    reader=LangGraphReader,
    is_application=True,
    unit="run",
)
