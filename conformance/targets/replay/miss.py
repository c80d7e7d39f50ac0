"""Why a request has no recorded answer: the nearest recorded request, and how it differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.cassette import Redactor
from conformance.core.errors import CassetteError
from conformance.core.events import Request
from conformance.core.excerpts import beginning, excerpt
from conformance.report.printable import visible
from conformance.targets.replay.matching import ExchangeIndex, RequestKey, path_below_version
from conformance.targets.replay.tape import ExchangeAddress, RecordedExchange
from conformance.wire.requests import json_or_none

_MOST_FACTS: Final = 5
_WALKED: Final = 20  # differences of one request
_COMPARED: Final = 8  # recorded requests that are compared in full
_RANKED: Final = 1_000  # and at first sight
ABSENT: Final = "(absent)"
_SHOWN: Final = 60  # characters of a value
_BEFORE: Final = 15  # characters shown before the first that differs
_MOST_VISITS: Final = 50_000
_NOTHING: Final = object()


class BodyDifference(Struct, frozen=True):
    """One place, `sent` by the client and as `recorded`, both clipped."""

    path: str
    sent: str
    recorded: str

    def __str__(self) -> str:
        if self.sent == ABSENT:
            return f"{self.path} was not sent, recorded {self.recorded}"
        if self.recorded == ABSENT:
            return f"{self.path} was not recorded, sent {self.sent}"
        return f"{self.path} is {self.sent}, recorded {self.recorded}"


class ReplayMiss(Struct, frozen=True):
    """No answer. `why` is one line without secrets; `nearest` is None where nothing is near.

    `lookup` is what is stated of a model to who looks it up, where nothing was recorded of that.
    """

    why: str
    nearest: ExchangeAddress | None = None
    differences: tuple[BodyDifference, ...] = ()
    lookup: Mapping[str, Any] | None = None

    @property
    def status(self) -> int:
        return 404 if self.lookup is None else 200

    def json_body(self) -> bytes:
        """The answer instead: an error that the vendors' clients print, in JSON."""
        if self.lookup is not None:
            return msgspec.json.encode(self.lookup)
        error = {"type": "replay_miss", "code": "replay_miss", "message": self.why, "param": None}
        details = {"nearest": self.nearest, "differences": self.differences}
        return msgspec.json.encode({"type": "error", "error": error, **details})


def explain_miss(wanted: RequestKey, index: ExchangeIndex) -> ReplayMiss:
    """Says why nothing in the index answers, or nothing is left."""
    clean = Redactor(opaque=False)
    what = f"{visible(wanted.method, 20)} {visible(clean.path(wanted.path), 200)}"
    used = index.matching_numbers(wanted)
    if used:
        last = index.entries[used[-1]].address
        times = "once" if len(used) == 1 else f"{len(used)} times"
        why = f"{what} was recorded {times}, and has been answered as often: {last} was the last"
        return ReplayMiss(why, last)
    body = json_or_none(wanted.body)
    if wanted.body and wanted.form is None:
        return ReplayMiss(f"no recorded exchange answers {what}: its body is not JSON")
    nearest = min(
        _near_requests(wanted, body, index, clean), key=lambda each: each[0], default=None
    )
    if nearest is None:
        return ReplayMiss(f"no recorded exchange answers {what}: none holds a request")
    _, entry, head, found = nearest
    where = f"nearest is {visible(str(entry.address), 200)}"
    facts = [visible(fact, 200) for fact in (*head, *map(str, found[:_MOST_FACTS]))]
    why = f"no recorded exchange answers {what}; {where}: {'; '.join(facts)}"
    return ReplayMiss(why, entry.address, found[:_MOST_FACTS])


def explain_socket_miss(wanted: RequestKey, index: ExchangeIndex) -> ReplayMiss:
    """Says why no WebSocket in the index is for a client of this upgrade, or none is left."""
    what = f"a WebSocket at {visible(Redactor(opaque=False).path(wanted.path), 200)}"
    known = index.socket_numbers(wanted)
    if known:
        last = index.entries[known[-1]].address
        why = f"{what} was recorded {len(known)} times, and has been played as often"
        return ReplayMiss(f"{why}: {last} was the last", last)
    return ReplayMiss(f"no recorded exchange is {what}")


def explain_message_miss(
    number: int, sent: bytes, recorded: bytes | None, entry: RecordedExchange, index: ExchangeIndex
) -> ReplayMiss:
    """Says why message `number` of a client is not what was recorded; None: nothing was."""
    what = f"no recorded message answers the client's message {number}"
    if recorded is None:
        why = f"{what}: {entry.address} has no more"
        return ReplayMiss(why, entry.address)
    clean = Redactor(opaque=False)
    came, kept = (_redacted_value(json_or_none(each), clean) for each in (sent, recorded))
    found = find_differences(came, kept, _WALKED)
    found = tuple(each for each in found if each.path not in index.options.ignore)[:_MOST_FACTS]
    facts = "; ".join(visible(str(each), 200) for each in found) or "it is another one"
    where = f"nearest is {visible(str(entry.address), 200)}"
    return ReplayMiss(f"{what}; {where}: {facts}", entry.address, found)


