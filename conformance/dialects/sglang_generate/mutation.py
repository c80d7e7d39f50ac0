"""Mutation of `sglang.generate`: operators on the text so far and its metadata."""

from __future__ import annotations

from typing import Final

from conformance.editing.edits import later_with
from conformance.editing.layout import StreamLayout
from conformance.editing.operator import Mutation
from conformance.editing.operator_rows import operator_rows
from conformance.editing.stream import Stream


def _is_whole(stream: Stream, site: int) -> bool:
    count = stream.value_at(site, "meta_info", "completion_tokens")
    return bool(len(stream.list_at(site, "output_ids")) == count)


def _later_wholes(stream: Stream) -> list[int]:
    return [n for n in later_with("text")(stream) if _is_whole(stream, n)]


MUTATION: Final = Mutation(
    StreamLayout(
        error=lambda message, _code: {"error": {"message": message}},
        refuses=frozenset({"empty delta", "ping", "split delta"}),
        sentinel="[DONE]",
    ),
    operator_rows(__file__, globals()),
)
