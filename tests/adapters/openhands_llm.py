"""OpenHands SDK: what `on_token` is handed while an answer streams. Needs Python 3.12."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would be fetched
os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")

from openhands.sdk import LLM, Message, TextContent  # type: ignore[import-not-found,unused-ignore]

from tests.adapters.harness import Event, serve, spoken, thinking

# Of a model that LiteLLM does not know it asks no stream of Responses: it asks for the whole body
# and pretends one. `python -m tests.adapters.openhands_llm bodies` is the client in that case.
KNOWN = "gpt-5-mini"
BODIES = sys.argv[1:] == ["bodies"]
EVENTS = ("thinking.delta", "text.delta")


def stream(command: Mapping[str, Any]) -> Iterator[Event]:
    """One case; the SDK calls back, so it runs beside."""
    heard_so_far: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()

    def hear(chunk: Any) -> None:
        for event in events_of(chunk):
            heard_so_far.put(event)

    def run() -> None:
        try:
            ask(command, hear)
        except BaseException as error:  # noqa: BLE001  # it is raised where the case is
            heard_so_far.put(error)
        else:
            heard_so_far.put(None)

    threading.Thread(target=run, daemon=True).start()
    while (event := heard_so_far.get()) is not None:
        if isinstance(event, BaseException):
            raise event
        yield event


def ask(command: Mapping[str, Any], hear: Callable[[Any], None]) -> None:
    """Asks with the last words of the user."""
    words = [each.get("content") for each in command["messages"] if each.get("role") == "user"]
    prompt = next((each for each in reversed(words) if isinstance(each, str)), "Hello?")
    is_responses = command["dialect"] == "openai.responses"
    model = KNOWN if is_responses and not BODIES else "m"
    llm = LLM(
        model=f"openai/{model}",
        base_url=command["base_url"],
        api_key="none",
        num_retries=0,
        timeout=max(1, command["deadline_ms"] // 1000),
        stream=True,
        usage_id="conformance",
    )
    messages = [Message(role="user", content=[TextContent(text=prompt)])]
    if is_responses:
        llm.responses(messages, on_token=hear)
    else:
        llm.completion(messages, on_token=hear)


def events_of(chunk: Any) -> Iterator[Event]:
    """What one chunk says."""
    for choice in chunk.choices or ():
        delta = choice.delta
        yield from thinking(getattr(delta, "reasoning_content", None))
        yield from spoken(getattr(delta, "content", None))


if __name__ == "__main__":
    serve(
        stream,
        package="openhands-sdk",
        name="openhands-sdk-bodies" if BODIES else "openhands-sdk",
        dialects=("openai.responses",) if BODIES else ("openai.chat", "openai.responses"),
        events=EVENTS,
        features=("bodies",) if BODIES else (),
    )
