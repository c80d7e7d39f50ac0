"""Deltas of the bus: other events say what they add to, and whose they are."""

from __future__ import annotations

from conformance.editing.deltas import find_deltas, joined_text
from conformance.editing.stream import Stream
from conformance.mutate import take_apart
from tests.authoring.opencode_bus_streams import HOURS, OPENS, drafts

STREAMS = {draft.name.rpartition("/")[2]: draft for draft in drafts()}


def stream(name: str) -> Stream:
    cassette = STREAMS[name].cassette()
    return take_apart(cassette.exchanges[0], "opencode.serve")


def test_a_delta_adds_to_what_its_part_is() -> None:
    apart = stream("thought-then-text")
    assert joined_text(apart, "thinking") == HOURS
    assert joined_text(apart, "text") == OPENS


def test_a_delta_belongs_to_its_session() -> None:
    apart = stream("two-sessions")
    assert {each.choice for each in find_deltas(apart)} == {"ses_1", "ses_2"}
    of_first = [each.text for each in find_deltas(apart, "text") if each.choice == "ses_1"]
    assert "".join(of_first) == OPENS
