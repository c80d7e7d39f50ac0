"""Which answers the requests of one recording carry on, without a verdict on anything."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.cassette import Recording
from conformance.core.errors import ConformanceError
from conformance.core.events import Exchange
from conformance.evidence.links.exchanges import ExchangePlaces, LinkedExchanges, may_link
from conformance.judging.fast.joined import read_joined
from conformance.judging.result import CarriedAnswer
from conformance.judging.rulebook import Rulebook
from conformance.recordings.choices import CheckChoices
from conformance.recordings.exchange_setting import exchange_setting
from conformance.recordings.recognised import RecognisedRecording


def carried_answers(recording: Recording) -> Mapping[int, tuple[CarriedAnswer, ...]]:
    """By exchange the answers that its request carries on, as a check finds them.

    An exchange of no known dialect carries nothing on, and nothing goes on from it.
    """
    if not may_link(recording.judged):
        return {}
    recognised = RecognisedRecording(recording, ())
    rulebook = Rulebook.load(())
    linked = LinkedExchanges(ExchangePlaces(str(recording.path)))
    for exchange in recording.judged:
        try:
            _hear(linked, recognised, exchange, rulebook)
        except ConformanceError:  # `check` says what is wrong with it
            continue
    linked.write({}, recording.judged, lambda _: False, trusted=False)
    return linked.links


def _hear(
    linked: LinkedExchanges,
    recognised: RecognisedRecording,
    exchange: Exchange,
    rulebook: Rulebook,
) -> None:
    setting = exchange_setting(recognised, exchange, rulebook, CheckChoices())
    hear = linked.listener(setting, exchange)
    if hear is not None:
        for joined in read_joined(exchange, setting.dialect, setting.bound.reading):
            hear(joined.events)
