"""What the server of ADK sends where all rules are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any, Final

from tests.authoring.adk import (
    ACTIONS,
    CALL_ID,
    Run,
    call,
    error,
    events,
    listed,
    said,
    thought,
    usage,
)
from tests.authoring.draft import JSON_BODY, Draft, stream_draft
from tests.authoring.pieces import Fields, opaque

DIALECT: Final = "google.adk"
ASKED: Final = "Is the lock open at noon?"
LOCK: Final = "The keeper eats at noon, and the board says that nobody stands in for him then."
LOCK_TEXT: Final = "No. It opens again at one."
SIGNED: Final = opaque("the call")
TOOL: Final = "read_board"
LINE: Final[Fields] = {"line": "noon"}
FOUND: Final = "12 to 1: closed"
DOWN: Final = "503 UNAVAILABLE. {'error': {'code': 503, 'status': 'UNAVAILABLE'}}"

drafted = partial(
    stream_draft, dialect=DIALECT, path="/run_sse", content_type="text/event-stream; charset=utf-8"
)


def drafts() -> Iterator[Draft]:
    yield from _answers()
    yield from _tools()
    yield from _ends()
    yield from _agents()
    yield from _wholes()
    yield _next_turn()


def asked(text: str = ASKED, *, streaming: bool = True, **more: Any) -> Fields:
    new = {"role": "user", "parts": [{"text": text}]}
    named = {"appName": "harbour", "userId": "user", "sessionId": "session-1"}
    return {**named, "newMessage": new, "streaming": streaming, **more}


def _answers() -> Iterator[Draft]:
    run = Run()
    whole = run.answer([thought(LOCK), said(LOCK_TEXT)], usage(41, 9, 18))
    yield drafted("adk/thinking-then-text", asked(), events(whole), sizes=(300, 41, 3, 900))
    *fragments, last = Run().answer([thought(LOCK), said(LOCK_TEXT)], usage(41, 9, 18))
    bare = {key: value for key, value in last.items() if key not in ("finishReason", "partial")}
    yield drafted("adk-1.14/thinking-then-text", asked(), events([*fragments, bare]))
    run = Run()
    whole = run.answer([said(LOCK_TEXT)], usage(41, 9))
    yield drafted("adk/no-thinking", asked(), events(whole))


def tool_round(run: Run) -> list[Fields]:
    """A call, its result, and the answer that it leads to."""
    first = [thought("The board will say it."), call(TOOL, LINE, SIGNED)]
    last = [thought("So it says."), said(LOCK_TEXT)]
    called = run.answer(first, usage(52, 11, 7), longRunningToolIds=[])
    return [*called, run.result(TOOL, FOUND), *run.answer(last, usage(80, 9, 4))]


def _tools() -> Iterator[Draft]:
    yield drafted("adk/tool-round", asked(), events(tool_round(Run())), sizes=(777, 12))

    # A person has to answer: the invocation ends without a result.
    run = Run()
    parts = [thought("Only the keeper knows that."), call("ask_keeper", LINE, SIGNED)]
    waiting = run.answer(parts, usage(52, 11, 7), longRunningToolIds=[CALL_ID])
    yield drafted("adk/long-running", asked(), events(waiting))


def _ends() -> Iterator[Draft]:
    run = Run()
    parts = [thought("There is no end to locks."), said("The first lock, the second lock, the")]
    cut = run.answer(parts, usage(12, 10, 7), "MAX_TOKENS", errorCode="MAX_TOKENS")
    yield drafted("adk/length", asked("List every lock."), events(cut))

    run = Run()
    spoken = run.answer([thought("That must not be said.")], usage(12, 0, 6))[:-1]
    last = spoken[-1]
    stopped: Fields = {"partial": True, "finishReason": "SAFETY", "errorCode": "SAFETY"}
    whole = {**last, "partial": False, "finishReason": "SAFETY", "errorCode": "SAFETY"}
    whole["content"] = {"parts": [thought("That must not be said.")], "role": "model"}
    shown = [{k: v for k, v in each.items() if k != "finishReason"} for each in spoken]
    ends = [*shown, run.event(last["id"], **stopped), whole]
    yield drafted("adk/refused", asked("Say what must not be said."), events(ends))

    run = Run()
    broken = run.answer([thought(LOCK), said("No. It opens")], usage(41, 4, 18))[:-1]
    broken[-1] = {k: v for k, v in broken[-1].items() if k != "finishReason"}
    failed = [*broken, run.failure("UNAVAILABLE", DOWN), error("ServerError", DOWN)]
    yield drafted("adk/error-in-text", asked(), events(failed))

    run = Run()
    failed = [
        run.failure("INVALID_ARGUMENT", "no such model"),
        error("ClientError", "no such model"),
    ]
    yield drafted("adk/error-alone", asked(), events(failed))


def _agents() -> Iterator[Draft]:
    """Two agents side by side, and one that is code and says nothing."""
    run = Run()
    parts = [thought("The tide turns at one."), said("Low water is at one.")]
    tide = run.answer(parts, usage(30, 6, 6), author="tide", branch="both.tide")
    parts = [thought("Noon is lunch."), said(LOCK_TEXT)]
    lock = run.answer(parts, usage(30, 9, 4), author="lock", branch="both.lock")
    extra = [
        {**each, "branch": f"both.{each['author']}"}
        for pair in zip_longest(tide, lock)
        for each in pair
        if each
    ]
    kept = {**ACTIONS, "stateDelta": {"asked": 1}}
    first = {**run.event(author="clerk"), "actions": kept}
    yield drafted("adk/two-agents", asked(), events([first, *extra]))


def _wholes() -> Iterator[Draft]:
    """Answers that were not streamed: as events, and as one list."""

    def payloads(run: Run) -> list[Fields]:
        parts = [call(TOOL, LINE, SIGNED)]
        called = run.whole(parts, usage(52, 11, 7), longRunningToolIds=[])
        parts = [thought("So it says."), said(LOCK_TEXT)]
        return [called, run.result(TOOL, FOUND), run.whole(parts, usage(80, 9, 4))]

    one_by_one = asked(streaming=False)
    yield drafted("adk/whole-events", one_by_one, events(payloads(Run())))
    facts = {"path": "/run", "content_type": JSON_BODY}
    body = (listed(payloads(Run())),)
    yield stream_draft("adk/listed", one_by_one, body, dialect=DIALECT, **facts)


def _next_turn() -> Draft:
    """A turn, and the next one in its session."""
    parts = [thought(LOCK), said(LOCK_TEXT)]
    first = drafted("adk/next-turn", asked(), events(Run().answer(parts, usage(41, 9, 18))))
    run = Run(invocation="e-3f0c51d2-7a45-4f0e-9a5b-synthetic0002")
    parts = [thought("One is the first hour behind lunch."), said("Until six.")]
    second = events(run.answer(parts, usage(60, 3, 9)))
    asks = asked("And until when?")
    return replace(first, then=(replace(first, asked=asks, pieces=second, after=1),))
