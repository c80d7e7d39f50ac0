"""Where cases are put to a client: one adapter, the replay server, and what came over the wire.

An adapter that hangs, crashes, floods or breaks the protocol is ended and started again; what it
did is the answer to that case, and to no other. After `MOST_IN_A_ROW` such cases without a right
one between them it is given up: the rest is answered by that, so that the run has its report.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette import Cassette, Header
from conformance.core.errors import AdapterError, ConformanceError, HarnessError
from conformance.core.events import Chunk, Exchange, Response
from conformance.core.framing import Framing, framing_of
from conformance.dialects import APPLICATIONS, ENDPOINTS, get, required
from conformance.dialects.script import CONTENT_TYPES, ScriptedAnswer, encode_stream
from conformance.targets.client.adapter import Adapter, AdapterAnswer, joined_text
from conformance.targets.client.conversation import hello_command
from conformance.targets.client.process import AdapterBounds
from conformance.targets.client.protocol import NEXT_REQUEST, STREAM, ClientImplementation
from conformance.targets.client.variation import ReplayVariation
from conformance.targets.replay import ReplayOptions, ServedRequest, ThreadedServer
from conformance.targets.replay.matching import (
    asks_other_form,
    other_version,
    requested_version,
)
from conformance.wire.requests import json_or_none

MOST_FAULTS: Final = 5  # in a row, before the other cases of a recording are left out
MOST_IN_A_ROW: Final = 5 * MOST_FAULTS
ANSWER: Final = "2 + 2 = 4."
_LOOP: Final = 3  # requests of one case that are no retry any more
_COUNTER = itertools.count(1)


class ReplayedCase(NamedTuple):
    """What came of a case: the answer of the adapter, its `seq`, and the requests of the client.

    `waits` are the seconds from the end of the request before to the beginning of each.
    """

    answered: AdapterAnswer
    seq: str
    seen: list[ServedRequest]
    waits: list[float]

    @property
    def requests(self) -> str:
        """The request, for a message."""
        return ", ".join(f"{each.method} {each.path}" for each in self.seen) or "nothing"

    def adapter_reason(self) -> str:
        """What the adapter says of it, to go on with in a message; empty where it says nothing."""
        return f"; the adapter says {self.answered.ending_text()}" if self.answered.reason() else ""

    @property
    def is_served(self) -> bool:
        """Whether any request got the recorded answer."""
        return any(each.exchange for each in self.seen)

    def other_form_reason(self, served: Exchange, dialect: str) -> str:
        """Why the answer was not for this client, which requested none of its form; else empty."""
        known = replace(served, dialect=dialect)
        if self.is_served or not any(
            asks_other_form(known, each.path, each.body) for each in self.seen
        ):
            return ""
        here = framing_of(served)
        dialect_of = get(dialect)
        for each in self.seen:
            if version := other_version(known, dialect_of, each.body):
                return f"it asked in version {version}, another one was recorded"
        streams = any(dialect_of.asks_for_stream(e.path, json_or_none(e.body)) for e in self.seen)
        wanted = "a whole body" if not streams else "a stream" if here == "body" else "events"
        was = {"body": "a whole body", "array": "an array"}.get(here, "a stream")
        return f"it asked for {wanted} where {was} was recorded"


class RequestLog(Struct):
    """What the replay server saw, by the name of the case, and when each request had its end."""

    requests: dict[str, list[tuple[ServedRequest, float]]] = field(default_factory=dict)

    def note_request(self, requests: ServedRequest) -> None:
        """Called by the server, in its thread."""
        self.requests.setdefault(requests.name, []).append((requests, time.monotonic()))

    def take_requests(self, name: str) -> tuple[list[ServedRequest], list[float]]:
        """The requests of a case, and how long after the one before each of them began."""
        noted = self.requests.pop(name, [])
        ends = [0.0, *(end for _, end in noted)]
        waits = [end - requests.ms / 1000 - ends[n] for n, (requests, end) in enumerate(noted)]
        return [requests for requests, _ in noted], waits


class ReplayEndpoint:
    """Puts cases to an adapter; a context manager that ends it."""

    def __init__(
        self,
        command: str | Sequence[str],
        server: ThreadedServer,
        log: RequestLog,
        bounds: AdapterBounds | None = None,
        passed: Sequence[str] = (),
        *,
        deadline: float,
    ) -> None:
        self.left: list[str] = []  # who outlived an adapter
        self._command = command
        self._passed = passed
        self._server = server
        self._log = log
        self._deadline = deadline
        self._bounds = bounds or AdapterBounds()
        self._is_warm = False  # a case was sent
        self._given_up = ""
        self._adapter = Adapter(command, bounds, passed)
        self.about: ClientImplementation = self._adapter.implementation
        self.faults = 0  # in a row

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._adapter.kill()

    def stop(self) -> str:
        """Ends the adapter; what it did wrong in this, or nothing."""
        if not self._given_up:
            try:
                self._adapter.stop()
            except HarnessError as err:
                return str(err)
            finally:
                self.left += self._adapter.left
        return ""

    def replay_stream(
        self, variation: ReplayVariation, dialect: str, command: Mapping[str, Any]
    ) -> ReplayedCase:
        """Replays one answer to every request of the client."""
        return self.replay_in_turn([variation.exchange], dialect, command, variation.options)

    def replay_in_turn(
        self,
        answers: Sequence[Exchange],
        dialect: str,
        command: Mapping[str, Any],
        options: ReplayOptions | None = None,
    ) -> ReplayedCase:
        """One answer after the other to the requests of one case, each once."""
        seq = str(next(_COUNTER))
        # Any request of this dialect is answered: a client writes its own.
        served = (replace(each, request=None, hop="", dialect=dialect) for each in answers)
        cassette = Cassette(Header(dialect=dialect), tuple(served))
        request = answers[0].request if answers else None
        version = requested_version(get(dialect), request.json) if request else ""
        chosen = replace(options or ReplayOptions(), own_form=True, version=version)
        name = self._server.mount(cassette, name=f"case-{seq}", options=chosen)
        url = self._server.base_url(name) + _base_path(dialect)
        case = {"dialect": dialect, "base_url": url, **command}
        case["deadline_ms"] = round(self._deadline * 1000)
        try:
            answered = self._answer_to({"cmd": STREAM, "seq": seq, **case})
            self._server.settle()
        finally:
            self._server.unmount(name)
        seen, waits = self._log.take_requests(name)
        return ReplayedCase(_with_loop(answered, len(seen)), seq, seen, waits)

    def next_request(
        self, dialect: str, command: Mapping[str, Any], after: str = "", adds: Sequence[Any] = ()
    ) -> AdapterAnswer:
        """What the client would send now."""
        more = {"after": after, "adds": list(adds)} if after else {}
        url = self._server.url + _base_path(dialect)
        return self.ask(NEXT_REQUEST, dialect=dialect, base_url=url, **command, **more)

    def ask(self, op: str, **fields: Any) -> AdapterAnswer:
        """The answer to a command that needs no server; `fields` as the protocol names them."""
        return self._answer_to({"cmd": op, "seq": str(next(_COUNTER)), **fields})

    def ask_unknown(self) -> AdapterAnswer:
        """The answer to an unknown command: the only right one is `skipped`."""
        command = {"cmd": f"x-{secrets.token_hex(4)}", "seq": str(next(_COUNTER))}
        return self._answer_to(command, is_known=False)

    def stderr_tail(self) -> str:
        """The end of the adapter's stderr, for a message."""
        return self._adapter.stderr_tail()

    def _answer_to(self, command: Mapping[str, Any], *, is_known: bool = True) -> AdapterAnswer:
        if self._given_up:
            return AdapterAnswer("errored", why=self._given_up)
        loads, self._is_warm = 0.0 if self._is_warm else self._bounds.first, True
        try:
            answered = self._adapter.ask(command, self._deadline + loads, is_known=is_known)
        except HarnessError as err:
            self._start_again(err)
            return AdapterAnswer("errored", why=str(err), is_wrong=isinstance(err, AdapterError))
        self.faults = 0
        return answered

    def _start_again(self, fault: HarnessError) -> None:
        self._adapter.kill()
        self.left += self._adapter.left
        self.faults += 1
        self._is_warm = self.faults > 1  # a new process loads its packages again
        if self.faults >= MOST_IN_A_ROW:
            self._given_up = f"stopped after {self.faults} faults in a row: {fault}"
            return
        try:
            self._adapter = Adapter(self._command, self._bounds, self._passed)
        except ConformanceError as err:
            self._given_up = f"stopped, since it does not start again: {err}"


