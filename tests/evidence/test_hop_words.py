"""What of a provider's text is thinking, and what an application may make of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, Literal

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, read, write
from conformance.core import shipped
from conformance.core.events import Exchange
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.authoring.opencode import text_part, thought
from tests.evidence.two_hops import (
    TOOLS,
    Payload,
    acp,
    broken_hops,
    chat,
    codex_exec,
    codex_server,
    hop_findings,
    judged_hops,
    messages,
    opencode_run,
    responses,
    vercel,
    vercel_part,
)

CLOSED: Final = ("Two and", " two.\n", "</think>", "\n\nFour.")
SPOKEN_OF: Final = ("The tag `</thi", "nk>` ends a thought.")
ASIDE: Final = "Well. <think>Two and two.</think> Four."
BLOCKS: Final = "<think>Two.</think>Four. <think>Sure?</think>Yes."
NAMED: Final = "<think>Two.</think>It is `<think>`, then `</think>`."
FENCED: Final = "Write it so:\n```\n<think>Two.</think>\n```\nThat is all."
BROKEN: Final = {"hop/text", "hop/thinking"}


@pytest.mark.parametrize(
    ("expected", "shown", "broken"),
    [
        (CLOSED, [("reasoning", "Two and two.\n"), ("text", "\n\nFour.")], set()),
        # All thinking is in the text: that is one fault.
        (CLOSED, [("text", "".join(CLOSED))], {"hop/text"}),
        (CLOSED, [("text", "Two and two.\n\n\nFour.")], {"hop/text"}),
        (CLOSED, [("text", "Two and two.\n\n\nFour. 8")], BROKEN),
        (CLOSED, [("text", "Two and two.\n\n\nFo")], BROKEN),
        (SPOKEN_OF, [("text", "".join(SPOKEN_OF))], set()),
        # Markers behind other text are words, or a thought: an application may take it either way.
        ([ASIDE], [("text", ASIDE)], set()),
        ([ASIDE], [("text", "Well. "), ("reasoning", "Two and two."), ("text", " Four.")], set()),
        (
            [ASIDE],
            [("text", "Well. "), ("reasoning", "Two and two.")],
            {"hop/text", "hop/order"},
        ),
        ([ASIDE], [("text", "Well.  Four.")], {"hop/thinking"}),
        # A block behind the first one is thinking.
        (
            [BLOCKS],
            [("reasoning", "Two."), ("text", "Four. "), ("reasoning", "Sure?"), ("text", "Yes.")],
            set(),
        ),
        ([BLOCKS], [("reasoning", "Two."), ("text", BLOCKS[19:])], BROKEN),
        # What stands in quotes or in code is words of the model.
        ([NAMED], [("reasoning", "Two."), ("text", NAMED[19:])], set()),
        (
            [NAMED],
            [
                ("reasoning", "Two."),
                ("text", "It is `"),
                ("reasoning", "`, then `"),
                ("text", "`."),
            ],
            BROKEN | {"hop/order"},
        ),
        ([FENCED], [("text", FENCED)], set()),
        (
            [FENCED],
            [("text", FENCED[:17]), ("reasoning", "Two."), ("text", FENCED[36:])],
            BROKEN,
        ),
    ],
)
def test_markers_in_a_text(
    expected: list[str], shown: list[tuple[str, str]], broken: set[str]
) -> None:
    events = [event for kind, text in shown for event in vercel_part(kind, text)]
    assert hop_findings(vercel(*events), chat(*({"content": each} for each in expected))) == broken


@pytest.mark.parametrize(("reason", "broken"), [("length", set()), ("stop", BROKEN)])
def test_open_marker_is_thinking_in_a_broken_answer(reason: str, broken: set[str]) -> None:
    upstream = chat({"content": "Well. <think>Two and"}, reason=reason)
    taken = [*vercel_part("text", "Well. "), *vercel_part("reasoning", "Two and")]
    assert hop_findings(vercel(*taken, reason=reason), upstream) & BROKEN == broken
    shown = vercel(*vercel_part("text", "Well. <think>Two and"), reason=reason)
    assert hop_findings(shown, upstream) == set()


def test_next_to_thinking_that_is_sent_apart_a_closing_marker_is_text() -> None:
    upstream = chat({"reasoning_content": "Tags."}, {"content": "It is </think> here."})
    shown = [*vercel_part("reasoning", "Tags."), *vercel_part("text", "It is </think> here.")]
    assert hop_findings(vercel(*shown), upstream) == set()


def test_an_answer_that_is_shown_as_a_thought_is_one_finding() -> None:
    behind = chat({"reasoning_content": "Two and two."}, {"content": "It is four, no more."})
    shown = vercel_part("reasoning", "Two and two.It is four, no more.")
    assert hop_findings(vercel(*shown), behind) == {"hop/text"}
    apart = [*vercel_part("reasoning", "Two and two."), *vercel_part("reasoning", TEXT)]
    assert hop_findings(vercel(*apart), behind) == {"hop/text"}
    both = [*apart, *vercel_part("text", TEXT)]
    assert "hop/thinking" in hop_findings(vercel(*both), behind)


def test_thinking_that_is_shown_as_text_is_called_so() -> None:
    behind = chat({"reasoning_content": "Two and two."}, {"content": TEXT})
    for begun, known in (("Two and two.", True), ("Three and three.", False)):
        result = judged_hops(vercel(*vercel_part("text", begun + TEXT)), behind)
        (found,) = [each for each in result.findings if each.rule == "hop/text"]
        assert found.message.endswith("; the thinking is in the text") is known


TEXT: Final = "It is four, no more."
SERVED: Final = ("server_tool_use", "text", "tool_use")


@pytest.mark.parametrize(
    ("expected", "shown", "broken"),
    [
        (SERVED, ("text", "timetable"), set()),
        (SERVED, ("web_search", "text", "timetable"), set()),
        (("server_tool_use", *SERVED), ("web_search", "text", "timetable"), set()),
        (SERVED, ("web_search", "text"), {"hop/tools"}),
        (SERVED, ("text", "fares"), {"hop/tools"}),
        (SERVED, ("text", "web_search", "timetable"), {"hop/order"}),
    ],
)
def test_calls_that_the_provider_carries_out_may_be_shown_or_not(
    expected: tuple[str, ...], shown: tuple[str, ...], broken: set[str]
) -> None:
    assert set(shown) <= {"text", "fares", *TOOLS.values()}
    events: list[Payload] = []
    for number, name in enumerate(shown):
        call = {"toolCallId": f"call-{number}", "toolName": name, "input": {"q": "x"}}
        tool = [{"type": "tool-input-available", **call}]
        events += vercel_part("text", "It sails.") if name == "text" else tool
    assert hop_findings(vercel(*events), messages(*expected)) == broken


SUMMARY: Final = ("**Adding**\n\nTwo and two.", "**Checking**\n\nThree is less.")
FOUR: Final = ("message", "Four.")


@pytest.mark.parametrize(
    ("shown", "broken"),
    [
        (acp(("thought", "".join(SUMMARY)), FOUR), set()),
        (acp(("thought", "\n\n" + "\n\n".join(SUMMARY) + "\n\n"), FOUR), set()),
        (acp(("thought", "\n".join((*SUMMARY, SUMMARY[1]))), FOUR), {"hop/thinking"}),
        (acp(("thought", SUMMARY[0]), FOUR), {"hop/thinking"}),
        (acp(("thought", " ".join("".join(SUMMARY).split())), FOUR), {"hop/thinking"}),
        (codex_exec(("reasoning", "\n".join(SUMMARY)), ("agent_message", "Four.")), set()),
        (
            codex_exec(("reasoning", "\n".join(SUMMARY[::-1])), ("agent_message", "Four.")),
            {"hop/thinking"},
        ),
        (
            codex_exec(*(("reasoning", each) for each in SUMMARY[0]), ("agent_message", "Four.")),
            {"hop/thinking"},
        ),
        (opencode_run(*map(thought, SUMMARY), text_part("Four.")), set()),
        (
            opencode_run(thought("\n\n".join(SUMMARY)), text_part("Four.")),
            {"hop/thinking"},
        ),
        (opencode_run(thought(SUMMARY[0]), text_part("Four.")), {"hop/thinking"}),
        (opencode_run(*map(thought, SUMMARY), text_part("Five.")), {"hop/text"}),
        (
            vercel(*vercel_part("reasoning", "\n\n".join(SUMMARY)), *vercel_part("text", "Four.")),
            {"hop/thinking"},
        ),
    ],
)
def test_joined_summary_parts_get_white_space(shown: tuple[str, str], broken: set[str]) -> None:
    assert hop_findings(shown, responses(SUMMARY, "Four.")) == broken


@pytest.mark.parametrize(
    ("chunks", "broken"),
    [
        ([("message", "No model of that name."), ("thought", "Two."), FOUR], {"hop/text"}),
        ([FOUR, ("thought", "Two.")], {"hop/order"}),
    ],
)
def test_added_text_has_no_order(chunks: list[tuple[str, str]], broken: set[str]) -> None:
    assert hop_findings(acp(*chunks), responses(["Two."], "Four.")) == broken


def test_an_item_may_be_shown_itself_and_as_its_summary_at_once() -> None:
    upstream = responses(["**Adding**"], "Four.", raw="Two and two.")
    assert hop_findings(codex_server("Two and two.", "**Adding**", "Four."), upstream) == set()


@pytest.mark.parametrize("has_ended", [False, True])
def test_thinking_may_go_on_while_an_agent_carries_out_a_call(*, has_ended: bool) -> None:
    """An agent that never ends its call has one fault, which the protocol's own rule reports."""
    dialect, lines = acp(("thought", "Two."), ("thought", "Sum it up."), FOUR)
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "read", "rawInput": {}}
    ended = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}
    first, second, *rest = lines.splitlines()
    upstream = [ended] if has_ended else []
    updates = [
        json.dumps({"method": "session/update", "params": {"sessionId": "s", "update": each}})
        for each in (call, *upstream)
    ]
    shown = "\n".join([first, updates[0], second, *updates[1:], *rest, ""])
    call_of = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    found = judged_hops(
        (dialect, shown),
        chat({"reasoning_content": "Two."}, {"tool_calls": [{"index": 0, **call_of}]}),
        chat({"reasoning_content": "Sum it up."}, {"content": FOUR[1]}),
    )
    assert "hop/thinking-apart" not in broken_hops(found)


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


