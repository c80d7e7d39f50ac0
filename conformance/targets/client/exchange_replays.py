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
from conformance.targets.client.adapter import AdapterAnswer
from conformance.targets.client.client_judge import (
    ClientJudge,
    ClientLedger,
    no_answer,
    request_exchange,
    skipped_result,
    stream_result,
)
from conformance.targets.client.conversation import (
    AGAIN,
    case_conversation,
    models_matching,
    models_not_matching,
    user_choices_in,
)
from conformance.targets.client.gathered_replays import GatheredReplays, answer_digest
from conformance.targets.client.protocol import EXTRACT, NEXT_REQUEST, STREAM
from conformance.targets.client.replay_endpoint import ReplayEndpoint
from conformance.targets.client.variation import ReplayExtent, ReplayVariation, replay_variations
from conformance.targets.replay import SeenRequest

KNOB: Final = "history_models"
_OK: Final = 200
BODIES: Final = "bodies"
# `extract` has no options, so it cannot say that thinking stands inside the text.
_IN_TEXT: Final = frozenset({"markers", "include_thinking"})


@dataclass(slots=True)
class CaseTally:
    """Cases by op and dialect: how many were answered, and how many skipped."""

    answered: Counter[tuple[str, str]] = field(default_factory=Counter)
    skipped: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def count_case(self, op: str, dialect: str, told: AdapterAnswer) -> None:
        """Notes the answer to one case."""
        if told.how == "skipped":
            self.skipped.setdefault((op, dialect), []).append(told.why)
        else:
            self.answered[op, dialect] += 1

    def add_tally(self, other: CaseTally) -> None:
        """Adds what another worker counted."""
        self.answered.update(other.answered)
        for key, reasons in other.skipped.items():
            self.skipped.setdefault(key, []).extend(reasons)


@dataclass(slots=True)
class ExchangeReplays:
    """Takes one exchange to the client. `seen` is what it reported of the recording itself."""

    endpoint: ReplayEndpoint
    judging: ClientJudge
    tally: CaseTally
    extent: ReplayExtent = "full"
    seen: tuple[Mapping[str, Any], ...] | None = None

    def judge_exchange(self, exchange: Exchange, *, edited: bool) -> StreamResult:
        """The result over all replays of one exchange."""
        gathered = GatheredReplays()
        command = case_conversation(exchange, self.judging.profile)
        where = f"{exchange.scenario}/{exchange.role}/{exchange.number}/client"
        # A client that asks for a stream is owed none of a whole body, and the other way round.
        if _is_whole(exchange) == (BODIES in self.endpoint.about.features):
            unreadable = self._replay_all(gathered, exchange, command, where, edited=edited)
            if unreadable is not None:
                return skipped_result(self.judging, exchange, unreadable)
        if EXTRACT in self.endpoint.about.ops and not _IN_TEXT & command["options"].keys():
            self._judge_extracted(gathered, exchange, where)
        return stream_result(self.judging, exchange, gathered.combined_verdicts())

    def _replay_all(
        self,
        gathered: GatheredReplays,
        exchange: Exchange,
        command: Mapping[str, Any],
        where: str,
        *,
        edited: bool,
    ) -> AdapterAnswer | None:
        """Every way of replaying a stream; the answer of a client that skips it."""
        dialect = self.judging.dialect.name
        known: tuple[Any, ClientLedger] | None = None
        for way in replay_variations(exchange, dialect, self.extent, edited=edited):
            told, seen, seq = self.endpoint.replay_stream(way, dialect, command)
            self.tally.count_case(STREAM, dialect, told)
            if told.how == "skipped":
                return told
            if way.kind == "same" and known and known[0] == answer_digest(told):
                gathered.add_repeated(way.name, known[1])
                continue
            made = self._judge_replay(way, told, seen, where)
            gathered.add_replay(way.name, made)
            if way.name == "recorded":
                known, self.seen = (answer_digest(told), made), told.events
                self._judge_next_request(gathered, exchange, command, seq)
        return None

    def _judge_replay(
        self, way: ReplayVariation, told: AdapterAnswer, seen: Sequence[SeenRequest], where: str
    ) -> ClientLedger:
        if told.how == "errored":
            return no_answer(where, told)
        if told.how not in ("completed", "failed", "cut"):
            return no_answer(
                where, AdapterAnswer("errored", why=f"{told.how} is no end of a stream")
            )
        if not any(each.exchange for each in seen):
            asked_for = ", ".join(f"{each.method} {each.path}" for each in seen) or "nothing"
            why = f"the client asked for {asked_for}{self.endpoint.stderr_tail()}"
            return no_answer(where, AdapterAnswer("errored", why=why))
        made = self.judging.judge_stream(way.sent_exchange(), told, way.kind)
        made.state_harness_rule(harness.ANSWERS, None)
        made.state_harness_rule(harness.ONE_REQUEST, _repeated_request(seen, where))
        return made

    def _judge_next_request(
        self, gathered: GatheredReplays, exchange: Exchange, command: Mapping[str, Any], seq: str
    ) -> None:
        """What the client would send after this answer, judged as a request."""
        if NEXT_REQUEST not in self.endpoint.about.ops:
            return
        sent = read_transcript(
            exchange, self.judging.dialect, self.judging.reading, keep="semantic"
        )
        if sent.client_end != "completed":
            return
        calls = [event for event in sent.client_events if event["type"] == "tool.end"]
        adds = [_tool_result(call) for call in calls] or [dict(AGAIN)]
        options = {k: v for k, v in command["options"].items() if k == "tools"}
        options["history"] = _history_policy(self.judging.profile)
        dialect = self.judging.dialect.name
        form = required(get(dialect).request, dialect, "request bodies")
        is_first = not any(form.is_answer(entry) for entry in command["messages"])
        for model in _models_to_continue(self.judging.profile, command["model"]):
            now = {**command, "model": model, "options": options}
            told = self.endpoint.next_request(dialect, now, seq, adds)
            self.tally.count_case(NEXT_REQUEST, dialect, told)
            if told.how == "requested" and told.request is not None:
                made = ClientLedger()
                for roles in _turn_roles(is_first=is_first, calls=bool(calls)):
                    turns = _turn_exchanges(exchange, told.request, roles, user_choices_in(now))
                    made.fill_open(self.judging.judge_requests(turns))
                gathered.add_replay("next request", made)
            elif told.how != "skipped":
                gathered.add_replay("next request", no_answer("next-request", told))

    def _judge_extracted(self, gathered: GatheredReplays, exchange: Exchange, where: str) -> None:
        """The answer once more, as a whole message."""
        dialect = self.judging.dialect.name
        for message in _whole_messages(exchange, dialect):
            told = self.endpoint.extract_events(dialect, message)
            self.tally.count_case(EXTRACT, dialect, told)
            if told.how == "told":
                gathered.add_replay("extract", self.judging.judge_message(exchange, told))
            elif told.how != "skipped":
                gathered.add_replay("extract", no_answer(where, told))


