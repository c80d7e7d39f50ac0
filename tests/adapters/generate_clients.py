"""Clients of the servers' own `/generate`: of Text Generation Inference, and of SGLang.

    python -m tests.adapters.generate_clients huggingface_hub | text-generation

They give the text as the model wrote it and know no thinking, so it is cut at the markers here:
what is tested is how they read the stream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from tests.adapters.harness import Event, Skip, question, serve, spoken, thinking

Texts = Callable[[Mapping[str, Any]], Iterator[str]]


def of_hub(command: Mapping[str, Any]) -> Iterator[str]:
    """`InferenceClient` of huggingface_hub, which posts to the address that it is given."""
    client = import_module("huggingface_hub").InferenceClient(
        f"{command['base_url']}/generate_stream"
    )
    for token in client.text_generation(question(command), stream=True, details=True):
        if not token.token.special:
            yield token.token.text


def of_text_generation(command: Mapping[str, Any]) -> Iterator[str]:
    """`Client` of text-generation, the server's own."""
    client = import_module("text_generation").Client(f"{command['base_url']}/generate_stream")
    for response in client.generate_stream(question(command)):
        if not response.token.special:
            yield response.token.text


CLIENTS: Mapping[str, Texts] = {
    "huggingface_hub": of_hub,
    "text-generation": of_text_generation,
}


def cut_at(texts: Iterator[str], pairs: list[list[str]]) -> Iterator[Event]:
    """What was said, as thinking between the first pair of markers and as text around it."""
    pieces: list[str] = []
    failure: Exception | None = None
    try:
        for text in texts:
            pieces.append(text)  # noqa: PERF402  # what came so far stays
    except Exception as error:  # noqa: BLE001  # what came before it counts, whatever it is
        failure = error
    words = "".join(pieces)
    opening, closing = pairs[0] if pairs else ("\0", "")
    before, begun, rest = words.partition(opening)
    thought, _, after = rest.partition(closing) if begun else ("", "", "")
    yield from spoken(before)
    yield from thinking(thought)
    yield from spoken(after)
    if failure is not None:
        raise failure


def client(texts: Texts) -> Callable[[Mapping[str, Any]], Iterator[Event]]:
    def asked(command: Mapping[str, Any]) -> Iterator[Event]:
        options = dict(command["options"])
        pairs = options.pop("markers", [])
        if options.get("opened_by_prompt"):
            raise Skip("thinking that the prompt opens has no marker here")
        yield from cut_at(texts(command), pairs)

    return asked


if __name__ == "__main__":
    name = sys.argv[1]
    serve(
        client(CLIENTS[name]),
        package=name,
        name=name,
        dialects=["huggingface.tgi"],
        events=["thinking.delta", "text.delta"],
        reads_markers=True,
    )
