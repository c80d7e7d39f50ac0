"""What the toolkit wrote is never judged: follow-ups to a gateway, and answers behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, read, write
from conformance.core import shipped
from conformance.core.events import Exchange
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict

Hop = Literal["downstream", "upstream"]
SIGNED = "history/messages/signed-unchanged"
ROUND = shipped.cassettes() / "anthropic.messages/anthropic/tool-round.cassette.jsonl"


def unsigned(exchange: Exchange) -> Exchange:
    """The follow-up of a client that dropped its thinking."""
    request = exchange.request
    assert request is not None
    turns = [
        {**turn, "content": [each for each in turn["content"] if each.get("type") != "thinking"]}
        if turn["role"] == "assistant"
        else turn
        for turn in request.json["messages"]
    ]
    return replace(exchange, request=replace(request, json={**request.json, "messages": turns}))


def verdict(
    folder: Path,
    target: str,
    hop: Hop | Literal[""],
    dropped: Hop | Literal[""],
    *,
    is_trusted: bool = True,
) -> Verdict:
    """Of one round on both hops of a gateway, or of one hop; `dropped` lacks the thinking."""
    first, second = read(ROUND).exchanges
    hops: tuple[Hop, ...] = ("downstream", "upstream") if not hop else (hop,)
    pairs = [
        (
            replace(first, hop=each),
            replace(unsigned(second) if each == dropped else second, hop=each),
        )
        for each in hops
    ]
    turns = [each for turn in zip(*pairs, strict=True) for each in turn]
    made = tuple(replace(each, number=n) for n, each in enumerate(turns, 1))
    header = Header(
        dialect="anthropic.messages",
        profile="anthropic",
        extra={"run": {"target": target, "deterministic": True, "steps": {}}},
    )
    path = folder / "own.cassette.jsonl"
    write(path, Cassette(header, made))
    return check_paths([path], trust=[path] if is_trusted else ()).verdicts[SIGNED]


def test_a_request_that_only_a_recording_calls_ours_is_held_against_whoever_sent_it(
    tmp_path: Path,
) -> None:
    for hop in ("", "downstream"):
        found = verdict(tmp_path, "gateway", hop, "downstream", is_trusted=False)
        assert found is Verdict.FAIL


@pytest.mark.parametrize("dropped", ["", "downstream"])
def test_a_follow_up_of_the_toolkit_is_not_held_against_a_gateway(
    dropped: Hop, tmp_path: Path
) -> None:
    assert verdict(tmp_path, "gateway", "", dropped) is Verdict.PASS
    assert verdict(tmp_path, "gateway", "downstream", dropped) is Verdict.NOT_APPLICABLE
    assert verdict(tmp_path, "server", "downstream", dropped) is Verdict.NOT_APPLICABLE


def test_a_gateway_that_drops_the_thinking_is_found(tmp_path: Path) -> None:
    assert verdict(tmp_path, "gateway", "", "upstream") is Verdict.FAIL


def test_a_client_is_still_judged_by_its_own_follow_up(tmp_path: Path) -> None:
    assert verdict(tmp_path, "client", "downstream", "downstream") is Verdict.FAIL
