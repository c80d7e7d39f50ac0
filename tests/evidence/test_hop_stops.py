"""What an application says itself where its model did not come to an end."""

from __future__ import annotations

from typing import Final

import pytest

from conformance.core.events import Ending, Response
from conformance.rules.verdicts import Verdict
from tests.evidence.two_hops import Payload, acp, broken_hops, chat, judged_hops, sse, vercel_part

NOTICE: Final = "Interrupted by the user."
SORRY: Final = "Sorry, something went wrong."
THOUGHT: Final = "Two and two is"
BEGUN: Final = "The ferry leaves at "
ASKED: Final = {"model": "m", "messages": [{"role": "user", "content": "When?"}], "stream": True}
REFUSED: Final = Response(400, headers=(("content-type", "application/json"),))
Shown = tuple[str, str]


def _begun(*deltas: Payload) -> Shown:
    """An answer of which its beginning came."""
    dialect, body = chat(*deltas)
    return dialect, "".join(f"{each}\n\n" for each in body.split("\n\n")[: len(deltas)])


def _ui(*parts: Payload, ends: tuple[Payload, ...] = ({"type": "abort"},)) -> Shown:
    answer = [{"type": "start"}, {"type": "start-step"}, *parts, *ends]
    return "vercel.ui", sse(answer) + "data: [DONE]\n\n"


def _acp(*chunks: tuple[str, str]) -> Shown:
    dialect, body = acp(*chunks)
    return dialect, body.replace("end_turn", "cancelled")


def _agui(text: str, role: str, *, in_chunks: bool = False) -> Shown:
    """A run that fails, with a text of its own in a message of that role."""
    named = {"messageId": "own"}
    start: Payload = {"role": role} if role else {}
    content = {"type": "TEXT_MESSAGE_CONTENT", **named, "delta": text}
    message: list[Payload] = [
        {"type": "TEXT_MESSAGE_START", **named, **start},
        content,
        {"type": "TEXT_MESSAGE_END", **named},
    ]
    if in_chunks:
        message = [{"type": "TEXT_MESSAGE_CHUNK", **named, **start, "delta": text}]
    about = {"threadId": "t", "runId": "r"}
    error = {"type": "RUN_ERROR", "message": "stopped"}
    return "agui", sse([{"type": "RUN_STARTED", **about}, *message, error])


THINKING: Final = vercel_part("reasoning", THOUGHT)
IN_THOUGHT: Final = _begun({"reasoning_content": THOUGHT})
IN_TEXT: Final = _begun({"reasoning_content": THOUGHT}, {"content": BEGUN})
STATUS: Final = {"type": "data-status", "data": {"text": NOTICE}}


@pytest.mark.parametrize(
    ("shown", "upstream", "found"),
    [
        (_ui(*THINKING), IN_THOUGHT, set()),
        (_ui(*THINKING, *vercel_part("text", NOTICE)), IN_THOUGHT, {"hop/text"}),
        (_ui(*THINKING, *vercel_part("text", BEGUN + NOTICE)), IN_TEXT, {"hop/text"}),
        (_ui(*THINKING, *vercel_part("text", BEGUN)), IN_TEXT, set()),
        (_ui(*THINKING, *vercel_part("text", BEGUN[:9])), IN_TEXT, set()),
        (_ui(*vercel_part("reasoning", THOUGHT + NOTICE)), IN_THOUGHT, {"hop/thinking"}),
        (_ui(*THINKING, STATUS), IN_THOUGHT, set()),
        (_acp(("thought", THOUGHT)), IN_THOUGHT, set()),
        (_acp(("thought", THOUGHT), ("message", NOTICE)), IN_THOUGHT, {"hop/text"}),
        (
            _acp(("thought", THOUGHT), ("message", BEGUN), ("message", NOTICE)),
            IN_TEXT,
            {"hop/text"},
        ),
        (_acp(("thought", THOUGHT), ("message", "\n\n")), IN_THOUGHT, set()),  # no words
        (_agui(NOTICE, ""), IN_THOUGHT, {"hop/text"}),
        (_agui(NOTICE, "assistant"), IN_THOUGHT, {"hop/text"}),
        (_agui(NOTICE, "assistant", in_chunks=True), IN_THOUGHT, {"hop/text"}),
        (_agui(NOTICE, "system"), IN_THOUGHT, set()),
        (_agui(NOTICE, "developer", in_chunks=True), IN_THOUGHT, set()),
    ],
)
def test_stopped_model_is_shown_as_it_is(shown: Shown, upstream: Shown, found: set[str]) -> None:
    ends: dict[int, Ending] = {2: "client-closed"}
    stopped = judged_hops(shown, upstream, ends=ends, is_played=True)
    assert broken_hops(stopped) & {"hop/text", "hop/thinking"} == found
    # Who did not play the model does not know what else it said.
    unknown = judged_hops(shown, upstream, ends=ends)
    assert broken_hops(unknown) & {"hop/text", "hop/thinking"} == set()


@pytest.mark.parametrize("end", ["reset", "eof"])
@pytest.mark.parametrize(
    ("text", "found"), [("", set()), (BEGUN, set()), (BEGUN + SORRY, {"hop/text"})]
)
def test_broken_model_is_shown_as_it_is(end: Ending, text: str, found: set[str]) -> None:
    failed = ({"type": "error", "errorText": "x"}, {"type": "finish", "finishReason": "error"})
    parts = vercel_part("text", text) if text else []
    shown = _ui(*THINKING, *parts, ends=failed)
    assert broken_hops(judged_hops(shown, IN_TEXT, ends={2: end})) == found


def _own(number: int, text: str) -> list[Payload]:
    return [{**each, "id": str(number)} for each in vercel_part("text", text)]


@pytest.mark.parametrize("begun", [BEGUN, "Nine"])
@pytest.mark.parametrize(
    ("rest", "found"), [([], set()), (_own(9, SORRY), {"hop/text"}), ([STATUS], set())]
)
def test_only_words_of_tries_are_shown(begun: str, rest: list[Payload], found: set[str]) -> None:
    """Tries break off until the last one is refused; what was said may stay, however short."""
    failed = ({"type": "error", "errorText": "x"}, {"type": "finish", "finishReason": "error"})
    tried = _begun({"content": begun})
    refused = ("openai.chat", '{"error": {"message": "no"}}')
    result = judged_hops(
        _ui(*_own(0, begun), *rest, ends=failed),
        *(tried, tried, refused),
        asked=(ASKED,) * 3,
        heads={4: REFUSED},
        ends={2: "reset", 3: "reset"},
    )
    assert broken_hops(result) == found
    assert (result.verdicts["hop/text"] is Verdict.FAIL) is bool(found)


def test_words_next_to_a_try_that_stays_are_a_finding_of_their_own() -> None:
    whole = "At nine, from the old harbour."
    shown = _ui(
        *(*_own(0, BEGUN), *_own(1, SORRY), *_own(2, whole)),
        ends=({"type": "finish-step"}, {"type": "finish", "finishReason": "stop"}),
    )
    upstream = (_begun({"content": BEGUN}), chat({"content": whole}))
    result = judged_hops(shown, *upstream, asked=(ASKED, ASKED), ends={2: "reset"})
    assert broken_hops(result) == {"hop/text", "hop/try-replaced"}
    (found,) = (each for each in result.findings if each.rule == "hop/text")
    assert found.message == "expected only the text of the model, got also 'Sorry, somet'"