def _history_policy(profile: Profile) -> str:
    """What a user would choose for thinking in the history, by what the profile promises."""
    if "history-never" in profile.promises:
        return "never"
    return "by-model" if "history-by-model" in profile.promises else "send-back"


def _models_to_continue(profile: Profile, model: str) -> list[str]:
    """The models to go on with: one of either kind where thinking goes back by model."""
    if "history-by-model" not in profile.promises:
        return [model]
    wants, wants_not = models_matching(profile, KNOB), models_not_matching(profile, KNOB)
    return [*islice(wants, 1), *islice(wants_not, 1)] or [model]


def _turn_roles(*, is_first: bool, calls: bool) -> list[tuple[str, str]]:
    """The roles under which rules compare an answer with what comes after it."""
    if not is_first:
        return [("", "")]
    return [("turn", "next-turn"), *([("tool-turn", "follow-up")] if calls else [])]


def _turn_exchanges(
    exchange: Exchange, request: Request, roles: tuple[str, str], choice: Mapping[str, Any]
) -> list[Exchange]:
    before = replace(exchange, role=roles[0], hop="", user_choices=choice)
    return [before, request_exchange(request, exchange.number + 1, roles[1], exchange, choice)]


def _repeated_request(seen: Sequence[SeenRequest], where: str) -> Any:
    """A finding where an answer that had begun well was asked for again."""
    begun = [each for each in seen[:-1] if each.sent and each.status == _OK]
    if not begun:
        return None
    return harness.client_finding(
        harness.ONE_REQUEST, where, "one request", f"{len(seen)} requests"
    )


def _tool_result(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.get("id", ""), "content": "Done."}


def _is_whole(exchange: Exchange) -> bool:
    """Whether the answer is one JSON body."""
    status = exchange.response.status if exchange.response else None
    return status == _OK and framing_of(exchange) == "body"


def _whole_messages(exchange: Exchange, dialect: str) -> Iterator[dict[str, Any]]:
    """The message of a whole body, as its dialect has it; none for a stream or an error."""
    if not _is_whole(exchange):
        return
    try:
        value = msgspec.json.decode(exchange.body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return
    if not isinstance(value, dict):
        return
    message = required(get(dialect).client, dialect, "cases of clients").whole_message(value)
    if message is not None:
        yield dict(message)
