"""One recorded exchange before a client: every way of replaying it, and what it would send next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from conformance.core.events import Exchange, Request
from conformance.core.framing import framing_of
from conformance.dialects import required
from conformance.dialects.base import Dialect
from conformance.judging import harness
from conformance.judging.result import StreamResult
from conformance.judging.transcript import Transcript
from conformance.profiles.profile import Profile
from conformance.targets.client.adapter import ENDS, AdapterAnswer
from conformance.targets.client.case_results import CaseSeries, GatheredReplays, answer_digest
from conformance.targets.client.client_judge import (
    ClientLedger,
    HarnessFault,
    client_place,
    no_answer,
    request_exchange,
    stream_result,
)
from conformance.targets.client.conversation import (
    AGAIN,
    case_conversation,
    in_form_of,
    models_matching,
    user_choices_in,
    with_called_tools,
)
from conformance.targets.client.kept_talk import talk_fault, whole_talk
from conformance.targets.client.protocol import EXTRACT, NEXT_REQUEST, STREAM
from conformance.targets.client.replay_endpoint import MOST_FAULTS, ReplayedCase
from conformance.targets.client.variation import ReplayExtent, ReplayVariation, replay_variations
from conformance.targets.replay import ServedRequest

KNOB: Final = "history_models"
_OK: Final = 200
BODIES: Final = "bodies"
# `extract` has no options, so it cannot say that thinking is inside the text.
_IN_TEXT: Final = frozenset({"markers", "include_thinking"})


class ExchangeReplays(CaseSeries):
    """Takes one exchange to the client. `seen` is what it reported of the recording itself.

    `recorded` is the exchange as its bytes say; what goes out otherwise is read by itself.
    """

    recorded: Transcript
    extent: ReplayExtent = "full"
    only: str = ""
    seen: tuple[Mapping[str, Any], ...] | None = None

    def judge_exchange(self, *, edited: bool) -> StreamResult:
        exchange = self.recorded.exchange
        gathered = GatheredReplays()
        conversation = case_conversation(exchange, self.judging.profile)
        command = with_called_tools(conversation, self.recorded.own_tools)
        # A client that asks for a stream is owed none of a whole body, and the other way round.
        if _is_whole(exchange) == (BODIES in self.endpoint.about.features):
            skipped = self._replay_all(gathered, command, edited=edited)
            if skipped is not None:
                return self.result(exchange, skipped, ClientLedger())
        if EXTRACT in self.endpoint.about.ops and not _IN_TEXT & command["options"].keys():
            self._judge_extracted(gathered)
        notes = tuple(filter(None, [gathered.left_out]))
        made = gathered.combined_verdicts(self.judging.call_of)
        return stream_result(self.judging, exchange, made, notes)

    def _replay_all(
        self, gathered: GatheredReplays, command: Mapping[str, Any], *, edited: bool
    ) -> AdapterAnswer | None:
        """Every way of replaying a stream; the answer of a client that skips it.

        After several faults of the adapter in a row the rest is left out.
        """
        exchange, faults = self.recorded.exchange, 0
        known: tuple[Any, ClientLedger] | None = None
        for variation in replay_variations(
            exchange, self.dialect, self.extent, edited=edited, only=self.only
        ):
            if faults == MOST_FAULTS:
                gathered.left_out = (
                    f"not tried further after {faults} faults of the adapter in a row"
                )
                break
            case = self.endpoint.replay_stream(variation, self.dialect, command)
            answered = case.answered
            if why := case.other_form_reason(exchange, self.dialect):
                return AdapterAnswer("skipped", why=why)
            in_text = bool(_IN_TEXT & command["options"].keys())
            self.count_case(STREAM, answered, is_optional=in_text)
            faults = faults + 1 if self.endpoint.faults else 0
            if answered.how == "skipped":
                return answered
            if variation.kind == "same" and known and known[0] == answer_digest(answered):
                gathered.add_replay(variation.name, known[1])
                continue
            made = self._judge_replay(variation, case, client_place(exchange))
            gathered.add_replay(variation.name, made)
            if variation.name == "recorded":
                known, self.seen = (answer_digest(answered), made), answered.events
                self._judge_next_request(gathered, command, case.seq)
        return None

    def _judge_replay(
        self, variation: ReplayVariation, case: ReplayedCase, where: str
    ) -> ClientLedger:
        answered, why = case.answered, ""
        if answered.how == "errored":
            return no_answer(where, answered)
        if answered.how not in ENDS:
            why = f"{answered.how} is no end of a stream"
        elif not case.is_served:
            stated = case.adapter_reason() or self.endpoint.stderr_tail()
            why = f"the client asked for {case.requests}{stated}"
        if why:
            return no_answer(where, AdapterAnswer("errored", why=why))
        made = self.judging.judge_stream(self._read_sent(variation), answered, variation.kind)
        made.state_harness_rule(harness.ANSWERS)
        made.state_harness_rule(harness.ONE_REQUEST, where, _repeated_request(case.seen))
        return made

    def _read_sent(self, variation: ReplayVariation) -> Transcript:
        """Return the transcript of what was sent; the same bytes are read once."""
        made, recorded = variation.sent_exchange(), self.recorded.exchange
        is_same = (made.response, made.end, made.body) == (
            *(recorded.response, recorded.end, recorded.body),
        )
        return self.recorded if is_same else self.judging.read_sent(made)

    def _judge_next_request(
        self, gathered: GatheredReplays, command: Mapping[str, Any], seq: str
    ) -> None:
        """Judge the request that the client would send after this answer."""
        if NEXT_REQUEST not in self.endpoint.about.ops:
            return
        sent = self.recorded
        if sent.client_end != "completed":
            return
        calls = sent.own_tools
        adds = [_tool_result(call) for call in calls] or [
            in_form_of(self.judging.profile.dialect, AGAIN)
        ]
        options = {k: v for k, v in command["options"].items() if k == "tools"}
        options["history"] = _history_policy(self.judging.profile)
        for model in _models_to_continue(self.judging.profile, command["model"]):
            now = {**command, "model": model, "options": options}
            answered = self.endpoint.next_request(self.dialect, now, seq, adds)
            self.count_case(NEXT_REQUEST, answered)
            if answered.request is not None:
                turns = _turn_exchanges(sent.exchange, answered.request, user_choices_in(now))
                made = self.judging.judge_requests(turns)
                self._judge_talk(made, now["messages"], turns[-1])
                gathered.add_replay("next request", made)
            elif answered.how != "skipped":
                gathered.add_replay("next request", no_answer("next-request", answered))

    def _judge_talk(
        self, made: ClientLedger, given: Sequence[Mapping[str, Any]], conversation: Exchange
    ) -> None:
        """Whether a next request repeats the turns before as they were."""
        sent, talk = self.recorded, whole_talk(conversation, self.judging.dialect)
        if talk is None:
            return
        wrong = talk_fault(given, sent, talk, is_inline=bool(self.judging.reading.markers))
        # An entry that another rule finds at fault is lost by that.
        if wrong is None or not made.findings:
            made.state_harness_rule(harness.TALK_KEPT, client_place(sent.exchange), wrong)

    def _judge_extracted(self, gathered: GatheredReplays) -> None:
        """The answer once more, as a whole message."""
        exchange = self.recorded.exchange
        message = _whole_message(exchange, self.judging.dialect)
        if message is None:
            return
        answered = self.endpoint.ask(EXTRACT, dialect=self.dialect, message=message)
        self.count_case(EXTRACT, answered)
        if answered.how == "told":
            gathered.add_replay("extract", self.judging.judge_message(self.recorded, answered))
        elif answered.how != "skipped":
            gathered.add_replay("extract", no_answer(client_place(exchange), answered))


def _history_policy(profile: Profile) -> str:
    """Return the choice for thinking in the history that the profile's promises suggest."""
    if "history-never" in profile.promises:
        return "never"
    return "by-model" if "history-by-model" in profile.promises else "send-back"


