"""A conversation with an adapter: commands, and what comes back for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, Literal, Self

from conformance.core.events import Request
from conformance.targets.client.process import AdapterBounds, AdapterProcess
from conformance.targets.client.protocol import (
    VERSION,
    ClientImplementation,
    decode_answer,
    encode_command,
    read_introduction,
    request_of,
    stray_line,
)

AnswerKind = Literal[
    "completed", "failed", "cut", "skipped", "errored", "requested", "told", "kept"
]
MOST_EVENTS: Final = 200_000


@dataclass(frozen=True, slots=True)
class AdapterAnswer:
    """What an adapter answered to one command.

    `how` is the end of a stream, or which other answer came; `why` the reason of `skipped` and
    `errored`; `request` is there for `requested`, `stored` for `kept`.
    """

    how: AnswerKind
    events: tuple[Mapping[str, Any], ...] = ()
    why: str = ""
    request: Request | None = None
    stored: Mapping[str, Any] | None = None


class Adapter:
    """One running adapter, introduced; a context manager that ends it.

    Raises UsageError where it cannot be started, HarnessError where it breaks the protocol, and
    of it AdapterFault where it hangs, crashes or floods.
    """

    def __init__(self, command: str | Sequence[str], bounds: AdapterBounds | None = None) -> None:
        self._process = AdapterProcess(command, bounds)
        self._bounds = self._process.bounds
        try:
            self._process.send_line(encode_command({"cmd": "start", "version": VERSION}))
            line = self._process.next_line(monotonic() + self._bounds.start)
            self.implementation: ClientImplementation = read_introduction(decode_answer(line))
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
        self._process.send_line(encode_command({"cmd": "stop"}))
        if line := self._process.end():
            raise stray_line(line, "nothing was asked")

    def stderr_tail(self) -> str:
        """The end of its stderr, for a message; empty where it said nothing."""
        return self._process.stderr_tail()

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()

    def ask(self, command: Mapping[str, Any], deadline: float) -> AdapterAnswer:
        """Sends a case and reads up to its answer; `deadline` is in seconds."""
        if (line := self._process.unasked_line()) is not None:
            raise stray_line(line, "nothing was asked")
        return self._read_answers(encode_command(command), command["seq"], deadline)

    def ask_unknown(self, command: Mapping[str, Any], deadline: float) -> AdapterAnswer:
        """Sends what is no command of the protocol, on purpose."""
        line = json.dumps(command).encode() + b"\n"  # no schema allows it
        return self._read_answers(line, command["seq"], deadline)

    def _read_answers(self, line: bytes, seq: str, deadline: float) -> AdapterAnswer:
        self._process.begin_case()
        self._process.send_line(line)
        until = monotonic() + deadline + self._bounds.grace
        events: list[Mapping[str, Any]] = []
        while True:
            raw = self._process.next_line(until)
            value = decode_answer(raw)
            if value.get("seq") != seq:
                raise stray_line(raw, f"expected the seq {seq!r}")
            if "event" not in value:
                return _parse_answer(value, events, raw)
            events.append(self._check_declared(value["event"], raw))
            if len(events) > MOST_EVENTS:
                raise stray_line(raw, f"more than {MOST_EVENTS} events of one case")

    def _check_declared(self, event: Mapping[str, Any], line: bytes) -> Mapping[str, Any]:
        if event["type"] not in self.implementation.events:
            raise stray_line(line, "its introduction does not declare this event")
        return event


def _parse_answer(
    value: Mapping[str, Any], events: list[Mapping[str, Any]], line: bytes
) -> AdapterAnswer:
    if "end" in value:
        return AdapterAnswer(value["end"]["how"], tuple(events))
    if events:
        raise stray_line(line, "events had come, so only `end` may follow")
    if "skipped" in value:
        return AdapterAnswer("skipped", why=value["skipped"])
    if "errored" in value:
        fault = value["errored"]
        return AdapterAnswer(
            "errored", why=": ".join(filter(None, map(str, fault.values()))) or "no reason"
        )
    if "request" in value:
        return AdapterAnswer("requested", request=request_of(value["request"]))
    if "events" in value:
        return AdapterAnswer("told", tuple(value["events"]))
    if "stored" in value:
        return AdapterAnswer("kept", stored=value["stored"])
    raise stray_line(line, "it answers nothing that was asked")
