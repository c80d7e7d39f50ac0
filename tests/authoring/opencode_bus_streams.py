"""What listeners to `opencode serve` hear where all rules are kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from typing import Final

from tests.authoring.draft import Draft, stream_draft
from tests.authoring.opencode_bus import (
    ASKED,
    BEAT,
    CONNECTED,
    HOURS,
    OPENS,
    Session,
    failure,
)
from tests.authoring.pieces import Message

DIALECT: Final = "opencode.serve"
SIGN: Final = {"filePath": "sign.txt"}

drafted = partial(stream_draft, asked={}, dialect=DIALECT, path="/event", method="GET")


def _heard(topic: str, *events: Message, sizes: tuple[int, ...] = ()) -> Draft:
    return drafted(f"opencode/{topic}", pieces=[CONNECTED, *events], sizes=sizes)


def answered(
    talk: Session, question: str = ASKED, thought: str = HOURS, text: str = OPENS
) -> list[Message]:
    """A turn with a thought and a text."""
    sent = [*talk.user_asks(question), *talk.begun(), *talk.thought(thought), *talk.text(text)]
    return [*sent, *talk.over(), *talk.idle()]


def _answered_next(talk: Session) -> list[Message]:
    thought = "Saturday is on the lower line of it, together with Sunday: from seven on."
    return answered(talk, "And on Saturday?", thought, "At seven, like on Sunday.")


def drafts() -> Iterator[Draft]:
    talk = Session()
    yield _heard("thought-then-text", talk.created(), *answered(talk), sizes=(131, 7, 900))
    talk = Session()
    sent = [*talk.user_asks(ASKED), *talk.begun(), *talk.text(OPENS)]
    yield _heard("text-alone", *sent, *talk.over(), *talk.idle())
    talk = Session()
    sent = [
        *talk.user_asks(ASKED),
        *talk.begun(),
        *talk.thought(HOURS),
        BEAT,
        *talk.text("At six, f"),
    ]
    yield _heard("cut-at-limit", *sent, *talk.over("length"), *talk.idle())
    talk = Session()
    yield _heard("two-turns", *answered(talk), *_answered_next(talk))
    yield from _overheard()
    yield from _calls()
    yield from _failures()


def _overheard() -> Iterator[Draft]:
    """Who listens to more than one session, or to less than one turn."""
    both = zip_longest(answered(Session()), _answered_next(Session("ses_2")))
    yield _heard("two-sessions", *(event for pair in both for event in pair if event))
    yield _heard("joined-late", *answered(Session())[8:])
    every = [CONNECTED, *answered(Session())]
    wrapped = [Message({"directory": "/home/bakery", "payload": each.payload}) for each in every]
    yield drafted("opencode/all-projects", pieces=wrapped, path="/global/event")


def _calls() -> Iterator[Draft]:
    """Turns with tools, which opencode runs, one of them with a subagent."""
    talk = Session()
    asked = [*talk.user_asks(ASKED), *talk.begun(), *talk.thought("The sign has to be read.")]
    sent = [*asked, *talk.text("Let me look."), *talk.called("read", SIGN, output="1: six to noon")]
    lost = talk.called("read", {"filePath": "door.txt"}, error="File not found: door.txt")
    more = [*talk.over("tool-calls"), *talk.begun(), *talk.text(OPENS)]
    yield _heard("tool-then-text", *sent, *lost, *more, *talk.over(), *talk.idle())
    talk, helper = Session(), Session("ses_2")
    asked = [*talk.user_asks(ASKED), *talk.begun()]
    pending, running, done = talk.called("task", {"prompt": ASKED}, output="At six.")
    helped = [helper.created("ses_1"), *answered(helper)]
    more = [*talk.over("tool-calls"), *talk.begun(), *talk.text(OPENS), *talk.over(), *talk.idle()]
    yield _heard("subagent", *asked, pending, running, *helped, done, *more)


def _failures() -> Iterator[Draft]:
    busy = failure("APIError", "The model is overloaded.", statusCode=529, isRetryable=False)
    talk = Session()
    sent = [*talk.user_asks(ASKED), *talk.begun()[:1], talk.failed(busy), *talk.idle()]
    yield _heard("failed-at-once", *sent, talk.completed(error=busy), *talk.idle())
    talk = Session()
    aborted = failure("MessageAbortedError", "Aborted")
    *sent, end = [*talk.user_asks(ASKED), *talk.begun(), *talk.thought(HOURS)]
    late = [end, talk.completed(error=aborted), *talk.idle()]
    yield _heard("aborted", *sent, talk.failed(aborted), *talk.idle(), *late, *_answered_next(talk))
    talk = Session()
    sent = [*talk.user_asks(ASKED), *talk.begun(), *talk.text("At si", ends=False)]
    again = [talk.status("retry", attempt=1, message="broken off", next=0), talk.status("busy")]
    retried = [talk.started(), *talk.text(OPENS), *talk.over(), *talk.idle()]
    yield _heard("tried-again", *sent, *again, *retried)
    talk = Session()
    blocked = failure("ContentFilterError", "The answer was blocked.")
    sent = [*talk.user_asks(ASKED), *talk.begun(), *talk.text("At six, from")]
    filtered = [*talk.over("content-filter", blocked), talk.failed(blocked)]
    yield _heard("filtered", *sent, *filtered, *talk.idle())