def test_untrusted_claim_of_our_request_is_judged(
    tmp_path: Path,
) -> None:
    for hop in ("", "downstream"):
        found = verdict(tmp_path, "gateway", hop, "downstream", is_trusted=False)
        assert found is Verdict.FAIL


@pytest.mark.parametrize("dropped", ["", "downstream"])
def test_follow_up_of_toolkit_is_not_held_against_gateway(dropped: Hop, tmp_path: Path) -> None:
    assert verdict(tmp_path, "gateway", "", dropped) is Verdict.PASS
    assert verdict(tmp_path, "gateway", "downstream", dropped) is Verdict.NOT_APPLICABLE
    assert verdict(tmp_path, "server", "downstream", dropped) is Verdict.NOT_APPLICABLE


def test_a_gateway_that_drops_the_thinking_is_found(tmp_path: Path) -> None:
    assert verdict(tmp_path, "gateway", "", "upstream") is Verdict.FAIL


def test_a_client_is_still_judged_by_its_own_follow_up(tmp_path: Path) -> None:
    assert verdict(tmp_path, "client", "downstream", "downstream") is Verdict.FAIL


@pytest.mark.parametrize("keeps", [True, False])
def test_a_body_whose_thinking_lost_its_seal_is_one_finding(keeps: bool, tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "Two and two.", "signature": "c2VhbGVk"}
    bare = {key: value for key, value in thought.items() if keeps or key != "signature"}
    usage = {"input_tokens": 3, "output_tokens": 9}
    steps = {"body": {"ends": ["complete"], "calls": 1}}
    lines: list[dict[str, object]] = [
        {
            "cassette": "1.0",
            "dialect": "anthropic.messages",
            "profile": "strict",
            "run": {"target": "gateway", "deterministic": True, "steps": steps},
        }
    ]
    for number, (hop, block) in enumerate((("downstream", bare), ("upstream", thought)), 1):
        said = {"type": "message", "id": "m", "role": "assistant", "model": "m", "usage": usage}
        content = [block, {"type": "text", "text": TEXT}]
        body = {**said, "content": content, "stop_reason": "end_turn", "stop_sequence": None}
        ask = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "Hi"}]}
        asked = {"method": "POST", "path": "/v1/messages", "json": ask}
        head = {"status": 200, "headers": [["content-type", "application/json"]]}
        lines += [
            {"request": asked, "exchange": number, "scenario": "a", "role": "body", "hop": hop},
            {"response": head, "ms": 1.0},
            {"ms": 1.0, "text": json.dumps(body)},
            {"end": "eof"},
        ]
    path = tmp_path / "a.cassette.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    report = check_paths([path], trust=[path])
    assert [found.rule for found in report.findings] == (
        [] if keeps else ["wire/messages/body-thinking-signed"]
    )
    opaque = report.streams[0].verdicts["scenario/hop-opaque"]
    assert opaque is (Verdict.PASS if keeps else Verdict.NOT_APPLICABLE)
