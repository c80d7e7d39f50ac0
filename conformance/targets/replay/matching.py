"""Which recorded exchange answers a request.

Rule 1: method, path, query, telling headers and canonical body must match. A path is compared
from after its first version segment (`/v1/responses`, `/api/v1/responses` and `/responses` are
one), and among equals the same path wins; `exact_paths` takes only that.
Rule 2: what was not recorded cannot differ: without a recorded body any body matches, without a
recorded request any POST does, and both only where nothing matches better.
Rule 3: a WebSocket is found by its path, query and headers, and then by its client's first message,
where that was recorded.
Rule 4: equal requests get their answers in the order of the recording, each once; with `repeat`
the last one again and again.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl

from msgspec import Struct

from conformance.cassette.redaction.redact import REDACTED
from conformance.core.events import Exchange, Request
from conformance.core.framing import framing_of
from conformance.dialects import ENDPOINTS, SUPPORTED, Dialect
from conformance.targets.replay.canonical import (
    canonical_json,
    canonical_value,
    mask_secrets,
    parse_paths,
)
from conformance.targets.replay.options import ReplayOptions
from conformance.targets.replay.script import AnswerScript, answer_script
from conformance.targets.replay.socket_script import SocketScript, socket_script
from conformance.targets.replay.tape import RecordedExchange
from conformance.wire.heads import lower_names
from conformance.wire.requests import HttpRequest, json_or_none

_VERSION: Final = re.compile(r"^(?:/[^/]*)*?/v[0-9]+[a-z0-9]*(?=/)")

_Key = tuple[str, str, bytes]


class RequestKey(Struct, frozen=True):
    """The parts of a request that are matched: `path` without its prefix and query."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    form: bytes | None  # the canonical body without ignored fields; None: not JSON

    @property
    def target(self) -> str:
        """The path with its query."""
        return f"{self.path}?{self.query}" if self.query else self.path


class ReplayMatch(Struct, frozen=True):
    """The answer; `times` counts how often it was given, this time included."""

    entry: RecordedExchange
    script: AnswerScript | SocketScript
    times: int

    @property
    def answer(self) -> AnswerScript:
        """The script of what no WebSocket is."""
        assert isinstance(self.script, AnswerScript)
        return self.script


def asks_other_form(exchange: Exchange, target: str, request_body: bytes) -> bool:
    """Whether a request asks for a stream where a whole answer was recorded, or vice versa.

    `target` is its path with the query: of some APIs that says how a stream is framed, and who asks
    for events is owed no array. Who asks in another version is owed no answer of this one.
    """
    dialect = SUPPORTED.get(exchange.dialect or "")
    status = exchange.response.status if exchange.response else None
    if dialect is None or (status is not None and status >= 300):
        return False
    if other_version(exchange, dialect, request_body):
        return True
    recorded = framing_of(exchange)
    asks_stream = dialect.asks_for_stream(target, json_or_none(request_body))
    if asks_stream is None or asks_stream is (recorded == "body"):
        return asks_stream is not None
    return bool(asks_stream and dialect.framing_at and dialect.stream_framing(target) != recorded)


def other_version(exchange: Exchange, dialect: Dialect, request_body: bytes) -> str:
    """The version in which a request asks; empty where it is that of the recorded one."""
    if exchange.request is None or dialect.request is None:
        return ""
    version = requested_version(dialect, json_or_none(request_body))
    return version if version != requested_version(dialect, exchange.request.json) else ""


def requested_version(dialect: Dialect, body: Any) -> str:
    """In which version of the API a request asks; empty where answers are alike in all."""
    return dialect.request.version_of(body) if dialect.request else ""


def path_below_version(path: str) -> str:
    """The path from after its first version segment."""
    found = _VERSION.match(path)
    return path[found.end() :] if found else path


_SERVED: Final = {"upstream": ("", "upstream"), "downstream": ("", "downstream", "app")}
"""Side that is requested -> hops that are on it."""


