"""How exchanges that pass are judged: at once by a checker, and as `check` does when they end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from conformance.cassette import Cassette, Header
from conformance.core.errors import ConformanceError
from conformance.core.events import Exchange
from conformance.dialects import SOCKET_FORMS, SUPPORTED, dialect_at
from conformance.dialects.connection import SocketForm
from conformance.dialects.recognition import recognised_dialect
from conformance.judging.checker import YAML_SUFFIXES, Checker
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgeSetting
from conformance.profiles.load import load_profile
from conformance.profiles.lookup import has_profile
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.in_memory import InMemory
from conformance.recordings.settings import RecordingSettings

_NOWHERE: Final = Path("live.cassette.jsonl")


class TrafficJudge:
    """Rules and profile of all exchanges; made ready once for each dialect.

    Without a profile the one that answers showed beyond doubt is taken for later streams of their
    dialect, as far as they are under way; else the strict one.
    """

    def __init__(
        self,
        *,
        dialect: str | None = None,
        profile: str | None = None,
        suites: Sequence[str] = (),
        rules: Sequence[str] = (),
    ) -> None:
        self._choices = CheckChoices(dialect, profile)
        self._suites, self._rules = tuple(suites), tuple(rules)
        self._rulebook = Rulebook.load(suites, rules)
        self._checkers: dict[str, Checker] = {}
        self._shown: dict[str, str] = {}  # profiles by dialect

    def dialect_of(self, exchange: Exchange) -> str | None:
        """The dialect that an exchange is judged in, as far as its path or its bytes show."""
        path = exchange.request.path if exchange.request else ""
        shown = self._choices.dialect or dialect_at(path) or recognised_dialect(exchange)
        return shown if shown in SUPPORTED else None

    def socket_form(self, exchange: Exchange) -> SocketForm | None:
        """What the messages of a WebSocket mean; None where none is spoken there."""
        return SOCKET_FORMS.get(self.dialect_of(exchange) or "")

    def checker(self, dialect: str) -> Checker:
        """What judges streams of a dialect while they pass. Raises UsageError, SpecError."""
        if dialect not in self._checkers:
            self._checkers[dialect] = Checker(
                dialect, self._profile_of(dialect), suites=self._suites, rules=self._rules
            )
        return self._checkers[dialect]

    def setting(self, exchange: Exchange) -> JudgeSetting | None:
        """How what an exchange brings back is judged; None where it shows no dialect."""
        dialect = self.dialect_of(exchange)
        if dialect is None:
            return None
        recording = InMemory(_NOWHERE, "cassette", Cassette(Header(origin="live"), (exchange,)))
        choices = CheckChoices(dialect, self._profile_of(dialect))
        try:
            return RecordingSettings(recording, self._rulebook, choices).of_exchange(exchange)
        except ConformanceError:
            return None

    def whole_result(self, exchange: Exchange) -> StreamResult | None:
        """What `check` says of a recording of the exchange; None where it cannot be judged."""
        dialect = dialect_at(exchange.request.path) if exchange.request else None
        cassette = Cassette(Header(origin="live", dialect=dialect), (exchange,))
        spoken = self.dialect_of(exchange)
        profile = self._named_profile(spoken) if spoken else None
        choices = CheckChoices(self._choices.dialect, profile)
        try:
            (result, *_) = check_recording(
                InMemory(_NOWHERE, "cassette", cassette), self._rulebook, choices
            )
        except ConformanceError:
            return None
        self._learn_profile(result)
        return result

    def _profile_of(self, dialect: str) -> str | None:
        return self._named_profile(dialect) or self._shown.get(dialect)

    def _named_profile(self, dialect: str) -> str | None:
        named = self._choices.profile
        if named is None:
            return None
        if named.endswith(YAML_SUFFIXES):
            return named if load_profile(named).dialect == dialect else None
        return named if has_profile(dialect, named) else None

    def _learn_profile(self, result: StreamResult) -> None:
        known = ("strict", self._shown.get(result.dialect))
        if self._choices.profile is None and result.profile not in known:
            self._shown[result.dialect] = result.profile
            self._checkers.pop(result.dialect, None)
