"""Talks with an application of the AI SDK: what its interface sends back with the next message."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

import pytest

from conformance.core.events import Chunk, Exchange, Request, Response
from tests.evidence.links.talks import checked

Part = dict[str, Any]
Edit = Callable[[list[Part]], object]
HEAD: Final = Response(
    200, "1.1", (("content-type", "text/event-stream"), ("x-vercel-ai-ui-message-stream", "v1"))
)
THOUGHT: Final = "The user wants the weather of Bergen, so I ask the tool for it."
RETHOUGHT: Final = "It is fourteen degrees, and that is what I will say to the user."
BEFORE: Final = "Let me look that up for you."
TEXT: Final = "It is fourteen degrees in Bergen now, with some rain."
SEAL: Final = {"anthropic": {"signature": "c2VhbCBvZiB0aGUgZmlyc3Q="}}
RESEAL: Final = {"anthropic": {"signature": "c2VhbCBvZiB0aGUgc2Vjb25k"}}
NAMED: Final = {"toolCallId": "c1", "toolName": "weather"}
STEP: Final = {"type": "step-start"}


def written(kind: str, name: str, text: str, seal: Part | None = None) -> list[Part]:
    sealed = {"providerMetadata": seal} if seal else {}
    ends = ("start", "delta", "end")
    begun, said, over = ({"type": f"{kind}-{each}", "id": name} for each in ends)
    return [begun, {**said, "delta": text}, {**over, **sealed}]


def step(*parts: Part) -> list[Part]:
    return [{"type": "start-step"}, *parts, {"type": "finish-step"}]


def message(name: str, *parts: Part, reason: str = "stop") -> list[Part]:
    return [
        {"type": "start", "messageId": name},
        *parts,
        {"type": "finish", "finishReason": reason},
    ]


def user(name: str, text: str) -> Part:
    return {"id": name, "role": "user", "parts": [{"type": "text", "text": text}]}


def sent(kind: str, text: str, seal: Part | None = None) -> Part:
    sealed = {"providerMetadata": seal} if seal else {}
    return {"type": kind, "text": text, "state": "done", **sealed}


def assistant(name: str, *parts: Part) -> Part:
    return {"id": name, "role": "assistant", "parts": list(parts)}


CALL: Final = {"type": "tool-input-available", **NAMED, "input": {"city": "Bergen"}}
OUTPUT: Final = {"type": "tool-output-available", "toolCallId": "c1", "output": {"degrees": 14.0}}
SENT_CALL: Final = {"type": "tool-weather", "toolCallId": "c1", "state": "output-available"}
CALLED: Final = {**SENT_CALL, "input": {"city": "Bergen"}, "output": {"degrees": 14}}
ASKED: Final = user("u1", "How warm is it in Bergen?")
ASKED_MORE: Final = user("u2", "And what about Oslo?")
FIRST: Final = [*written("reasoning", "r1", THOUGHT, SEAL), *written("text", "t1", BEFORE), CALL]
SECOND: Final = [*written("reasoning", "r2", RETHOUGHT, RESEAL), *written("text", "t2", TEXT)]
WHOLE: Final = message("m1", *step(*FIRST, OUTPUT), *step(*SECOND))
BACK: Final = [STEP, sent("reasoning", THOUGHT, SEAL), sent("text", BEFORE), CALLED]
BACK_MORE: Final = [STEP, sent("reasoning", RETHOUGHT, RESEAL), sent("text", TEXT)]
LAST: Final = message("m2", *step(*written("text", "t3", "Oslo is warmer, with nineteen degrees.")))


def broken(*turns: tuple[list[Part], list[Part]]) -> list[str]:
    """What is wrong in a talk; each turn is the messages of its request and the answer."""
    exchanges = []
    for number, (messages, answer) in enumerate(turns, 1):
        data = "".join(f"data: {json.dumps(each)}\n\n" for each in answer) + "data: [DONE]\n\n"
        asked = Request("POST", "/api/chat", (), {"id": "chat-1", "messages": messages})
        chunks = (Chunk(data.encode(), 1.0),)
        exchanges.append(
            Exchange(number=number, request=asked, response=HEAD, chunks=chunks, end="eof")
        )
    return [f.rule for each in checked(exchanges, "vercel.ui", "ai-6") for f in each.findings]


def _set(at: int, **fields: Any) -> Edit:
    return lambda parts: parts[at].update(fields)


def _drop(at: int, key: str) -> Edit:
    return lambda parts: parts[at].pop(key)


def _double(at: int) -> Edit:
    return lambda parts: parts.insert(at, deepcopy(parts[at]))


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (_set(6, text="It is forty degrees in Bergen."), "ui-message/text-as-said"),
        (lambda parts: parts.pop(2), "ui-message/text-as-said"),
        (_double(6), "returned/text-once"),
        (_set(1, text="Something quite different was thought."), "ui-message/thinking-as-received"),
        (_double(1), "ui-message/thinking-once"),
        (_drop(1, "providerMetadata"), "ui-message/sealed-unchanged"),
        (_set(1, providerMetadata=RESEAL), "ui-message/sealed-unchanged"),
        (_set(3, input={"city": "Lagos"}), "returned/calls-as-made"),
        (_double(3), "returned/calls-as-made"),
        (_set(3, output={"degrees": 40}), "ui-message/output-as-came"),
        (_drop(3, "output"), "ui-message/output-as-came"),
    ],
)
def test_a_message_that_is_altered_is_one_finding(edit: Edit, rule: str) -> None:
    parts = deepcopy([*BACK, *BACK_MORE])
    edit(parts)
    back = assistant("m1", *parts)
    assert broken(([ASKED], WHOLE), ([ASKED, back, ASKED_MORE], LAST)) == [f"history/{rule}"]


WAITING: Final = message("m1", *step(*FIRST), reason="tool-calls")
GOES_ON: Final = message("m1", *step(*SECOND))
UNSEALED: Final = message(
    "m1", *step(*written("reasoning", "r1", THOUGHT), *written("text", "t1", TEXT))
)


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param(
            [([ASKED], WHOLE), ([ASKED, assistant("m1", *BACK, *BACK_MORE), ASKED_MORE], LAST)],
            id="whole",
        ),
        pytest.param(
            [
                ([ASKED], WAITING),
                ([ASKED, assistant("m1", *BACK)], GOES_ON),
                ([ASKED, assistant("m1", *BACK, *BACK_MORE), ASKED_MORE], LAST),
            ],
            id="goes on after a call of the interface",
        ),
        pytest.param([([ASKED], WHOLE), ([ASKED_MORE], LAST)], id="cut to the last message"),
        pytest.param(
            [
                ([ASKED], WHOLE),
                ([ASKED], LAST),
                (
                    [ASKED, assistant("m1", *BACK, *BACK_MORE), ASKED_MORE],
                    message("m3", *step(*SECOND)),
                ),
            ],
            id="asked again",
        ),
        pytest.param(
            [([ASKED], UNSEALED), ([ASKED, assistant("m1", sent("text", TEXT)), ASKED_MORE], LAST)],
            id="a thought without a seal left out",
        ),
    ],
)
def test_a_talk_that_keeps_the_rules(turns: list[tuple[list[Part], list[Part]]]) -> None:
    assert broken(*turns) == []


def test_a_message_is_the_last_one_or_a_new_one() -> None:
    other = message("mX", *step(*SECOND))
    follows = ["wire/ui-message/message-follows"]
    assert broken(([ASKED], WAITING), ([ASKED, assistant("m1", *BACK)], other)) == follows
    back = assistant("m1", *BACK, *BACK_MORE)
    assert broken(([ASKED], WHOLE), ([ASKED, back, ASKED_MORE], WHOLE)) == follows
    twice = ["history/ui-message/ids-distinct"]
    assert broken(([ASKED], WHOLE), ([ASKED, back, ASKED, ASKED_MORE], LAST)) == twice
