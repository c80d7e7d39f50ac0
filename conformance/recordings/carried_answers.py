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
from conformance.recordings.settings import RecordingSettings


def carried_answers(recording: Recording) -> Mapping[int, tuple[CarriedAnswer, ...]]:
    """By exchange the answers that its request carries on, as a check finds them.

    An exchange of no known dialect carries nothing on, and nothing goes on from it.
    """
    if not may_link(recording.judged):
        return {}
    settings = RecordingSettings(recording, Rulebook.load(()), CheckChoices())
    linked = LinkedExchanges(ExchangePlaces(str(recording.path)))
    for exchange in recording.judged:
        try:
            _read_exchange(linked, settings, exchange)
        except ConformanceError:  # `check` says what is wrong with it
            continue
    linked.write({}, recording.judged, lambda _: False, trusted=False)
    return linked.links


def _read_exchange(
    linked: LinkedExchanges, settings: RecordingSettings, exchange: Exchange
) -> None:
    setting = settings.of_exchange(exchange)
    listener = linked.listener(setting, exchange)
    if listener is not None:
        for joined in read_joined(exchange, setting.dialect, setting.bound.reading):
            listener(joined.events)
