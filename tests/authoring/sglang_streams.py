"""Texts of SGLang's own API that keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import accumulate
from typing import Any, Final

from tests.authoring.draft import Draft, body_draft, stream_draft
from tests.authoring.pieces import DONE, Fields, Message, characters, deltas

DIALECT: Final = "sglang.generate"
THOUGHT: Final = "\nEbb tide at six, so the gate is shut.\n"
TEXT: Final = "The gate opens at seven."

drafted = partial(
    stream_draft, dialect=DIALECT, path="/generate", content_type="text/event-stream; charset=utf-8"
)


def drafts() -> Iterator[Draft]:
    marked = ["<think>", *deltas(THOUGHT), "</think>", "\n\n", *deltas(TEXT)]
    thinking = texts(marked, reasoning_tokens=5)
    yield drafted("sglang/thinking-then-text", asked(), thinking, sizes=(211, 64, 3, 512))
    yield drafted("sglang/text", asked(), texts(deltas(TEXT)))
    yield drafted(
        "sglang/cut-anywhere", asked(), texts(characters("門は七時に開きます。")), sizes=(97, 12)
    )
    yield drafted("sglang/pieces", asked(), texts(marked, in_pieces=True))
    yield drafted("sglang/without-ids", asked(), texts(deltas(TEXT), has_ids=False))
    yield drafted("sglang/length", asked(), texts(deltas(TEXT), {"type": "length", "length": 9}))
    logprobs = [[-0.25, 900 + n, None] for n in range(len(deltas(TEXT)))]
    listed = texts(deltas(TEXT), output_token_logprobs=logprobs)
    yield drafted("sglang/logprobs", asked(return_logprob=True), listed)
    away = {"type": "abort", "message": "The request timed out.", "status_code": 503}
    yield drafted("sglang/aborted", asked(), texts(deltas(TEXT)[:2], away))
    error = Message({"error": {"message": "The input is longer than the context."}})
    yield drafted("sglang/error-in-text", asked(), [*texts(deltas(TEXT))[:2], error, DONE])
    *_, last, _ = texts(deltas(TEXT))
    asks = {**asked(), "stream": False}
    yield body_draft("sglang/body", asks, last.payload, dialect=DIALECT, path="/generate")


def asked(**more: Any) -> Fields:
    parameters = {"max_new_tokens": 64, "temperature": 0}
    return {
        "text": "When does the gate open? ",
        "sampling_params": parameters,
        "stream": True,
        **more,
    }


def texts(
    pieces: list[str],
    reason: Fields | None = None,
    *,
    in_pieces: bool = False,
    has_ids: bool = True,
    **last: Any,
) -> list[Message]:
    """An event for each piece with the text so far, or with what is new."""
    made: list[Fields] = []
    for number, whole in enumerate(accumulate(pieces), 1):
        is_last = number == len(pieces)
        ids = [900 + n for n in range(number)]
        told = {
            "id": "4f0d6a5e81c24c0f9b8f-synthetic",
            "finish_reason": (reason or {"type": "stop", "matched": 151645}) if is_last else None,
            "prompt_tokens": 7,
            "completion_tokens": number,
            "cached_tokens": 0,
        }
        text = {"text": pieces[number - 1] if in_pieces else whole}
        listed = {"output_ids": ids[-1:] if in_pieces else ids} if has_ids else {}
        made.append({**text, **listed, "meta_info": {**told, **(last if is_last else {})}})
    return [*map(Message, made), DONE]