def _models_to_continue(profile: Profile, model: str) -> list[str]:
    """The models to continue with: one of either kind where thinking goes back by model."""
    if "history-by-model" not in profile.promises:
        return [model]
    either = (models_matching(profile, KNOB, matches=matches) for matches in (True, False))
    return [name for names in either for name in islice(names, 1)] or [model]


def _turn_exchanges(
    exchange: Exchange, request: Request, choice: Mapping[str, Any]
) -> list[Exchange]:
    before = replace(exchange, role="", hop="", user_choices=choice)
    after = request_exchange(request, exchange.number + 1, "", exchange, choice)
    return [before, replace(after, chunks=())]  # no answer: the request alone is judged


def _repeated_request(seen: Sequence[ServedRequest]) -> HarnessFault | None:
    """Where an answer that had begun well was requested again; who looks its model up does not."""
    requests = [each for each in seen if each.exchange or each.why]
    begun = [each for each in requests[:-1] if each.sent and each.status == _OK]
    if not begun:
        return None
    return "one request", f"{len(requests)} requests"


def _tool_result(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.get("id", ""), "content": "Done."}


def _is_whole(exchange: Exchange) -> bool:
    """Whether the answer is one JSON body."""
    status = exchange.response.status if exchange.response else None
    return status == _OK and framing_of(exchange) == "body"


def _whole_message(exchange: Exchange, dialect: Dialect) -> dict[str, Any] | None:
    """The message of a whole body, as its dialect has it; None for a stream or an error."""
    if not _is_whole(exchange):
        return None
    try:
        value = msgspec.json.decode(exchange.body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    cases = required(dialect.client, dialect.name, "cases of clients")
    message = cases.whole_message(value) if isinstance(value, dict) else None
    return None if message is None else dict(message)