def _with_loop(answered: AdapterAnswer, count: int) -> AdapterAnswer:
    """A case that was not answered, with what explains it where the client repeated its request."""
    if answered.how != "errored" or count < _LOOP:
        return answered
    off = "retries, and loops that carry out calls, have to be off"
    return replace(answered, why=f"{answered.why}; it asked {count} times: {off}")


def _base_path(dialect: str) -> str:
    """The path that a client of a dialect expects in its base URL."""
    if dialect in APPLICATIONS:
        return ""  # requests go to one URL, and to nothing below it
    return required(ENDPOINTS.get(dialect), dialect, "path").base


def run_smoke_case(endpoint: ReplayEndpoint, dialect: str) -> None:
    """A short answer without thinking, before all other cases.

    Raises HarnessError where the report has another form.
    """
    answered, why = smoke_fault(endpoint, dialect)
    if why:
        error = AdapterError if answered.is_wrong else HarnessError
        raise error(f"the smoke case failed: {why}")


def smoke_fault(endpoint: ReplayEndpoint, dialect: str) -> tuple[AdapterAnswer, str]:
    """How a short answer without thinking is reported, and what is wrong with it, or nothing."""
    options = ReplayOptions(repeat=True)
    case = endpoint.replay_in_turn(
        _short_answers(dialect), dialect, hello_command(dialect), options
    )
    return case.answered, _fault_of_smoke(endpoint, dialect, case)


