"""Texts of SGLang's own API that keep the rules."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from tests.authoring.pieces import DONE, Fields, Message


def request_body(**more: Any) -> Fields:
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
        meta = {
            "id": "4f0d6a5e81c24c0f9b8f-synthetic",
            "finish_reason": (reason or {"type": "stop", "matched": 151645}) if is_last else None,
            "prompt_tokens": 7,
            "completion_tokens": number,
            "cached_tokens": 0,
        }
        text = {"text": pieces[number - 1] if in_pieces else whole}
        listed = {"output_ids": ids[-1:] if in_pieces else ids} if has_ids else {}
        made.append({**text, **listed, "meta_info": {**meta, **(last if is_last else {})}})
    return [*map(Message, made), DONE]
