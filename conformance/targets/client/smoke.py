"""The case that any adapter must pass, before all others and after them."""

from __future__ import annotations

from typing import Final

from conformance.core.errors import HarnessError
from conformance.core.events import Chunk, Exchange, Response
from conformance.dialects import get, required
from conformance.dialects.script import CONTENT_TYPES, ScriptedAnswer, encode_event
from conformance.targets.client.asking import HELLO
from conformance.targets.client.station import Station
from conformance.targets.client.variation import Variation
from conformance.targets.replay import ReplayOptions

ANSWER: Final = "2 + 2 = 4."


def smoke(station: Station, dialect: str) -> None:
    """A short answer without thinking. Raises HarnessError where it is not told rightly."""
    said = {"model": "m", "messages": [dict(HELLO)], "options": {}}
    told, seen, _ = station.stream(short(dialect), dialect, said)
    if told.how in ("errored", "skipped"):
        raise HarnessError(f"the smoke case failed: {told.how}: {told.why}")
    if not any(each.exchange for each in seen):
        asked = ", ".join(f"{each.method} {each.path}" for each in seen) or "nothing"
        raise HarnessError(f"the smoke case failed: base_url was not asked, but {asked}")
    if told.how != "completed":
        raise HarnessError(f"the smoke case failed: expected completed, got {told.how}")
    texts = [event.get("text", "") for event in told.events if event["type"] == "text.delta"]
    if "text.delta" in station.about.events and "".join(texts) != ANSWER:
        raise HarnessError(f"the smoke case failed: expected {ANSWER!r}, got {''.join(texts)!r}")


def unknown(station: Station) -> None:
    """A command made up on the spot. Raises HarnessError where it is not skipped."""
    told = station.unknown()
    if told.how != "skipped":
        why = f": {told.why}" if told.why else ""
        raise HarnessError(f"an unknown command must be skipped, got {told.how}{why}")


def greeting(dialect: str, *, states_usage: bool = False) -> Exchange:
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


def short(dialect: str) -> Variation:
    """The way in which it is replayed."""
    return Variation("smoke", "same", greeting(dialect), ReplayOptions(repeat=True))


def answered(dialect: str) -> Exchange:
    """That answer beside a request that nobody sends; usage may have been asked for."""
    return greeting(dialect, states_usage=True)
