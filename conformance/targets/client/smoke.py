"""The case that any adapter must pass, before all others and after them."""

from __future__ import annotations

from typing import Final

from conformance.core.errors import HarnessError
from conformance.core.events import Chunk, Exchange, Response
from conformance.dialects import get, required
from conformance.dialects.script import CONTENT_TYPES, ScriptedAnswer, encode_event
from conformance.targets.client.conversation import HELLO
from conformance.targets.client.replay_endpoint import ReplayEndpoint
from conformance.targets.client.variation import ReplayVariation
from conformance.targets.replay import ReplayOptions

ANSWER: Final = "2 + 2 = 4."


def run_smoke_case(endpoint: ReplayEndpoint, dialect: str) -> None:
    """A short answer without thinking. Raises HarnessError where it is not told rightly."""
    command = {"model": "m", "messages": [dict(HELLO)], "options": {}}
    told, seen, _ = endpoint.replay_stream(short_variation(dialect), dialect, command)
    if told.how in ("errored", "skipped"):
        raise HarnessError(f"the smoke case failed: {told.how}: {told.why}")
    if not any(each.exchange for each in seen):
        asked = ", ".join(f"{each.method} {each.path}" for each in seen) or "nothing"
        raise HarnessError(f"the smoke case failed: base_url was not asked, but {asked}")
    if told.how != "completed":
        raise HarnessError(f"the smoke case failed: expected completed, got {told.how}")
    texts = [event.get("text", "") for event in told.events if event["type"] == "text.delta"]
    if "text.delta" in endpoint.about.events and "".join(texts) != ANSWER:
        raise HarnessError(f"the smoke case failed: expected {ANSWER!r}, got {''.join(texts)!r}")


def run_unknown_case(endpoint: ReplayEndpoint) -> None:
    """A command made up on the spot. Raises HarnessError where it is not skipped."""
    told = endpoint.send_unknown()
    if told.how != "skipped":
        why = f": {told.why}" if told.why else ""
        raise HarnessError(f"an unknown command must be skipped, got {told.how}{why}")


def short_answer(dialect: str, *, states_usage: bool = False) -> Exchange:
    """A short answer without thinking."""
    about = get(dialect)
    script = required(about.script, dialect, "scripted answers")
    answer = ScriptedAnswer(
        "answer", 1, thinking="", text=ANSWER, tokens=(1, 1, 0), states_usage=states_usage
    )
    events = script.stream(answer, {})
    chunks = tuple(Chunk(encode_event(each, about.framing), 0.0) for each in events)
    headers = (("content-type", CONTENT_TYPES[about.framing]),)
    return Exchange(response=Response(200, "1.1", headers), chunks=chunks)


def short_variation(dialect: str) -> ReplayVariation:
    """The way in which it is replayed."""
    return ReplayVariation("smoke", "same", short_answer(dialect), ReplayOptions(repeat=True))


def unasked_answer(dialect: str) -> Exchange:
    """That answer beside a request that nobody sends; usage may have been asked for."""
    return short_answer(dialect, states_usage=True)