class ExchangeIndex:
    """Exchanges by request; never changes, so that sessions share it."""

    def __init__(self, entries: Sequence[RecordedExchange], options: ReplayOptions) -> None:
        served = _SERVED[options.hop]
        self.entries = tuple(each for each in entries if each.exchange.hop in served)
        self.options = options
        self._ignored = parse_paths(options.ignore)
        self._headers = tuple(name.lower() for name in options.headers)
        self._scripts: dict[int, AnswerScript | SocketScript] = {}
        self._equal: defaultdict[_Key, list[int]] = defaultdict(list)
        self._any_body: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._any_request: list[int] = []
        self._sockets: defaultdict[str | None, list[int]] = defaultdict(list)
        for number, entry in enumerate(self.entries):
            if entry.is_socket:
                request = entry.exchange.request
                path = None if request is None else request.path.partition("?")[0]
                self._sockets[None if path is None else self._compared_path(path)].append(number)
            else:
                self._add_entry(number, entry.exchange.request)

    def request_key(self, request: HttpRequest, target: str) -> RequestKey:
        """The request in the form that is compared; `target` is its path and query."""
        path, _, query = target.partition("?")
        headers = {k: v for k, v in lower_names(request.headers) if k in self._headers}
        form = canonical_json(request.body, self._ignored)
        return RequestKey(request.method, path, query, headers, request.body, form)

    def entry_script(self, number: int) -> AnswerScript | SocketScript:
        known = self._scripts.get(number)
        if known is None:
            entry = self.entries[number]
            made = socket_script if entry.is_socket else answer_script
            known = self._scripts[number] = made(entry.exchange, entry.clock, self.options)
        return known

    def socket_numbers(self, wanted: RequestKey) -> Sequence[int]:
        """Numbers of the WebSockets that a client of this upgrade may be on."""
        here = self._sockets.get(self._compared_path(wanted.path), ())
        found = (*here, *self._sockets.get(None, ()))
        return [number for number in found if self._fits_request(number, wanted)]

    def answers_message(self, number: int, recorded: bytes, sent: bytes) -> bool:
        """Whether a client's message counts as the recorded one of that entry."""
        if recorded == sent:
            return True
        one, other = (canonical_json(each, self._ignored) for each in (recorded, sent))
        if one is None or other is None:
            return False
        is_masked = self.entries[number].redacted
        return one == other or (is_masked and mask_secrets(one) == mask_secrets(other))

    def matching_numbers(self, wanted: RequestKey) -> Sequence[int]:
        """Numbers of the entries that answer, in their order."""
        for tier in self._matching_tiers(wanted):
            if tier and (fitting := [n for n in tier if self._fits_request(n, wanted)]):
                same = [n for n in fitting if self._recorded_path(n) == wanted.path]
                return same or fitting
        return ()

    def _matching_tiers(self, wanted: RequestKey) -> Iterator[Sequence[int]]:
        place = (wanted.method, self._compared_path(wanted.path))
        form = wanted.form or wanted.body
        if form:
            yield self._equal.get((*place, form), ())
            if self._masked_forms:
                yield self._masked_forms.get((*place, mask_secrets(form)), ())
        yield self._any_body.get(place, ())
        if wanted.method == "POST":
            yield self._any_request

    @cached_property
    def _masked_forms(self) -> Mapping[_Key, list[int]]:
        found: defaultdict[_Key, list[int]] = defaultdict(list)
        for (method, place, form), numbers in self._equal.items():
            redacted = [n for n in numbers if self.entries[n].redacted]
            if redacted:
                found[method, place, mask_secrets(form)] += redacted
        return {key: sorted(numbers) for key, numbers in found.items()}

    def _add_entry(self, number: int, request: Request | None) -> None:
        if request is None:
            self._any_request.append(number)
            return
        place = (request.method, self._compared_path(request.path.partition("?")[0]))
        form = None if request.json is None else canonical_value(request.json, self._ignored)
        if form is None and request.raw:
            # A body that only some readers take for JSON (a NaN) is compared as such, too.
            form = canonical_json(request.raw, self._ignored) or request.raw
        if form is None:
            self._any_body[place].append(number)
        else:
            self._equal[*place, form].append(number)

    def _compared_path(self, path: str) -> str:
        return path if self.options.exact_paths else path_below_version(path)

    def _recorded_path(self, number: int) -> str:
        request = self.entries[number].exchange.request
        return request.path.partition("?")[0] if request else ""

    def _fits_request(self, number: int, wanted: RequestKey) -> bool:
        exchange = self.entries[number].exchange
        if exchange.request is None:
            # A recording without its request still says which API it answers.
            endpoint = ENDPOINTS.get(exchange.dialect or "")
            if self.options.own_form and asks_other_form(exchange, wanted.target, wanted.body):
                return False
            if self.options.version and (about := SUPPORTED.get(exchange.dialect or "")):
                version = requested_version(about, json_or_none(wanted.body))
                return version == self.options.version
            return endpoint is None or endpoint.serves(wanted.path)
        return not self.differing_part(exchange.request, wanted)

    def differing_part(self, request: Request, wanted: RequestKey) -> str:
        """Return what differs next to path and body: `query`, a header's name, or nothing."""
        query = request.path.partition("?")[2]
        if query != wanted.query and not _same_query(wanted.query, query):
            return "query"
        recorded = {name.lower(): value for name, value in request.headers}
        for name in self._headers if recorded else ():
            value, sent = recorded.get(name, ""), wanted.headers.get(name, "")
            if value != REDACTED and value.lower() != sent.lower():
                return name
        return ""


class ReplaySession:
    """One index and how often each of its exchanges was served: the state of one client."""

    def __init__(self, index: ExchangeIndex) -> None:
        self.index = index
        self._served: Counter[int] = Counter()

    def next_match(self, wanted: RequestKey) -> ReplayMatch | None:
        candidates = self.index.matching_numbers(wanted)
        number = next((n for n in candidates if not self._served[n]), None)
        if number is None:
            if not candidates or not self.index.options.repeat:
                return None
            number = candidates[-1]
        return self.take(number)

    def free_sockets(self, wanted: RequestKey) -> Sequence[int]:
        """The WebSockets that are left for a client of this upgrade."""
        numbers = self.index.socket_numbers(wanted)
        free = [number for number in numbers if not self._served[number]]
        return free or (numbers[-1:] if self.index.options.repeat else ())

    def take(self, number: int) -> ReplayMatch:
        """This one answers, once more."""
        self._served[number] += 1
        entry = self.index.entries[number]
        return ReplayMatch(entry, self.index.entry_script(number), self._served[number])

    def unused_entries(self) -> tuple[RecordedExchange, ...]:
        """Return the exchanges that no client requested."""
        served = dict(self._served)
        return tuple(e for n, e in enumerate(self.index.entries) if not served.get(n))


def _same_query(sent: str, recorded: str) -> bool:
    ours, theirs = (sorted(parse_qsl(q, keep_blank_values=True)) for q in (sent, recorded))
    if [name for name, _ in ours] != [name for name, _ in theirs]:
        return False
    return all(other in (one, REDACTED) for (_, one), (_, other) in zip(ours, theirs, strict=True))
