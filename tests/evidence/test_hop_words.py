"""What of a provider's text is thinking, and what an application may make of it."""

from __future__ import annotations

import json
from typing import Final

import pytest

from tests.authoring.opencode import said, thought
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
    ("said", "shown", "broken"),
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
def test_markers_in_a_text(said: list[str], shown: list[tuple[str, str]], broken: set[str]) -> None:
    events = [event for kind, text in shown for event in vercel_part(kind, text)]
    assert hop_findings(vercel(*events), chat(*({"content": each} for each in said))) == broken


@pytest.mark.parametrize(("reason", "broken"), [("length", set()), ("stop", BROKEN)])
def test_an_open_marker_that_nothing_closes_is_thinking_where_the_answer_broke_off(
    reason: str, broken: set[str]
) -> None:
    behind = chat({"content": "Well. <think>Two and"}, reason=reason)
    taken = [*vercel_part("text", "Well. "), *vercel_part("reasoning", "Two and")]
    assert hop_findings(vercel(*taken, reason=reason), behind) & BROKEN == broken
    shown = vercel(*vercel_part("text", "Well. <think>Two and"), reason=reason)
    assert hop_findings(shown, behind) == set()


def test_beside_thinking_that_is_sent_apart_a_closing_marker_is_text() -> None:
    behind = chat({"reasoning_content": "Tags."}, {"content": "It is </think> here."})
    shown = [*vercel_part("reasoning", "Tags."), *vercel_part("text", "It is </think> here.")]
    assert hop_findings(vercel(*shown), behind) == set()


def test_an_answer_that_is_shown_as_a_thought_is_one_finding() -> None:
    behind = chat({"reasoning_content": "Two and two."}, {"content": "It is four, no more."})
    shown = vercel_part("reasoning", "Two and two.It is four, no more.")
    assert hop_findings(vercel(*shown), behind) == {"hop/text"}
    apart = [*vercel_part("reasoning", "Two and two."), *vercel_part("reasoning", TEXT)]
    assert hop_findings(vercel(*apart), behind) == {"hop/text"}
    both = [*apart, *vercel_part("text", TEXT)]
    assert "hop/thinking" in hop_findings(vercel(*both), behind)


TEXT: Final = "It is four, no more."
SERVED: Final = ("server_tool_use", "text", "tool_use")


@pytest.mark.parametrize(
    ("said", "shown", "broken"),
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
    said: tuple[str, ...], shown: tuple[str, ...], broken: set[str]
) -> None:
    assert set(shown) <= {"text", "fares", *TOOLS.values()}
    events: list[Payload] = []
    for number, name in enumerate(shown):
        call = {"toolCallId": f"call-{number}", "toolName": name, "input": {"q": "x"}}
        tool = [{"type": "tool-input-available", **call}]
        events += vercel_part("text", "It sails.") if name == "text" else tool
    assert hop_findings(vercel(*events), messages(*said)) == broken


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
        (opencode_run(*map(thought, SUMMARY), said("Four.")), set()),
        (
            opencode_run(thought("\n\n".join(SUMMARY)), said("Four.")),
            {"hop/thinking"},
        ),
        (opencode_run(thought(SUMMARY[0]), said("Four.")), {"hop/thinking"}),
        (opencode_run(*map(thought, SUMMARY), said("Five.")), {"hop/text"}),
        (
            vercel(*vercel_part("reasoning", "\n\n".join(SUMMARY)), *vercel_part("text", "Four.")),
            {"hop/thinking"},
        ),
    ],
)
def test_who_cannot_tell_parts_of_a_summary_apart_puts_white_space_between_them(
    shown: tuple[str, str], broken: set[str]
) -> None:
    assert hop_findings(shown, responses(SUMMARY, "Four.")) == broken


@pytest.mark.parametrize(
    ("chunks", "broken"),
    [
        ([("message", "No model of that name."), ("thought", "Two."), FOUR], {"hop/text"}),
        ([FOUR, ("thought", "Two.")], {"hop/order"}),
    ],
)
def test_a_text_that_no_model_said_has_no_place_in_the_order(
    chunks: list[tuple[str, str]], broken: set[str]
) -> None:
    assert hop_findings(acp(*chunks), responses(["Two."], "Four.")) == broken


def test_an_item_may_be_shown_itself_and_as_its_summary_at_once() -> None:
    behind = responses(["**Adding**"], "Four.", raw="Two and two.")
    assert hop_findings(codex_server("Two and two.", "**Adding**", "Four."), behind) == set()


@pytest.mark.parametrize("has_ended", [False, True])
def test_thinking_may_go_on_while_an_agent_carries_out_a_call(*, has_ended: bool) -> None:
    """An agent that never ends its call has one fault, which the protocol's own rule reports."""
    dialect, lines = acp(("thought", "Two."), ("thought", "Sum it up."), FOUR)
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "read", "rawInput": {}}
    ended = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}
    first, second, *rest = lines.splitlines()
    behind = [ended] if has_ended else []
    updates = [
        json.dumps({"method": "session/update", "params": {"sessionId": "s", "update": each}})
        for each in (call, *behind)
    ]
    shown = "\n".join([first, updates[0], second, *updates[1:], *rest, ""])
    call_of = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    found = judged_hops(
        (dialect, shown),
        chat({"reasoning_content": "Two."}, {"tool_calls": [{"index": 0, **call_of}]}),
        chat({"reasoning_content": "Sum it up."}, {"content": FOUR[1]}),
    )
    assert "hop/thinking-apart" not in broken_hops(found)
