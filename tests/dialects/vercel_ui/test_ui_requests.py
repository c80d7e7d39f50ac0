"""The messages that a user interface sends back are those that the SDK's client shows."""

from __future__ import annotations

from typing import Any

from conformance.core.events import Event
from conformance.dialects import get
from conformance.dialects.requests import Continuation, Question


def of(kind: str, **fields: Any) -> Event:
    return Event(kind, fields, 1, "wire")


def history(*events: Event) -> list[dict[str, Any]]:
    form = get("vercel.ui").request
    assert form is not None
    first = form.ask(Question("2 + 2?", 10, streams=True, thinks=True, summarises=False))
    return form.next_turns(Continuation(first, events, "", "", (), True, (), "And then?"))


def test_every_message_has_an_id_of_its_own() -> None:
    named = history(of("start", messageId="m-1"), of("start-step"))
    assert [each["id"] for each in named] == ["user-0", "m-1", "user-1"]
    unnamed = history(of("start"), of("start-step"))
    assert len({each["id"] for each in unnamed}) == 3


def test_what_was_stopped_is_still_streaming() -> None:
    begun = [of("reasoning-start", id="1"), of("reasoning-delta", id="1", delta="two")]
    (_, answer, _) = history(*begun)
    assert [each["state"] for each in answer["parts"]] == ["streaming"]
    (_, answer, _) = history(*begun, of("reasoning-end", id="1"))
    assert [each["state"] for each in answer["parts"]] == ["done"]