_Compared = tuple[tuple[int, int, int], RecordedExchange, list[str], tuple[BodyDifference, ...]]


def _near_requests(
    wanted: RequestKey, body: Any, index: ExchangeIndex, clean: Redactor
) -> Iterator[_Compared]:
    entries = index.entries[:_RANKED]
    known = [(entry, entry.exchange.request) for entry in entries]
    ranked = [(e, r, _first_sight(wanted, body, r)) for e, r in known if r is not None]
    ranked.sort(key=lambda each: each[2])
    sent = _redacted_value(body, clean)
    for at, (entry, request, rank) in enumerate(ranked[:_COMPARED]):
        head = list(_head_differences(wanted, request, index, clean))
        recorded = _redacted_value(request.json, clean)
        # Bodies of different calls differ everywhere: that would tell nothing.
        same = not (rank[0] or rank[1]) and request.json is not None
        found = find_differences(sent, recorded, _WALKED) if same else ()
        found = tuple(each for each in found if each.path not in index.options.ignore)
        yield (rank[0] + rank[1], len(head) + len(found), at), entry, head, found


def _first_sight(wanted: RequestKey, body: Any, request: Request) -> tuple[int, int, int]:
    path = request.path.partition("?")[0]
    there = int(path_below_version(path) != path_below_version(wanted.path))
    recorded = request.json
    unlike = 1_000_000
    if isinstance(body, dict) and isinstance(recorded, dict):
        keys = body.keys() | recorded.keys()
        unlike = sum(body.get(key) != recorded.get(key) for key in keys)
    return int(request.method != wanted.method), there, unlike


def _head_differences(
    wanted: RequestKey, request: Request, index: ExchangeIndex, clean: Redactor
) -> Iterator[str]:
    path = request.path.partition("?")[0]
    same = path == wanted.path
    if not same and (
        index.options.exact_paths or path_below_version(path) != path_below_version(wanted.path)
    ):
        yield f"the path is {clean.path(wanted.path)}, recorded {path}"
    if request.method != wanted.method:
        yield f"the method is {wanted.method}, recorded {request.method}"
    unlike = index.differing_part(request, wanted)
    if unlike == "query":
        sent, recorded = (
            clean.path(f"?{q}") for q in (wanted.query, request.path.partition("?")[2])
        )
        yield f"the query is {sent}, recorded {recorded}"
    elif unlike:
        yield f"the header {unlike} is another one, or missing"


def _redacted_value(value: Any, clean: Redactor) -> Any:
    try:
        return clean.value(value)
    except CassetteError:  # too deep to be looked into, so nothing of it is shown
        return None


def find_differences(sent: Any, recorded: Any, most: int) -> tuple[BodyDifference, ...]:
    """The first `most` places that differ, in the order of the recording."""
    return tuple(islice(_walk_values(sent, recorded), most))


def _walk_values(sent: Any, recorded: Any) -> Iterator[BodyDifference]:
    waiting: list[tuple[str, Any, Any]] = [("", sent, recorded)]
    for _ in range(_MOST_VISITS):
        if not waiting:
            return
        path, one, other = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            keys = [*other, *(key for key in one if key not in other)]
            pairs = [(k, one.get(k, _NOTHING), other.get(k, _NOTHING)) for k in keys]
        elif isinstance(one, list) and isinstance(other, list):
            both = zip_longest(one, other, fillvalue=_NOTHING)
            pairs = [(str(index), a, b) for index, (a, b) in enumerate(both)]
        else:
            if not _same_value(one, other):
                yield _clipped_difference(path or "the body", one, other)
            continue
        prefix = f"{path}." if path else ""
        waiting += [(prefix + key, a, b) for key, a, b in reversed(pairs)]


def _same_value(one: Any, other: Any) -> bool:
    # True equals 1 for Python, but not in JSON.
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _clipped_difference(path: str, one: Any, other: Any) -> BodyDifference:
    start = 0
    if isinstance(one, str) and isinstance(other, str):
        pairs = enumerate(zip(one, other, strict=False))
        first = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
        start = first - _BEFORE if first > _SHOWN - _BEFORE else 0
    return BodyDifference(path, _clipped_value(one, start), _clipped_value(other, start))


def _clipped_value(value: Any, start: int) -> str:
    if value is _NOTHING:
        return ABSENT
    if isinstance(value, str) and (start or len(value) > _SHOWN):
        lead = "…" if start else ""
        part = excerpt(value, start, start + _SHOWN)
        rest = "…" if len(value) > start + _SHOWN else ""
        return f'"{lead}{part}{rest}"'
    text = msgspec.json.encode(value).decode()
    return beginning(text, _SHOWN)
