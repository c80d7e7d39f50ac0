"""A conversation with an adapter: commands, and what comes back for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.errors import AdapterError
from conformance.core.events import Request
from conformance.core.excerpts import redacted
from conformance.report.printable import visible
from conformance.targets.child_process import stderr_words
from conformance.targets.client.process import AdapterBounds, AdapterFault, AdapterProcess
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
ENDS: Final = frozenset({"completed", "failed", "cut"})
MOST_EVENTS: Final = 200_000
_SHOWN: Final = 300  # characters of a reason in a message


class AdapterAnswer(Struct, frozen=True):
    """The answer of an adapter to one command.

    `how` is the end of a stream, or which other answer came; `why` the reason of `skipped` and
    `errored`, and what the client says of its end; `stderr` the end of what the adapter wrote
    there in this case, where it did not end well. `request` is there for `requested`, `stored` for
    `kept`. `is_wrong`: it wrote what is no answer, which is its own fault.
    """

    how: AnswerKind
    events: tuple[Mapping[str, Any], ...] = ()
    why: str = ""
    stderr: str = ""
    request: Request | None = None
    stored: Mapping[str, Any] | None = None
    is_wrong: bool = False

    def reason(self) -> str:
        """Why it ended, by the client and on stderr, in one line."""
        if self.how == "completed":
            return ""
        why = visible(redacted(self.why), _SHOWN)
        return f"{why}{stderr_words(self.stderr)}".removeprefix("; ")

    def ending_text(self) -> str:
        """How it ended, with the client's own words."""
        return ": ".join(filter(None, (self.how, self.reason())))


class Adapter(AdapterProcess):
    """One running adapter, introduced; a context manager that ends it.

    Raises UsageError where it cannot be started, AdapterError where it never introduces itself,
    HarnessError where it breaks the protocol later, and AdapterFault where it hangs, crashes or
    floods then.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        bounds: AdapterBounds | None = None,
        passed: Sequence[str] = (),
    ) -> None:
        super().__init__(command, bounds, passed)
        try:
            self.send_line(encode_command({"cmd": "start", "version": VERSION}))
            line = self.next_line(monotonic() + self.bounds.start)
            self.implementation: ClientImplementation = read_introduction(decode_answer(line))
        except AdapterFault as err:
            # One that never introduced itself is no client, and no fault of ours.
            self.kill()
            raise AdapterError(f"{err.message}; it never introduced itself", hint=err.hint) from err
        except BaseException:
            self.kill()
            raise

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self.stop()
        else:
            self.kill()

    def stop(self) -> None:
        """Says good-bye, and ends it. Raises HarnessError for an unsolicited line."""
        self.send_line(encode_command({"cmd": "stop"}))
        if line := self.end():
            raise stray_line(line, "nothing was asked")

    def ask(
        self, command: Mapping[str, Any], deadline: float, *, is_known: bool = True
    ) -> AdapterAnswer:
        """Sends a case and reads up to its answer; `deadline` is in seconds.

        With `is_known` false the command is none of the protocol, on purpose.
        """
        if (unasked := self.unrequested_line()) is not None:
            raise stray_line(unasked, "nothing was asked")
        seq = command["seq"]
        self.begin_case()
        self.send_line(
            encode_command(command) if is_known else json.dumps(command).encode() + b"\n"
        )
        until = monotonic() + deadline + self.bounds.grace
        events: list[Mapping[str, Any]] = []
        while True:
            raw = self.next_line(until)
            value = decode_answer(raw)
            if value.get("seq") != seq:
                raise stray_line(raw, f"expected the seq {seq!r}")
            if "event" not in value:
                return replace(_parse_answer(value, events, raw), stderr=self.stderr)
            if value["event"]["type"] not in self.implementation.events:
                raise stray_line(raw, "its introduction does not declare this event")
            events.append(value["event"])
            if len(events) > MOST_EVENTS:
                raise stray_line(raw, f"more than {MOST_EVENTS} events of one case")


def _parse_answer(
    value: Mapping[str, Any], events: list[Mapping[str, Any]], line: bytes
) -> AdapterAnswer:
    if "end" in value:
        return AdapterAnswer(value["end"]["how"], tuple(events), value["end"].get("message", ""))
    if events:
        raise stray_line(line, "events had come, so only `end` may follow")
    if "errored" in value:
        why = ": ".join(filter(None, map(str, value["errored"].values()))) or "no reason"
        return AdapterAnswer("errored", why=why)
    if "skipped" in value:
        return AdapterAnswer("skipped", why=value["skipped"])
    if "request" in value:
        return AdapterAnswer("requested", request=request_of(value["request"]))
    if "events" in value:
        return AdapterAnswer("told", tuple(value["events"]))
    if "stored" in value:
        return AdapterAnswer("kept", stored=value["stored"])
    raise stray_line(line, "it answers nothing that was asked")


def joined_text(events: Sequence[Mapping[str, Any]], kind: str) -> str:
    """The text of all deltas of one kind: how it was cut is the client's business."""
    return "".join(str(event.get("text", "")) for event in events if event["type"] == kind)