def _fault_of_smoke(endpoint: ReplayEndpoint, dialect: str, case: ReplayedCase) -> str:
    answered = case.answered
    text = joined_text(answered.events, "text.delta")
    if answered.how in ("errored", "skipped"):
        return f"{answered.how}: {answered.reason()}"
    if why := case.other_form_reason(short_answer(dialect), dialect):
        return f"{why}; see the feature `bodies`"
    if not case.is_served:
        return f"base_url got no request; the adapter asked {case.requests}{case.adapter_reason()}"
    if answered.how != "completed":
        return f"expected completed, got {answered.ending_text()}"
    if "text.delta" in endpoint.about.events and text != ANSWER:
        return f"expected {ANSWER!r}, got {text!r}"
    return ""


def run_unknown_case(endpoint: ReplayEndpoint) -> None:
    """A command made up on the spot. Raises HarnessError where it is not skipped."""
    answered = endpoint.ask_unknown()
    if answered.how != "skipped":
        why = f": {answered.why}" if answered.why else ""
        raise AdapterError(f"an unknown command must be skipped, got {answered.how}{why}")


def _short_answers(dialect: str) -> list[Exchange]:
    """A short answer in every form in which a stream of the dialect may be requested."""
    about = get(dialect)
    framings = dict.fromkeys(
        (about.framing, about.framing_at("") if about.framing_at else about.framing)
    )
    return [short_answer(dialect, framing=framing) for framing in framings]


def short_answer(
    dialect: str, *, states_usage: bool = False, framing: Framing | None = None
) -> Exchange:
    """A short answer without thinking, framed as its dialect frames streams unless it is stated."""
    about = get(dialect)
    framing = framing or about.framing
    script = required(about.script, dialect, "scripted answers")
    answer = ScriptedAnswer(
        "answer", 1, thinking="", text=ANSWER, tokens=(1, 1, 0), states_usage=states_usage
    )
    chunks = encode_stream(script.stream(answer, {}), framing)
    headers = (("content-type", CONTENT_TYPES[framing]),)
    return Exchange(
        response=Response(200, "1.1", headers), chunks=tuple(Chunk(data, 0.0) for data in chunks)
    )


def short_variation(dialect: str) -> ReplayVariation:
    """The way in which it is replayed."""
    return ReplayVariation("smoke", "same", short_answer(dialect), ReplayOptions(repeat=True))
