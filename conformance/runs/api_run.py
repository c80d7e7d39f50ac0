"""One API of a target: what it takes to ask it, and what came of that so far."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette import Recording
from conformance.core.events import Exchange
from conformance.dialects import get
from conformance.evidence.expectations import KEEPS_HISTORY, compares_answers
from conformance.evidence.hop_opaque import NO_LATER_CALL
from conformance.judging.consequences import follows
from conformance.judging.hop_rules import OPAQUE
from conformance.judging.result import ShowResults, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.transcript import Transcript, read_transcript
from conformance.recordings.check import check_trusted
from conformance.recordings.choices import CheckChoices
from conformance.recordings.claims import STRICT, with_silenced
from conformance.rules.verdicts import Verdict
from conformance.runs.cross_talk import CrossTalkWatch
from conformance.runs.options import RunOptions
from conformance.runs.plan import LeftOut, ScenarioRun
from conformance.runs.run_folder import RunFolder, restate_run
from conformance.runs.scenario_run import ScenarioOutcome
from conformance.runs.sending import RequestSender
from conformance.runs.step_requests import RequestSettings


class RunDisplay(Struct, frozen=True):
    """Who sees a run while it goes on: what it is at, and how a scenario was judged."""

    show_progress: Callable[[str], None] = lambda _: None
    show_results: ShowResults = lambda _: None


UNSEEN: Final = RunDisplay()


class ApiTarget(Struct, frozen=True):
    """One API, and what asking it takes."""

    dialect: str
    sender: RequestSender
    folder: RunFolder
    options: RunOptions
    rulebook: Rulebook
    display: RunDisplay
    watch: CrossTalkWatch


class KeptRun(Struct, frozen=True):
    """A scenario that was run, its recording as it came, and how that was judged.

    `is_deterministic` is what the recording says of its target; `wordless` are numbers of answers
    without thinking and text.
    """

    run: ScenarioRun
    evidence: Recording
    is_deterministic: bool
    results: tuple[StreamResult, ...] = ()
    wordless: frozenset[int] = frozenset()

    @property
    def path(self) -> Path:
        """Where the recording is kept, without its secrets."""
        return self.evidence.path


class StepFault(Struct, frozen=True):
    """A fault of the answer to a step, as words that follow the step's name."""

    step: str
    what: str


