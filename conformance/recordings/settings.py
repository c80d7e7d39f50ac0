"""By what the exchanges of one recording are judged: their dialect, sender, profile and rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial

from msgspec import Struct, field
from msgspec.structs import replace

from conformance import dialects
from conformance.cassette import Recording
from conformance.core.errors import Place, UsageError
from conformance.core.events import Exchange
from conformance.dialects.base import Dialect
from conformance.dialects.recognition import recognised_dialect
from conformance.evidence.application import APP
from conformance.evidence.expectations import is_played
from conformance.evidence.links.exchanges import may_link
from conformance.evidence.writing import is_own_request, looks_at_answers
from conformance.judging.checker import YAML_SUFFIXES
from conformance.judging.client_view import declared_events
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgedView, JudgeSetting
from conformance.profiles.lookup import has_profile
from conformance.recordings.both_hops import PairedRecording, stated_dialect
from conformance.recordings.choices import (
    CheckChoices,
    ProfileChoice,
    agreed_dialect,
)
from conformance.recordings.reread import ReadBytes, leaves_as_open, reread
from conformance.recordings.sender import Sender, sender_of
from conformance.recordings.unchanged import UnchangedExchanges


class RecordingSettings(Struct, dict=True):
    """A recording, the rules and the user's choices; what follows is worked out once.

    `read` has what came of the bytes of each exchange, `before` that of the same bytes by another
    profile. What is known of exchanges that are `unchanged` comes from there.
    """

    recording: Recording
    rulebook: Rulebook
    choices: CheckChoices
    before: Mapping[int, ReadBytes] = field(default_factory=dict)
    read: dict[int, ReadBytes] = field(default_factory=dict)
    _dialects: dict[int, str | None] = field(default_factory=dict)
    _senders: dict[str, Sender | None] = field(default_factory=dict)
    _settings: dict[int, JudgeSetting] = field(default_factory=dict)
    unchanged: UnchangedExchanges | None = None

    def of_exchange(self, exchange: Exchange) -> JudgeSetting:
        """How an exchange of the recording is judged. Raises UsageError, SpecError."""
        if exchange.number not in self._settings:
            self._settings[exchange.number] = self._setting(exchange)
        return self._settings[exchange.number]

    def once_more(
        self, recording: Recording, choices: CheckChoices, *, is_read: bool
    ) -> RecordingSettings:
        """The recording as evidence alone; `is_read`: its bytes say the same as they did here."""
        if not is_read:
            return RecordingSettings(recording, self.rulebook, choices)
        return RecordingSettings(
            recording, self.rulebook, choices, self.read, _dialects=self._dialects
        )

    def reread(self, exchange: Exchange) -> JudgedView | None:
        """What comes of bytes that were read before, by another profile; None where it is open."""
        read = self.before.get(exchange.number)
        if read is None or looks_at_answers(self.recording, exchange):
            return None
        return reread(read, self.of_exchange(exchange), exchange, self.rulebook)

    def leaves_as_open(self) -> bool:
        """Whether it is certain that no other rules are open than when the bytes were read before.

        Only for a recording whose bytes were read before, and that makes no claims.
        """
        judged = self.recording.judged
        links = may_link(judged)
        return all(
            each.number in self.before
            and not looks_at_answers(self.recording, each)
            and leaves_as_open(
                *(self.before[each.number], self.of_exchange(each), each, self.rulebook),
                links=links,
            )
            for each in judged
        )

    def shown_dialect(self, exchange: Exchange) -> str | None:
        """The dialect that the bytes of an exchange show."""
        if exchange.number not in self._dialects:
            recognise = self.unchanged.recognise if self.unchanged else recognised_dialect
            self._dialects[exchange.number] = recognise(exchange)
        return self._dialects[exchange.number]

    def sender(self, dialect: Dialect) -> Sender | None:
        """Who sent the exchanges of one dialect; None where nothing shows."""
        if dialect.name not in self._senders:
            exchanges = self.recording.exchanges
            of_dialect = (e for e in exchanges if dialects.agrees(dialect, self.shown_dialect(e)))
            self._senders[dialect.name] = sender_of(of_dialect, dialect, self.choices.folders)
        return self._senders[dialect.name]

    def with_guess(self, result: StreamResult) -> StreamResult:
        """Adds a note to findings by the assumed strict profile: whose habits they may be.

        A guess changes no verdict: a stream that only looks like a system's may be another's.
        """
        if result.named or not result.findings or result.profile != "strict":
            return result
        sender = self.sender(dialects.get(result.dialect))
        if sender is None or sender.is_certain:
            return result
        name = sender.profile
        note = f"perhaps {name}, by a guess: {'; '.join(sender.signs)}; see --profile {name}"
        return replace(result, notes=(*result.notes, note))

    def _setting(self, exchange: Exchange) -> JudgeSetting:
        header, rulebook = self.recording.header, self.rulebook
        choices, named = self._choices_for_hop(exchange)
        dialect = self._dialect(exchange)
        sender = partial(self.sender, dialect)
        choice = ProfileChoice(dialect, choices, named, sender, rulebook.profile)
        by = choice.profile_for(header, exchange)
        return JudgeSetting(
            dialect,
            by.profile,
            rulebook.bound(by.profile),
            file=str(self.recording.path),
            fidelity=header.fidelity,
            named=by.named,
            keep=choices.keep,
            notes=by.notes,
            declared=declared_events(header),
        )

    @cached_property
    def _of_application(self) -> Exchange | None:
        """The first answer of an application; None where the recording has none."""
        return next((each for each in self.recording.exchanges if each.hop == APP), None)

    def _choices_for_hop(self, exchange: Exchange) -> tuple[CheckChoices, str | None]:
        """The choices, and the profile that the recording names, as far as they are of this hop."""
        choices, named = self.choices, self.recording.header.profile
        application = self._of_application
        if application is not None:
            choices = replace(
                choices, profile=self._profile_of_hop(exchange, application, choices.profile)
            )
            named = self._profile_of_hop(exchange, application, named)
        is_named = application is not None and bool(choices.profile or named)
        if is_played(self.recording.header, exchange) and not is_named:
            choices = replace(choices, profile="strict")  # a gateway's habits end in front of it
        return choices, named

    def _profile_of_hop(
        self, exchange: Exchange, application: Exchange, name: str | None
    ) -> str | None:
        if name is None:
            return None
        of_provider = [each for each in self.recording.exchanges if each.hop == "upstream"]

        def has(each: Exchange) -> bool:
            dialect = each.dialect or self.recording.header.dialect
            return dialect is not None and has_profile(dialect, name, self.choices.folders)

        is_of_application = (
            name.endswith(YAML_SUFFIXES) or has(application) or not any(map(has, of_provider))
        )
        if exchange.hop == "upstream":
            return name if not is_of_application and has(exchange) else None
        return name if is_of_application else None

    def _dialect(self, exchange: Exchange) -> Dialect:
        """As `agreed_dialect`; an error names the file that holds the exchange.

        What the toolkit asked for in an API is judged as an answer of that API, whatever came.
        """
        recording = self.recording
        stated = stated_dialect(recording, exchange, self.choices.dialect)
        if (
            stated is not None
            and stated == exchange.dialect
            and stated in dialects.ENDPOINTS
            and is_own_request(recording, exchange)
        ):
            return dialects.get(stated)
        file, _ = recording.source_of(exchange.number)
        place, shown = Place(str(file)), self.shown_dialect(exchange)
        if isinstance(recording, PairedRecording) and exchange.number in recording.sources:
            self._expect_provider(stated, shown, place)
        return agreed_dialect(stated, shown, exchange, place=place)

    def _expect_provider(self, stated: str | None, shown: str | None, place: Place) -> None:
        """Raises UsageError where a file of `--upstream` holds no answer of a provider."""
        if stated is None and shown is None:
            hint = "conformance convert FILE NEW --dialect NAME makes a cassette that names it"
            raise UsageError("no known dialect is recognised", place=place, hint=hint)
        first, applications = self.shown_dialect(self.recording.exchanges[0]), dialects.APPLICATIONS
        if shown in applications and first is not None and first not in applications:
            message = (
                f"--upstream takes what a provider sent; here an application answers in {shown}"
            )
            hint = f"{self.recording.path} may be the provider's"
            raise UsageError(message, place=place, hint=hint)
