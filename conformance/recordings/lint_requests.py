"""Recordings that name their tests, seen together: which of them no request ever finds.

Rule 1: a recording that states its test (`test_id` in the header) is looked up by test and request.
Rule 2: only what one file or folder shows is reported; that the code asks otherwise by now is not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, Final, NamedTuple

from conformance.cassette import Recording
from conformance.core.errors import Place
from conformance.core.events import Exchange, Request
from conformance.dialects import asks_for_stream
from conformance.recordings.lint_claims import claimed_word
from conformance.rules.lint import Problem

_TEST: Final = "test_id"
_STREAMING: Final = frozenset({"stream", "stream_options"})
_MOST_TWINS: Final = 64  # of one request so many are compared with each other


class KeptRequest(NamedTuple):
    """What is remembered of an exchange: `request` and `alike` are digests of the request.

    `alike` leaves out whether a stream was requested. `test` is None where it is stated as null.
    """

    place: Place
    test: str | None
    request: bytes
    alike: bytes
    streams: bool


class RequestMatching:
    """Remembers recordings, and shows what is wrong between them."""

    def __init__(self) -> None:
        self._kept: list[KeptRequest] = []
        self._thinking: dict[str, bool] = {}

    def add(self, recording: Recording, *, thinks: bool) -> None:
        """A recording; one that states no test is none of our concern."""
        test = recording.header.extra.get(_TEST, False)
        if test is not None and not isinstance(test, str):
            return
        for exchange in recording.exchanges:
            if exchange.request is not None:
                self._kept.append(_keep_exchange(recording, exchange, exchange.request, test))
        if test is not None:
            self._thinking[test] = thinks or self._thinking.get(test, False)

    def problems(self) -> Iterator[Problem]:
        """Everything that is wrong, in the order of the recordings."""
        for each in self._kept:
            if each.test is None:
                message = "`test_id` is null: it was recorded outside any test, so none finds it"
                yield Problem(each.place, message, "warning", "test-missing")
        yield from self._repeated_requests()
        yield from self._stream_twins()
        yield from self._unmet_claims()

    def _repeated_requests(self) -> Iterator[Problem]:
        first: dict[tuple[str | None, bytes], KeptRequest] = {}
        for each in self._kept:
            known = first.setdefault((each.test, each.request), each)
            if known is not each:
                message = f"the same request of the same test as {known.place}: one is never found"
                yield Problem(each.place, message, "warning", "request-twice")

    def _stream_twins(self) -> Iterator[Problem]:
        groups: dict[bytes, list[KeptRequest]] = {}
        for each in self._kept:
            groups.setdefault(each.alike, []).append(each)
        for group in groups.values():
            yield from _mismatched_streams(group[:_MOST_TWINS])

    def _unmet_claims(self) -> Iterator[Problem]:
        tests: dict[str, list[Place]] = {}
        for each in self._kept:
            tests.setdefault(each.test or "", []).append(each.place)
        for test, places in tests.items():
            word = claimed_word(test.partition("[")[0])
            if word and not self._thinking[test]:
                among = f"none of its {len(places)} recordings here holds any"
                message = f"its test says {word!r}, but {among} thinking: {test}"
                yield Problem(places[0], message, "warning", "thinking-claimed")


def _keep_exchange(
    recording: Recording, exchange: Exchange, request: Request, test: str | None
) -> KeptRequest:
    line = recording.locate(exchange.number, [-1])[0]
    body = request.json if isinstance(request.json, Mapping) else {}
    rest = {key: value for key, value in body.items() if key not in _STREAMING}
    return KeptRequest(
        Place(str(recording.path), line),
        test,
        _digest_of(request.method, request.path, request.json),
        _digest_of(request.method, request.path, rest),
        asks_for_stream(request.path, body),
    )


def _digest_of(*values: Any) -> bytes:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).digest()


def _mismatched_streams(group: Iterable[KeptRequest]) -> Iterator[Problem]:
    """Recordings of one question, once as a stream and once whole, for one test or for none."""
    for one, other in combinations(group, 2):
        if one.streams == other.streams or (one.test != other.test and one.test and other.test):
            continue
        stale, live = (one, other) if one.test is None else (other, one)
        how = "a stream" if stale.streams else "no stream"
        message = f"it asks for {how}, and {live.place} asks the same otherwise: one is never found"
        yield Problem(stale.place, message, "warning", "stream-otherwise")
