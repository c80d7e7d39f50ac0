"""What a model was given before its thinking, and what later requests give before that turn."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.core import shipped
from conformance.judging.rulebook import Rulebook
from conformance.mutate import open_base

TALK = shipped.cassettes() / "anthropic.messages/anthropic/preserved-talk.cassette.jsonl"
INSTRUCTIONS = "history/messages/instructions-kept"
TOOLS = "history/messages/tools-kept"
EARLIER = "history/messages/earlier-kept"
Body = dict[str, Any]
Edit = Callable[[Body], object]


def broken(*edits: tuple[int, Edit]) -> set[str]:
    """The rules that fail where these edits change the requests of these numbers."""
    base = open_base(TALK)
    exchanges = list(base.cassette.exchanges)
    for number, edit in edits:
        exchange = exchanges[number - 1]
        assert exchange.request is not None
        body = copy.deepcopy(exchange.request.json)
        edit(body)
        request = replace(exchange.request, json=body)
        exchanges[number - 1] = replace(exchange, request=request)
    cassette = replace(base.cassette, exchanges=tuple(exchanges))
    recording = replace(base.recording, cassette=cassette)
    return set(replace(base, recording=recording).judge(Rulebook.load()).killed_by)


def prompt(text: str) -> Edit:
    return lambda body: body.update(system=text)


def marked(body: Body) -> None:
    """A client marks what is to be cached: the last block that there is, anew for each request."""
    body["system"] = [
        {"type": "text", "text": body["system"], "cache_control": {"type": "ephemeral"}}
    ]
    body["tools"][-1]["cache_control"] = {"type": "ephemeral"}


def listed(body: Body) -> None:
    body["system"] = [{"type": "text", "text": body["system"]}]


def labelled(body: Body) -> None:
    label = f"x-anthropic-billing-header: cch={len(body['messages'])};"
    body["system"] = [{"type": "text", "text": label}, {"type": "text", "text": body["system"]}]


def without_thinking(body: Body) -> None:
    body["messages"][1]["content"] = body["messages"][1]["content"][2:]


def dropping(body: Body) -> None:
    body["thinking"]["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}


def of_model(name: str) -> Edit:
    return lambda body: body.update(model=name)


NEW_DAY = prompt("You know the tides of one harbour. Today is the tenth of May.")


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([], set()),
        ([(2, NEW_DAY)], {INSTRUCTIONS}),
        ([(3, NEW_DAY)], {INSTRUCTIONS}),
        # It is one cause in all that follow.
        ([(2, NEW_DAY), (3, NEW_DAY)], {INSTRUCTIONS}),
        ([(3, lambda body: body["tools"].clear())], {TOOLS}),
        ([(3, lambda body: body["messages"][0].update(content="?"))], {EARLIER}),
        # What stands behind the turn may be anything.
        ([(3, lambda body: body["messages"].append({"role": "user", "content": "!"}))], set()),
        # Marks of caches move with each request, and the name of a build is nothing to the model.
        ([(1, listed), (2, marked), (3, listed)], set()),
        ([(1, labelled), (2, labelled), (3, labelled)], set()),
        # Other models do not look, and who asks for it gets the answer without the thinking.
        ([(number, of_model("claude-sonnet-4-6")) for number in (1, 2, 3)] + [(2, NEW_DAY)], set()),
        ([(2, NEW_DAY), (2, dropping)], set()),
        # No thinking, nothing to lose.
        ([(3, NEW_DAY), (3, without_thinking)], set()),
    ],
)
def test_thinking_comes_back_in_order(edits: list[tuple[int, Edit]], expected: set[str]) -> None:
    assert broken(*edits) == expected
