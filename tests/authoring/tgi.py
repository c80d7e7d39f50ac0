"""Tokens of Text Generation Inference that keep the rules."""

from __future__ import annotations

from typing import Any, Final

from tests.authoring.pieces import Fields, Message

TEXT: Final = "The horn sounds every minute."
END: Final = "<|im_end|>"


def request_body(*, details: bool = True, **more: Any) -> Fields:
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
