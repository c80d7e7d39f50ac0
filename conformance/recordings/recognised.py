"""What the exchanges of a recording show of themselves: their dialects, and who sent them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from conformance import dialects
from conformance.cassette import Recording
from conformance.core.events import Exchange
from conformance.dialects.base import Dialect
from conformance.dialects.recognition import recognised_dialect
from conformance.evidence.application import APP
from conformance.judging.result import StreamResult
from conformance.recordings.sender import Sender, sender_of


class RecognisedRecording(Struct, dict=True):
    """What the exchanges of a recording show of themselves; each is looked at once for it."""

    recording: Recording
    folders: tuple[Path, ...]
    _dialects: dict[int, str | None] = field(default_factory=dict)
    _senders: dict[str, Sender | None] = field(default_factory=dict)

    @cached_property
    def of_application(self) -> Exchange | None:
        """The first answer of an application; None where the recording has none."""
        return next((each for each in self.recording.exchanges if each.hop == APP), None)

    def dialect_of(self, exchange: Exchange) -> str | None:
        if exchange.number not in self._dialects:
            self._dialects[exchange.number] = recognised_dialect(exchange)
        return self._dialects[exchange.number]

    def sender_of(self, dialect: Dialect) -> Sender | None:
        """Who sent the exchanges of one dialect; None where nothing shows."""
        if dialect.name not in self._senders:
            exchanges = self.recording.exchanges
            spoken = (each for each in exchanges if dialects.agrees(dialect, self.dialect_of(each)))
            self._senders[dialect.name] = sender_of(spoken, dialect, self.folders)
        return self._senders[dialect.name]

    def with_guess(self, result: StreamResult) -> StreamResult:
        """Says of findings by the assumed strict profile whose ways they may be.

        A guess changes no verdict: whoever only looks like a system is not that system.
        """
        if result.named or not result.findings or result.profile != "strict":
            return result
        sender = self.sender_of(dialects.get(result.dialect))
        if sender is None or sender.is_certain:
            return result
        name = sender.profile
        note = f"perhaps {name}, by a guess: {'; '.join(sender.signs)}; see --profile {name}"
        return replace(result, notes=(*result.notes, note))