class ApiRun(Struct):
    """The results of one API so far; it grows while scenarios run in parallel.

    `profile` was named by the user, else by the target's own `signs`. `died` says when the target
    went silent for good, `faults` why answers to steps broke off; `finding_notes` are by id of a
    finding; `telling` names requests whose answers would show cross-talk; `kinds_of_calls` are
    those of an application's calls to its model, by step. `varies_in_company`: answers to one
    request differ, but only next to other requests; then `deterministic` is False, too.
    `keeps_history`: an application showed in one scenario that it keeps the history itself, or
    what it loses of that.
    """

    target: ApiTarget
    settings: RequestSettings
    sanity: ScenarioOutcome
    profile: str | None = None
    signs: tuple[str, ...] = ()
    deterministic: bool = True
    varies_in_company: bool = False
    died: str = ""
    silent: list[str] = field(default_factory=list)
    faults: list[StepFault] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    finding_notes: dict[str, str] = field(default_factory=dict)
    kept: dict[str, KeptRun] = field(default_factory=dict)
    planned: tuple[ScenarioRun, ...] = ()
    telling: set[str] = field(default_factory=set)
    kinds_of_calls: dict[str, tuple[str, ...]] = field(default_factory=dict)
    keeps_history: bool = False

    @property
    def dialect(self) -> str:
        return self.target.dialect

    def read_transcript(self, exchange: Exchange) -> Transcript:
        """An answer of a recording that was kept."""
        return read_transcript(exchange, get(self.dialect), self.settings.reading)

    def leave_out(self, name: str, why: str) -> None:
        self.left_out.append(LeftOut(name, self.dialect, why))

    def keep_outcome(self, outcome: ScenarioOutcome) -> None:
        evidence = self.write_outcome(outcome, self.target.folder)
        run, steady, wordless = outcome.run, self.deterministic, outcome.wordless
        self.kept[run.name] = KeptRun(run, evidence, steady, wordless=wordless)

    def write_outcome(self, outcome: ScenarioOutcome, folder: RunFolder) -> Recording:
        return folder.write_cassette(
            outcome, deterministic=self.deterministic, profile=self.profile
        )

    def judge_recording(self, evidence: Recording) -> list[StreamResult]:
        """Judges the answers as received, not the saved copy."""
        options = self.target.options
        # The upstream of a gateway may speak another dialect.
        stated = None if self.target.sender.upstream else self.dialect
        rulebook = self.target.rulebook
        choices = CheckChoices(stated, self.profile, options.folders)
        results = check_trusted(evidence, rulebook, choices)
        named = options.profile is not None and self.profile == options.profile
        if self.profile not in (None, STRICT) and not named:
            strictly = check_trusted(evidence, rulebook, replace(choices, profile=STRICT))
            results = with_silenced(evidence, results, strictly, by_signs=True)
        return [replace(each, named=named) for each in results]

    def judge_kept(self) -> None:
        """Judges all saved recordings again, now that the run is over and everything is known."""
        for name, kept in self.kept.items():
            if kept.is_deterministic and not self.deterministic:
                evidence = restate_run(kept.evidence, deterministic=False)
                self.kept[name] = replace(
                    kept, evidence=evidence, is_deterministic=False, results=()
                )
            results = tuple(map(self._with_notes, self.judge_kept_run(name)))
            self.kept[name] = replace(self.kept[name], results=results)

    def state_kept_history(self) -> None:
        """Restates the recordings in which what an application seals looks lost.

        One scenario shows that the application keeps its history; the others may have no next turn.
        It shows so, too, by a request that lost what the model had sealed: what it loses of the
        last answer is no second fault.
        """
        for name in self.kept:
            results = self.judge_kept_run(name)
            reasons = {each.reasons.get(OPAQUE.id) for each in results}
            broken = {found.rule for each in results for found in each.findings}
            is_blamed = any(follows(OPAQUE.id, rule) for rule in broken)
            self.keeps_history = self.keeps_history or is_blamed or NO_LATER_CALL in reasons
        for name, kept in self.kept.items() if self.keeps_history else ():
            if any(each.verdicts.get(OPAQUE.id) is Verdict.FAIL for each in kept.results):
                evidence = restate_run(kept.evidence, **{KEEPS_HISTORY: True})
                self.kept[name] = replace(kept, evidence=evidence, results=())

    def results(self) -> list[StreamResult]:
        """How all that was kept was judged so far."""
        return [each for kept in self.kept.values() for each in kept.results]

    def judge_kept_run(self, name: str) -> tuple[StreamResult, ...]:
        """How a recording was judged; that is done once, and again where it was restated."""
        kept = self.kept[name]
        if not kept.results:
            results = tuple(self.judge_recording(kept.evidence))
            kept = self.kept[name] = replace(kept, results=results)
        return kept.results

    def show_findings(self, name: str) -> None:
        """Judges a recording that was kept, and shows what no later answer can take back.

        Whether answers may be compared with each other, and who keeps the history of an
        application, shows when all have come.
        """
        results = self.judge_kept_run(name)
        rules = self.target.rulebook.rules if self.kept[name].is_deterministic else ()
        unsettled = {OPAQUE.id, *(each.id for each in rules if compares_answers(each))}
        narrowed = map(self.target.rulebook.narrowed, results)
        self.target.display.show_results([_without_rules(each, unsettled) for each in narrowed])

    def _with_notes(self, result: StreamResult) -> StreamResult:
        ids = dict.fromkeys(finding.id for finding in result.findings)
        notes = (self.finding_notes[each] for each in ids if each in self.finding_notes)
        return replace(result, notes=(*result.notes, *notes))


def _without_rules(result: StreamResult, rules: AbstractSet[str]) -> StreamResult:
    return replace(result, findings=tuple(f for f in result.findings if f.rule not in rules))
