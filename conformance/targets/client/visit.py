"""One recorded exchange before a client: every way of replaying it, and what it would send next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

import msgspec

from conformance.core.events import Exchange, Request
from conformance.core.framing import framing_of
from conformance.dialects import get, required
from conformance.judging import harness
from conformance.judging.result import StreamResult
from conformance.judging.transcript import read_transcript
from conformance.profiles.profile import Profile
from conformance.targets.client.adapter import Told
from conformance.targets.client.asking import AGAIN, chosen, conversation
from conformance.targets.client.gathering import Gathering, digest
from conformance.targets.client.judging import ClientLedger, Judging, asked, error, result
from conformance.targets.client.models import differing, matching
from conformance.targets.client.protocol import EXTRACT, NEXT_REQUEST, STREAM
from conformance.targets.client.station import Station
from conformance.targets.client.variation import Extent, Variation, variations
from conformance.targets.replay import SeenRequest

KNOB: Final = "history_models"
_OK: Final = 200
BODIES: Final = "bodies"
# `extract` has no options, so it cannot say that thinking stands inside the text.
_IN_TEXT: Final = frozenset({"markers", "include_thinking"})


@dataclass(slots=True)
class Tally:
    """Cases by op and dialect: how many were answered, and how many skipped."""

    answered: Counter[tuple[str, str]] = field(default_factory=Counter)
    skipped: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def count(self, op: str, dialect: str, told: Told) -> None:
        """Notes the answer to one case."""
        if told.how == "skipped":
            self.skipped.setdefault((op, dialect), []).append(told.why)
        else:
            self.answered[op, dialect] += 1

    def join(self, other: Tally) -> None:
        """Adds what another worker counted."""
        self.answered.update(other.answered)
        for key, reasons in other.skipped.items():
            self.skipped.setdefault(key, []).extend(reasons)


@dataclass(slots=True)
class Visit:
    """Takes one exchange to the client. `seen` is what it reported of the recording itself."""

    station: Station
    judging: Judging
    tally: Tally
    extent: Extent = "full"
    seen: tuple[Mapping[str, Any], ...] | None = None

    def exchange(self, exchange: Exchange, *, edited: bool) -> StreamResult:
        """The result over all replays of one exchange."""
        gathered = Gathering()
        said = conversation(exchange, self.judging.profile)
        where = f"{exchange.scenario}/{exchange.role}/{exchange.number}/client"
        # A client that asks for a stream is owed none of a whole body, and the other way round.
        if _is_whole(exchange) == (BODIES in self.station.about.features):
            skipped = self._streams(gathered, exchange, said, where, edited=edited)
            if skipped is not None:
                return self._skipped(exchange, skipped)
        if EXTRACT in self.station.about.ops and not _IN_TEXT & said["options"].keys():
            self._extract(gathered, exchange, where)
        return result(self.judging, exchange, gathered.whole())

    def _streams(
        self,
        gathered: Gathering,
        exchange: Exchange,
        said: Mapping[str, Any],
        where: str,
        *,
        edited: bool,
    ) -> Told | None:
        """Every way of replaying a stream; the answer of a client that skips it."""
        dialect = self.judging.dialect.name
        known: tuple[Any, ClientLedger] | None = None
        for way in variations(exchange, dialect, self.extent, edited=edited):
            told, seen, seq = self.station.stream(way, dialect, said)
            self.tally.count(STREAM, dialect, told)
            if told.how == "skipped":
                return told
            if way.kind == "same" and known and known[0] == digest(told):
                gathered.again(way.name, known[1])
                continue
            made = self._judged(way, told, seen, where)
            gathered.add(way.name, made)
            if way.name == "recorded":
                known, self.seen = (digest(told), made), told.events
                self._go_on(gathered, exchange, said, seq)
        return None

    def _judged(
        self, way: Variation, told: Told, seen: Sequence[SeenRequest], where: str
    ) -> ClientLedger:
        if told.how == "errored":
            return error(where, told)
        if told.how not in ("completed", "failed", "cut"):
            return error(where, Told("errored", why=f"{told.how} is no end of a stream"))
        if not any(each.exchange for each in seen):
            asked_for = ", ".join(f"{each.method} {each.path}" for each in seen) or "nothing"
            why = f"the client asked for {asked_for}{self.station.said()}"
            return error(where, Told("errored", why=why))
        made = self.judging.stream(way.sent(), told, way.kind)
        made.state(harness.ANSWERS, None)
        made.state(harness.ONE_REQUEST, _repeated(seen, where))
        return made

    def _skipped(self, exchange: Exchange, told: Told) -> StreamResult:
        return result(
            self.judging, exchange, ClientLedger(), (f"not run: the client skips it: {told.why}",)
        )

    def _go_on(
        self, gathered: Gathering, exchange: Exchange, said: Mapping[str, Any], seq: str
    ) -> None:
        """What the client would send after this answer, judged as a request."""
        if NEXT_REQUEST not in self.station.about.ops:
            return
        sent = read_transcript(
            exchange, self.judging.dialect, self.judging.reading, keep="semantic"
        )
        if sent.client_end != "completed":
            return
        calls = [event for event in sent.client_events if event["type"] == "tool.end"]
        adds = [_result(call) for call in calls] or [dict(AGAIN)]
        options = {k: v for k, v in said["options"].items() if k == "tools"}
        options["history"] = _policy(self.judging.profile)
        dialect = self.judging.dialect.name
        form = required(get(dialect).request, dialect, "request bodies")
        is_first = not any(form.is_answer(entry) for entry in said["messages"])
        for model in _models(self.judging.profile, said["model"]):
            now = {**said, "model": model, "options": options}
            told = self.station.next_request(dialect, now, seq, adds)
            self.tally.count(NEXT_REQUEST, dialect, told)
            if told.how == "requested" and told.request is not None:
                made = ClientLedger()
                for roles in _roles(is_first=is_first, calls=bool(calls)):
                    turns = _turns(exchange, told.request, roles, chosen(now))
                    made.complete(self.judging.requests(turns))
                gathered.add("next request", made)
            elif told.how != "skipped":
                gathered.add("next request", error("next-request", told))

    def _extract(self, gathered: Gathering, exchange: Exchange, where: str) -> None:
        """The answer once more, as a whole message."""
        dialect = self.judging.dialect.name
        for message in _messages(exchange, dialect):
            told = self.station.extract(dialect, message)
            self.tally.count(EXTRACT, dialect, told)
            if told.how == "told":
                gathered.add("extract", self.judging.message(exchange, told))
            elif told.how != "skipped":
                gathered.add("extract", error(where, told))


def _policy(profile: Profile) -> str:
    """What a user would choose for thinking in the history, by what the profile promises."""
    if "history-never" in profile.promises:
        return "never"
    return "by-model" if "history-by-model" in profile.promises else "send-back"


def _models(profile: Profile, model: str) -> list[str]:
    """The models to go on with: one of either kind where thinking goes back by model."""
    if "history-by-model" not in profile.promises:
        return [model]
    wants, wants_not = matching(profile, KNOB), differing(profile, KNOB)
    return [*islice(wants, 1), *islice(wants_not, 1)] or [model]


def _roles(*, is_first: bool, calls: bool) -> list[tuple[str, str]]:
    """The roles under which rules compare an answer with what comes after it."""
    if not is_first:
        return [("", "")]
    return [("turn", "next-turn"), *([("tool-turn", "follow-up")] if calls else [])]


def _turns(
    exchange: Exchange, request: Request, roles: tuple[str, str], choice: Mapping[str, Any]
) -> list[Exchange]:
    before = replace(exchange, role=roles[0], hop="", user_choices=choice)
    return [before, asked(request, exchange.number + 1, roles[1], exchange, choice)]


def _repeated(seen: Sequence[SeenRequest], where: str) -> Any:
    """A finding where an answer that had begun well was asked for again."""
    begun = [each for each in seen[:-1] if each.sent and each.status == _OK]
    if not begun:
        return None
    return harness.client_finding(
        harness.ONE_REQUEST, where, "one request", f"{len(seen)} requests"
    )


def _result(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.get("id", ""), "content": "Done."}


def _is_whole(exchange: Exchange) -> bool:
    """Whether the answer is one JSON body."""
    status = exchange.response.status if exchange.response else None
    return status == _OK and framing_of(exchange) == "body"


def _messages(exchange: Exchange, dialect: str) -> Iterator[dict[str, Any]]:
    """The message of a whole body, as its dialect has it; none for a stream or an error."""
    if not _is_whole(exchange):
        return
    try:
        value = msgspec.json.decode(b"".join(chunk.data for chunk in exchange.chunks))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return
    if not isinstance(value, dict):
        return
    message = required(get(dialect).client, dialect, "cases of clients").whole_message(value)
    if message is not None:
        yield dict(message)
