"""A whole run of one client: smoke, every recording in every way, choices, smoke again."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette import Header, Recording, open_recording
from conformance.core import shipped
from conformance.core.errors import SpecError, UsageError
from conformance.core.events import Exchange
from conformance.dialects import SUPPORTED, get
from conformance.dialects.recognition import recognised_dialect
from conformance.judging import harness
from conformance.judging.result import Report, ShowResults, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.transcript import Transcript
from conformance.profiles.profile import Profile, laid_over
from conformance.recordings.check import recording_files
from conformance.recordings.choices import (
    CheckChoices,
    ProfileChoice,
    agreed_dialect,
    choose_profile,
)
from conformance.recordings.sender import sender_of
from conformance.report.wording import count
from conformance.targets.child_process import leftover_notes
from conformance.targets.client.adapter import AdapterAnswer
from conformance.targets.client.case_results import CaseSeries, CaseTally, RecordingOutcome
from conformance.targets.client.client_judge import (
    ClientJudge,
    ClientLedger,
    client_place,
    no_answer,
    stream_result,
)
from conformance.targets.client.exchange_replays import BODIES, ExchangeReplays
from conformance.targets.client.kept_reports import keep_reports, kept_path
from conformance.targets.client.process import AdapterBounds
from conformance.targets.client.protocol import STREAM, ClientImplementation
from conformance.targets.client.reconnecting import RECONNECT, judge_reconnecting
from conformance.targets.client.replay_endpoint import (
    ReplayEndpoint,
    RequestLog,
    run_smoke_case,
    run_unknown_case,
    smoke_fault,
)
from conformance.targets.client.replayed_server import is_replayed, replayed_server, server_notes
from conformance.targets.client.user_choices import judge_user_choices
from conformance.targets.client.variation import ReplayExtent
from conformance.targets.client.whole_messages import (
    EXTRACTED,
    STORED,
    judge_extraction,
    judge_restoring,
    judge_storing,
)
from conformance.targets.replay import serving
from conformance.targets.replay.tape import recording_stem

Progress = Callable[[str], None]


class ClientOptions(Struct, frozen=True):
    """How a client is run. `deadline` is seconds per case; `save` keeps what it reported.

    `only` names the one way in which recordings are replayed; `call` is the command of the run.
    `passed` are variables of our environment that the adapter gets in addition to the usual ones.
    Of `server`, unless it is a profile of clients, only that system's recordings are replayed.
    """

    profile: str | None = None
    server: str | None = None
    dialects: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    suites: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    as_of: str | None = None
    extent: ReplayExtent = "full"
    jobs: int = 1
    deadline: float = 5.0
    save: Path | None = None
    target: str = ""
    only: str = ""
    call: str = ""
    passed: tuple[str, ...] = ()
    bounds: AdapterBounds = field(default_factory=AdapterBounds)


class ClientOutcome(Struct, frozen=True):
    """The findings of a run, the client, and how many cases; 0 where no recording fitted it."""

    report: Report
    about: ClientImplementation
    cases: int


def run_client(
    command: str | Sequence[str],
    paths: Sequence[Path | str] = (),
    options: ClientOptions | None = None,
    progress: Progress = lambda _: None,
    show_findings: ShowResults = lambda _: None,
) -> ClientOutcome:
    """Runs a client through recordings (default: all shipped) and judges what it reports.

    Raises UsageError for what cannot be started or is not there, HarnessError for an adapter that
    fails the smoke case, skips nothing that is unknown, or breaks down again and again.
    """
    chosen = options or ClientOptions()
    rulebook = Rulebook.load(chosen.suites, chosen.rules, chosen.as_of)
    found = list(recording_files(paths or [shipped.cassettes()]))
    log = RequestLog()
    with ExitStack() as stack:
        server = stack.enter_context(serving(on_exchange=log.note_request))
        endpoints = [
            stack.enter_context(
                ReplayEndpoint(
                    *(command, server, log, chosen.bounds, chosen.passed), deadline=chosen.deadline
                )
            )
            for _ in range(max(1, min(chosen.jobs, len(found))))
        ]
        return ClientSession(endpoints, rulebook, chosen, progress, show_findings).run(found)


class ClientSession:
    """One run; every endpoint works through recordings of its own."""

    def __init__(
        self,
        endpoints: Sequence[ReplayEndpoint],
        rulebook: Rulebook,
        options: ClientOptions,
        progress: Progress,
        show_findings: ShowResults,
    ) -> None:
        self.endpoints = endpoints
        self.rulebook = rulebook
        self.options = options
        self.progress = progress
        self.show_findings = show_findings
        self.about = endpoints[0].about
        if options.target:
            self.about = replace(self.about, name=options.target, version="")
        self.chosen = CheckChoices(profile=options.profile, folders=options.folders)
        self.clients = self._client_profiles()
        self.server = replayed_server(options.server, is_client_s=bool(self.clients))
        self.dialects = self._judged_dialects()

    def run(self, found: Sequence[Path]) -> ClientOutcome:
        """Smoke first and last, and everything between."""
        speaks = STREAM in self.about.ops
        has_script = get(self.dialects[0]).script is not None
        if smokes := speaks and has_script and BODIES not in self.about.features:
            run_smoke_case(self.endpoints[0], self.dialects[0])
        run_unknown_case(self.endpoints[0])
        visited = self._run_recordings(found) if speaks else [RecordingOutcome() for _ in found]
        tally = CaseTally()
        for each in visited:
            tally.add_tally(each.tally)
        streams = [stream for each in visited for stream in each.streams]
        is_idle = speaks and not streams
        if not self.options.only:
            streams += self._judge_own_cases(tally)
            streams += self._judge_declared(tally)
        streams += self._judge_farewell(smokes=smokes)
        errors = tuple(line for each in visited for line in each.errors)
        cases = sum(tally.answered.values())
        about = self.about
        who = f"{about.name} {about.version}".strip() + f" ({about.language})"
        answered = f"{who} answered {count(cases, 'case')}"
        left = leftover_notes("adapter", [each for one in self.endpoints for each in one.left])
        notes = (*self.rulebook.notes, *server_notes(self.server), *tally.skip_notes(), *left)
        report = Report(tuple(streams), errors, (*notes, answered))
        return ClientOutcome(report, about, 0 if is_idle else cases)

    def _judged_dialects(self) -> tuple[str, ...]:
        known = [name for name in self.about.dialects if name in SUPPORTED]
        wanted = [name for name in known if name in (self.options.dialects or known)]
        spoken = ", ".join(self.about.dialects)
        if not known:
            raise UsageError(f"no dialect is called {spoken}; there are {', '.join(SUPPORTED)}")
        if not wanted:
            raise UsageError(f"the client speaks {spoken}", hint="see --api")
        judged = [each for each in wanted if not self.clients or each in self.clients]
        if not judged or (self.options.dialects and judged != wanted):
            known = sorted(self.clients)
            raise UsageError(f"profile {self.chosen.profile!r} is for {', '.join(known)} only")
        return tuple(judged)

    def _client_profiles(self) -> Mapping[str, Profile]:
        """The client's profile that was named, by dialect; empty where a server's was, or none.

        Raises UsageError where no dialect of the client has a profile of that name.
        """
        if self.chosen.profile is None:
            return {}
        found: list[Profile] = []
        missing: UsageError | None = None
        for name in set(self.about.dialects) & set(SUPPORTED):
            try:
                found.append(choose_profile(get(name), self.chosen, None, self.rulebook.profile)[0])
            except UsageError as err:
                missing = err
        if missing is not None and not found:
            raise missing
        return {profile.dialect: profile for profile in found if profile.side == "client"}

    def _run_recordings(self, found: Sequence[Path]) -> list[RecordingOutcome]:
        # Which dialects had every edit of their framing, by endpoint.
        free: queue.SimpleQueue[tuple[ReplayEndpoint, set[str]]] = queue.SimpleQueue()
        for endpoint in self.endpoints:
            free.put((endpoint, set()))

        def run_one(number: int, path: Path) -> RecordingOutcome:
            endpoint, edited = free.get()
            try:
                self.progress(f"{number} of {count(len(found), 'recording')}: {path.name}")
                outcome = self._run_recording(endpoint, path, edited)
                self.show_findings(outcome.streams)
                return outcome
            finally:
                free.put((endpoint, edited))

        with ThreadPoolExecutor(len(self.endpoints)) as pool:
            return list(pool.map(run_one, range(len(found)), found))

    def _run_recording(
        self, endpoint: ReplayEndpoint, path: Path, edited: set[str]
    ) -> RecordingOutcome:
        try:
            return self._run_exchanges(endpoint, open_recording(path), edited)
        except SpecError:
            raise
        except UsageError as err:
            return RecordingOutcome(errors=[str(err) if err.place else f"{path}: {err}"])

    def _run_exchanges(
        self, endpoint: ReplayEndpoint, recording: Recording, edited: set[str]
    ) -> RecordingOutcome:
        visited = RecordingOutcome()
        watched: list[Exchange] = []
        for exchange in recording.exchanges:
            judging = self._judge_of(recording, exchange)
            if judging is None:
                continue
            sent = judging.read_sent(exchange)
            if sent.choices > 1 and "choices" not in self.about.features:  # most SDKs read one
                continue
            replays = ExchangeReplays(
                endpoint, judging, visited.tally, sent, self.options.extent, self.options.only
            )
            is_rich = _is_rich(sent, judging)
            visited.streams.append(
                replays.judge_exchange(edited=is_rich and replays.dialect not in edited)
            )
            if is_rich and replays.seen is not None:
                edited.add(replays.dialect)
            # The request is the recording's own: no user of this client chose it.
            watched.append(replace(exchange, seen=replays.seen, user_choices=None))
        if self.options.save is not None:
            kept = kept_path(self.options.save, recording.path)
            keep_reports(kept, recording.header, watched, self.about.plain())
        return visited

    def _judge_of(self, recording: Recording, exchange: Exchange) -> ClientJudge | None:
        """How the exchange is judged; None where it is not for this client."""
        request = exchange.request
        if exchange.hop == "upstream" or (request and request.method != "POST"):
            return None
        stated = exchange.dialect or recording.header.dialect
        shown = recognised_dialect(exchange)
        if (stated or shown) not in self.dialects or not is_replayed(recording.header, self.server):
            return None
        dialect = agreed_dialect(stated, shown, exchange)
        by = ProfileChoice(
            dialect,
            self.chosen,
            recording.header.profile,
            lambda: sender_of([exchange], dialect, self.chosen.folders),
            self.rulebook.profile,
        ).profile_for(recording.header, exchange)
        path = recording.path
        called = "/".join([*path.resolve().parent.parts[-2:], recording_stem(path)])
        return ClientJudge(
            self.rulebook,
            by.profile if dialect.name in self.clients else _without_client_promises(by.profile),
            self.about,
            str(path),
            named=by.named or bool(by.notes),
            name=called,
            call=self.options.call,
        )

    def _save_requests(self, judging: ClientJudge, sent: Sequence[Exchange]) -> None:
        """Save the requests that the client would send for every choice, with the choice."""
        if self.options.save is None:
            return
        dialect = judging.dialect.name
        # A recording names no file: whoever checks it has the profile next to it.
        is_file = (self.chosen.profile or "").endswith((".yaml", ".yml"))
        header = Header(
            origin="synthetic",
            dialect=dialect,
            profile=None if is_file else judging.profile.name,
            target={"name": self.about.name, "version": self.about.version},
        )
        path = self.options.save / f"choices-{dialect}.cassette.jsonl"
        keep_reports(path, header, sent, self.about.plain())

    def _judge_own_cases(self, tally: CaseTally) -> Iterator[StreamResult]:
        """Cases that need no recording, by the first endpoint."""
        for dialect in self.dialects:
            cases = self._case_series(dialect, "choices", tally)
            sent: list[Exchange] = []
            yield from judge_user_choices(cases, sent)
            self._save_requests(cases.judging, sent)
        for name, about in SUPPORTED.items():
            if about.client and about.client.stored:
                cases = self._case_series(name, STORED, tally)
                yield from judge_restoring(cases)
                yield from judge_storing(cases)
            if about.client and about.client.scattered and name in self.dialects:
                yield from judge_extraction(self._case_series(name, EXTRACTED, tally))
        for dialect in self.dialects:
            yield from judge_reconnecting(self._case_series(dialect, RECONNECT, tally))

    def _judge_farewell(self, *, smokes: bool) -> Iterator[StreamResult]:
        """What was wrong after all cases: a client that no longer works, an unsolicited line."""
        dialect = self.dialects[0]
        faults: list[AdapterAnswer] = []
        if smokes:
            answered, why = smoke_fault(self.endpoints[0], dialect)
            faults += [AdapterAnswer("errored", why=why, is_wrong=answered.is_wrong)] if why else []
        stopped = filter(None, [endpoint.stop() for endpoint in self.endpoints])
        faults += [AdapterAnswer("errored", why=why, is_wrong=True) for why in stopped]
        for number, answer in enumerate(faults, 1):
            place = Exchange(number=number, scenario="farewell", role="smoke", dialect=dialect)
            made = no_answer(client_place(place), answer)
            yield stream_result(self._judge_without_recording(dialect, "farewell"), place, made)

    def _case_series(self, dialect: str, file: str, tally: CaseTally) -> CaseSeries:
        return CaseSeries(self.endpoints[0], self._judge_without_recording(dialect, file), tally)

    def _judge_without_recording(self, dialect: str, file: str) -> ClientJudge:
        """Judging of what rests on no recording."""
        profile = self.rulebook.profile("strict", dialect)
        if dialect in self.clients:
            profile = laid_over(self.clients[dialect], profile)
        return ClientJudge(self.rulebook, profile, self.about, f"{file}/{dialect}", named=True)

    def _judge_declared(self, tally: CaseTally) -> Iterator[StreamResult]:
        """Judge ops and dialects that were declared and refused in every case."""
        for number, ((op, dialect), reasons) in enumerate(tally.refused(), 1):
            where = f"declared/{op}/{dialect}/client"
            got = f"skipped: {reasons[0]}"
            made = ClientLedger()
            made.state_harness_rule(harness.DECLARED, where, ("an answer to some case", got))
            place = Exchange(number=number, scenario="declared", role=op)
            yield stream_result(self._judge_without_recording(dialect, "declared"), place, made)


def _is_rich(sent: Transcript, judging: ClientJudge) -> bool:
    """Whether a stream is worth every edit of its framing: it thinks, speaks and ends well."""
    if sent.exchange.end != "eof" or judging.reading.markers:
        return False
    return sent.client_end == "completed" and sent.types >= _RICH


_RICH: Final = frozenset({"thinking.delta", "text.delta"})


def _without_client_promises(profile: Profile) -> Profile:
    """Drop the promises of a recording's own client: they are none of the one under test.

    The policy of history stays: the client learns which one to follow.
    """
    if profile.side != "client":
        return profile
    kept = tuple(each for each in profile.promises if each.startswith("history-"))
    return replace(profile, promises=kept)
