"""Tokens of Text Generation Inference that keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from tests.authoring.draft import Draft, body_draft, stream_draft
from tests.authoring.pieces import Fields, Message, characters, deltas

DIALECT: Final = "huggingface.tgi"
THOUGHT: Final = "\nFog at dawn, so the horn is on.\n"
TEXT: Final = "The horn sounds every minute."
END: Final = "<|im_end|>"

drafted = partial(
    stream_draft, dialect=DIALECT, path="/generate_stream", content_type="text/event-stream"
)


def drafts() -> Iterator[Draft]:
    marked = ["<think>", *deltas(THOUGHT), "</think>", "\n\n", *deltas(TEXT)]
    yield drafted("tgi/thinking-then-text", asked(), tokens(marked), sizes=(211, 64, 3, 512))
    yield drafted("tgi/text", asked(), tokens(deltas(TEXT)))
    yield drafted(
        "tgi/cut-anywhere", asked(), tokens(characters("霧笛は毎分鳴ります。")), sizes=(97, 12)
    )
    yield drafted("tgi/no-details", asked(details=False), tokens(deltas(TEXT), details=False))
    length = tokens([*deltas(TEXT), " And"], end="", finish_reason="length")
    yield drafted("tgi/length", asked(), length)
    stopped = tokens([*deltas(TEXT), "\n\n"], end="", finish_reason="stop_sequence")
    yield drafted("tgi/stopped", asked(stop=["\n\n"]), stopped)
    prompted = tokens(deltas(TEXT), before="Is the horn on? ")
    yield drafted("tgi/full-text", asked(return_full_text=True), prompted)
    error = {"error": "Request failed during generation: CUDA error", "error_type": "generation"}
    yield drafted("tgi/error-in-text", asked(), [*tokens(deltas(TEXT))[:2], Message(error)])
    details = {"finish_reason": "eos_token", "generated_tokens": 6, "seed": None, "prefill": []}
    whole = {"generated_text": TEXT, "details": {**details, "tokens": []}}
    yield body_draft("tgi/body", asked(), whole, dialect=DIALECT, path="/generate")


def asked(*, details: bool = True, **more: Any) -> Fields:
    parameters = {"details": details, "max_new_tokens": 64, **more}
    return {"inputs": "Is the horn on? ", "parameters": parameters}


def tokens(
    pieces: list[str],
    *,
    end: str = END,
    before: str = "",
    details: bool = True,
    finish_reason: str = "eos_token",
) -> list[Message]:
    """An event for each piece; the last one has the whole text, which `before` stands before."""
    texts = [(each, False) for each in pieces] + ([(end, True)] if end else [])
    made: list[Fields] = [
        {
            "index": number,
            "token": {"id": 900 + number, "text": text, "logprob": -0.25, "special": is_special},
            "generated_text": None,
            "details": None,
        }
        for number, (text, is_special) in enumerate(texts, 1)
    ]
    made[-1]["generated_text"] = before + "".join(pieces)
    if details:
        counts = {"generated_tokens": len(made), "seed": None, "input_length": 7}
        made[-1]["details"] = {"finish_reason": finish_reason, **counts}
    return [Message(each) for each in made]
