"""A conversation with an adapter: commands, and what comes back for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, Literal, Self

from conformance.core.events import Request
from conformance.targets.client.process import Bounds, Process
from conformance.targets.client.protocol import (
    VERSION,
    Implementation,
    answer,
    introduced,
    request_of,
    spelled,
    stray,
)

End = Literal["completed", "failed", "cut", "skipped", "errored", "requested", "told", "kept"]
MOST_EVENTS: Final = 200_000


@dataclass(frozen=True, slots=True)
class Told:
    """What an adapter answered to one command.

    `how` is the end of a stream, or which other answer came; `why` the reason of `skipped` and
    `errored`; `request` is there for `requested`, `stored` for `kept`.
    """

    how: End
    events: tuple[Mapping[str, Any], ...] = ()
    why: str = ""
    request: Request | None = None
    stored: Mapping[str, Any] | None = None


class Adapter:
    """One running adapter, introduced; a context manager that ends it.

    Raises UsageError where it cannot be started, HarnessError where it breaks the protocol, and
    of it AdapterFault where it hangs, crashes or floods.
    """

    def __init__(self, command: str | Sequence[str], bounds: Bounds | None = None) -> None:
        self._process = Process(command, bounds)
        self._bounds = self._process.bounds
        try:
            self._process.send(spelled({"cmd": "start", "version": VERSION}))
            line = self._process.line(monotonic() + self._bounds.start)
            self.implementation: Implementation = introduced(answer(line))
        except BaseException:
            self._process.kill()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.stop()
        else:
            self._process.kill()

    def stop(self) -> None:
        """Says good-bye, and ends it. Raises HarnessError for a line that nobody asked for."""
        self._process.send(spelled({"cmd": "stop"}))
        if line := self._process.end():
            raise stray(line, "nothing was asked")

    def said(self) -> str:
        """The end of its stderr, for a message; empty where it said nothing."""
        return self._process.said()

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()

    def ask(self, command: Mapping[str, Any], deadline: float) -> Told:
        """Sends a case and reads up to its answer; `deadline` is in seconds."""
        if (line := self._process.waiting()) is not None:
            raise stray(line, "nothing was asked")
        return self._asked(spelled(command), command["seq"], deadline)

    def ask_unknown(self, command: Mapping[str, Any], deadline: float) -> Told:
        """Sends what is no command of the protocol, on purpose."""
        line = json.dumps(command).encode() + b"\n"  # no schema allows it
        return self._asked(line, command["seq"], deadline)

    def _asked(self, line: bytes, seq: str, deadline: float) -> Told:
        self._process.begin_case()
        self._process.send(line)
        until = monotonic() + deadline + self._bounds.grace
        events: list[Mapping[str, Any]] = []
        while True:
            raw = self._process.line(until)
            said = answer(raw)
            if said.get("seq") != seq:
                raise stray(raw, f"expected the seq {seq!r}")
            if "event" not in said:
                return _told(said, events, raw)
            events.append(self._declared(said["event"], raw))
            if len(events) > MOST_EVENTS:
                raise stray(raw, f"more than {MOST_EVENTS} events of one case")

    def _declared(self, event: Mapping[str, Any], line: bytes) -> Mapping[str, Any]:
        if event["type"] not in self.implementation.events:
            raise stray(line, "its introduction does not declare this event")
        return event


def _told(said: Mapping[str, Any], events: list[Mapping[str, Any]], line: bytes) -> Told:
    if "end" in said:
        return Told(said["end"]["how"], tuple(events))
    if events:
        raise stray(line, "events had come, so only `end` may follow")
    if "skipped" in said:
        return Told("skipped", why=said["skipped"])
    if "errored" in said:
        fault = said["errored"]
        return Told("errored", why=": ".join(filter(None, map(str, fault.values()))) or "no reason")
    if "request" in said:
        return Told("requested", request=request_of(said["request"]))
    if "events" in said:
        return Told("told", tuple(said["events"]))
    if "stored" in said:
        return Told("kept", stored=said["stored"])
    raise stray(line, "it answers nothing that was asked")
