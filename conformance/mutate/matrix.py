"""The kill matrix: which rules find which mutants, and what is wrong with that.

Rule 1: a mutant is killed by the MUST and SHOULD rules that fail on it and not on its base.
Rule 2: a *survivor* is a mutant that has to be killed and is not, and that no allowance covers.
Rule 3: an *alarm* is a new FAIL or ERROR, of any level, on a mutant that has to pass.
Rule 4: a rule is *dead* if it fails on no mutant at all, be it of an operator, derived from the
        rule, or shipped.
Rule 5: an allowance that covers no living mutant, of all that its operators make, is *stale*.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import blake2b
from typing import Final, Literal
from zlib import crc32

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.core.errors import UsageError
from conformance.core.events import Exchange
from conformance.editing.operator import Mutant, Operator, make_mutants
from conformance.editing.stream import Stream
from conformance.judging.rulebook import Rulebook
from conformance.mutate.allowances import Allowance, load_allowances
from conformance.mutate.base_recordings import BaseRecording, RuleOutcomes
from conformance.mutate.catalogue import OPERATORS
from conformance.mutate.client_defects import DEFECTS, client_mutants
from conformance.mutate.rule_events import stream_events
from conformance.mutate.rule_mutants import RuledStream
from conformance.profiles.profile import Profile
from conformance.recordings.parallel import processor_count, run_parallel
from conformance.recordings.settings import RecordingSettings
from conformance.rules.compiled import CompiledRule

# Bases on which one rule is tried to be violated; more of them seldom help.
_TRIES: Final = 3

_ALL: Final = 1_000

Operators = Sequence[Operator]
MutantOutcome = Literal["killed", "survived", "allowed", "gap", "passed", "alarm", "unseen", "seen"]

_LIVING: Final = ("survived", "alarm")

_BrokenRules = tuple[frozenset[str], frozenset[str]]  # as `killers` and `new` of a trial


class Trial(Struct, frozen=True):
    """One judged mutant. `new` are rules that fail on it and not on its base."""

    operator: str
    base: str
    mutant: str
    outcome: MutantOutcome
    killers: frozenset[str]
    new: frozenset[str]
    reason: str = ""


class Matrix(Struct, frozen=True):
    """What came of all mutants of all bases."""

    operators: tuple[Operator, ...]
    rules: tuple[str, ...]
    bases: tuple[str, ...]
    trials: tuple[Trial, ...]
    allowances: tuple[Allowance, ...] = ()
    used: frozenset[int] = field(default_factory=frozenset)

    def of(self, outcome: MutantOutcome) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if trial.outcome == outcome)

    @property
    def survivors(self) -> tuple[Trial, ...]:
        return self.of("survived")

    @property
    def alarms(self) -> tuple[Trial, ...]:
        return self.of("alarm")

    @property
    def dead(self) -> tuple[str, ...]:
        """Rules that fail on no mutant."""
        alive = {rule for trial in self.trials for rule in trial.new}
        return tuple(rule for rule in self.rules if rule not in alive)

    @property
    def never_alone(self) -> tuple[str, ...]:
        """Rules that fail on mutants, but on none as the only one."""
        alone = {rule for trial in self.trials for rule in trial.new if len(trial.new) == 1}
        return tuple(rule for rule in self.rules if rule not in alone and rule not in self.dead)

    @property
    def stale(self) -> tuple[Allowance, ...]:
        return tuple(each for n, each in enumerate(self.allowances) if n not in self.used)

    @property
    def is_sound(self) -> bool:
        return not (self.survivors or self.alarms or self.dead or self.stale)

    def kills(self, operator: str) -> Counter[str]:
        """How many mutants of an operator each rule killed."""
        mine = (trial for trial in self.trials if trial.operator == operator)
        return Counter(rule for trial in mine for rule in trial.killers)


class RuleShare(Struct, frozen=True):
    """One of several equal shares of all rules. Rules are tried without regard to each other."""

    number: int
    of: int

    def has(self, rule: str) -> bool:
        return crc32(rule.encode()) % self.of == self.number


class PartOfMatrix(Struct, frozen=True):
    """What one process found: by its base's number, the trials of one base."""

    trials: tuple[tuple[int, tuple[Trial, ...]], ...]
    used: frozenset[int] = frozenset()
    defects: Mapping[str, int] = {}


class _JudgedBase:
    """One base and what is found on its mutants; different edits often make the same mutant.

    It lives as long as the matrix: of a mutant only a digest and the few rules it breaks are kept.
    """

    def __init__(self, base: BaseRecording, rulebook: Rulebook) -> None:
        self.base = base
        self._unchanged = base.unchanged()
        self._rulebook = rulebook
        self._settings = RecordingSettings(base.recording, rulebook, base.choices)
        self._broken: dict[bytes, _BrokenRules] = {}

    def judge_unedited(self) -> None:
        """Finds out now what all its mutants share."""
        for stream in self.base.streams():
            self.profile(stream)
        _ = self.unedited

    @cached_property
    def unedited(self) -> RuleOutcomes:
        """What the rules find on the base itself."""
        return self.base.judge(self._rulebook, unchanged=self._unchanged)

    def trial(self, mutant: Mutant) -> Trial:
        """What the rules find on the mutant and not on its base."""
        killers, new = self._broken_by(mutant.exchange)
        outcome = _trial_outcome(mutant, killers, new)
        return Trial(mutant.operator, self.base.name, mutant.name, outcome, killers, new)

    def profile(self, stream: Stream) -> Profile:
        """The profile by which one of the base's streams is judged."""
        return self._settings.of_exchange(stream.exchange).profile

    def _broken_by(self, edited: Exchange) -> _BrokenRules:
        shown = repr(edited)  # where 1 and True are equal they are shown differently
        digest = blake2b(shown.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest not in self._broken:
            judged = self.base.judge(self._rulebook, edited, self._unchanged)
            killers = judged.killed_by - self.unedited.killed_by
            self._broken[digest] = killers, judged.failing - self.unedited.failing
        return self._broken[digest]


class _MatrixRun:
    """Judges mutants one after the other, with one rulebook."""

    def __init__(self, rulebook: Rulebook, allowances: Sequence[Allowance]) -> None:
        self.rulebook = rulebook
        self.allowances = allowances
        self.used: set[int] = set()
        self.tries: Counter[str] = Counter()  # bases on which a rule was tried
        self.defects: Counter[str] = Counter()  # mutants of a defect or operator

    def take(self, part: PartOfMatrix) -> None:
        """Counts what another process has found."""
        self.used |= part.used
        self.defects.update(part.defects)

    def base_part(self, number: int, judged: _JudgedBase, operators: Operators) -> PartOfMatrix:
        made = tuple(self.base_trials(judged, operators))
        return PartOfMatrix(((number, made),), frozenset(self.used), self.defects)

    def rule_part(self, bases: Sequence[_JudgedBase], share: RuleShare) -> PartOfMatrix:
        plain = ((n, each) for n, each in enumerate(bases) if not each.base.has_client)
        return PartOfMatrix(tuple((n, tuple(self.rule_trials(each, share))) for n, each in plain))

    def base_trials(self, judged: _JudgedBase, operators: Operators) -> Iterator[Trial]:
        """Mutants of the operators, or of the defects of clients where a client reported."""
        for stream in judged.base.streams():
            yield from self.stream_trials(judged, stream, operators)

    def stream_trials(
        self, judged: _JudgedBase, stream: Stream, operators: Operators
    ) -> Iterator[Trial]:
        """As `base_trials`, of one of the base's streams."""
        if judged.base.has_client:
            made: Iterable[Mutant] = client_mutants(stream.exchange)
        else:
            made = _half_of_mutants(judged.base, stream, operators)
        return self._judge_mutants(judged, stream, made)

    def client_trials(self, bases: Iterable[BaseRecording]) -> Iterator[Trial]:
        """Defects of clients on reports that were made of plain streams, a few of each defect."""
        for base in bases:
            wanted = [each for each in DEFECTS if self.defects[each.name] < _TRIES]
            if wanted and not base.has_client:
                watched = _JudgedBase(base.with_client_view(self.rulebook), self.rulebook)
                for stream in watched.base.streams():
                    made = client_mutants(stream.exchange, wanted)
                    yield from self._judge_mutants(watched, stream, made)

    def _judge_mutants(
        self, judged: _JudgedBase, stream: Stream, made: Iterable[Mutant]
    ) -> Iterator[Trial]:
        for mutant in made:
            self.defects[mutant.operator] += 1
            trial = judged.trial(mutant)
            if trial.outcome in _LIVING:
                trial = self._allow(trial, mutant, judged.profile(stream), stream)
            yield trial

    def _allow(self, trial: Trial, mutant: Mutant, profile: Profile, stream: Stream) -> Trial:
        """The trial of a living mutant, with the first allowance that covers it."""
        for number, each in enumerate(self.allowances):
            if each.covers(mutant, trial.base, profile, stream):
                self.used.add(number)
                outcome: MutantOutcome = "gap" if each.missing else "allowed"
                return replace(trial, outcome=outcome, reason=each.reason)
        return trial

    def is_used(self, allowance: Allowance, bases: Sequence[_JudgedBase], every: Operators) -> bool:
        """Whether it covers a living mutant among those that the matrix left out."""
        fitting = [each for each in every if fnmatchcase(each.name, allowance.operator)]
        for judged in bases if fitting else ():
            base = judged.base
            if base.has_client or not fnmatchcase(base.name, allowance.base):
                continue
            for stream in base.streams():
                if not allowance.allows(profile := judged.profile(stream)):
                    continue
                made = (m for each in fitting for m in make_mutants(each, stream, most=_ALL))
                for mutant in made:
                    if not allowance.covers(mutant, base.name, profile, stream):
                        continue
                    if judged.trial(mutant).outcome in _LIVING:
                        return True
        return False

    def rule_trials(self, judged: _JudgedBase, share: RuleShare) -> Iterator[Trial]:
        """Mutants derived from rules that the base keeps and that nothing has violated yet."""
        for stream in judged.base.streams():
            profile = judged.profile(stream)
            ruled = RuledStream(stream, stream_events(stream, profile))
            for compiled in self.rulebook.bound(profile).rules.rules:
                rule = compiled.rule.id
                if (
                    share.has(rule)
                    and rule in judged.unedited.passing
                    and self.tries[rule] < _TRIES
                ):
                    yield from self._violate_rule(judged, ruled, compiled)

    def _violate_rule(
        self, judged: _JudgedBase, ruled: RuledStream, compiled: CompiledRule
    ) -> Iterator[Trial]:
        self.tries[compiled.rule.id] += 1
        for mutant in ruled.mutants(compiled):
            try:
                trial = judged.trial(mutant)
            except UsageError:  # the edit makes it a stream of another dialect, which check refuses
                continue
            yield trial
            if compiled.rule.id in trial.new:
                self.tries[compiled.rule.id] = _TRIES
                return


def _half_of_mutants(
    base: BaseRecording, stream: Stream, operators: Sequence[Operator]
) -> Iterator[Mutant]:
    """Half of an operator's mutants, at places that differ from base to base.

    What must pass depends little on the stream: each such operator takes every other base. Base
    and operator are distinguished by their names, so that a new base changes nothing for the
    others.
    """
    for operator in operators:
        name = crc32(f"{base.name} {operator.name}".encode())
        if operator.must != "pass" or name % 2:
            most = max(1, operator.most // 2)
            yield from make_mutants(operator, stream, seed=name % 97, most=most)


def _trial_outcome(mutant: Mutant, killers: frozenset[str], new: frozenset[str]) -> MutantOutcome:
    if mutant.must == "pass":
        return "alarm" if new else "passed"
    if mutant.must == "either":
        return "seen" if killers else "unseen"
    return "killed" if killers else "survived"


def judge_shipped(base: BaseRecording, rulebook: Rulebook) -> Trial:
    """A shipped mutant; its own header says which rules have to fail."""
    judged = base.judge(rulebook)
    wanted = set(base.cassette.header.expect)
    outcome: MutantOutcome = "killed" if wanted and wanted <= judged.failing else "survived"
    return Trial("shipped", base.name, base.name, outcome, judged.killed_by, judged.failing)


def _judge_parts(
    trials: _MatrixRun,
    grounds: Sequence[_JudgedBase],
    operators: Operators,
    jobs: int | None,
) -> dict[int, list[Trial]]:
    """The trials by the number of their base; `trials` counts what they used and planted."""
    for each in grounds:  # before the processes begin, which inherit it with all it compiled
        each.judge_unedited()

    def judge_part(part: int | RuleShare) -> PartOfMatrix:
        own = _MatrixRun(trials.rulebook, trials.allowances)
        if isinstance(part, RuleShare):
            return own.rule_part(grounds, part)
        return own.base_part(part, grounds[part], operators)

    count = processor_count() if jobs is None else jobs
    shares = [RuleShare(n, count) for n in range(count)]
    # Shares take longest and come early, but after the one part that this process does itself.
    parts: list[int | RuleShare] = [*range(len(grounds))[:1], *shares, *range(len(grounds))[1:]]
    every: dict[int, list[Trial]] = defaultdict(list)
    for found in run_parallel(judge_part, iter(parts), jobs, at_once=1):
        trials.take(found)
        for number, made in found.trials:
            every[number].extend(made)
    return every


def judge_cover(bases: Iterable[BaseRecording]) -> Iterator[Trial]:
    """Trials of the matrix in which every operator acts: each on the first stream where it can."""
    trials = _MatrixRun(Rulebook.load(), tuple(load_allowances()))
    left = list(OPERATORS)
    for base in bases:
        judged = _JudgedBase(base, trials.rulebook)
        for stream in () if base.has_client else base.streams():
            mine = [each for each in left if each.dialect in ("", stream.dialect)]
            made = tuple(trials.stream_trials(judged, stream, mine))
            acted = {trial.operator for trial in made}
            left = [each for each in left if each not in mine or each.name not in acted]
            yield from made


def judge_matrix(
    bases: Iterable[BaseRecording],
    shipped: Iterable[BaseRecording] = (),
    *,
    operators: Operators = OPERATORS,
    allowances: Sequence[Allowance] | None = None,
    jobs: int | None = 1,
) -> Matrix:
    """Judges every mutant of every base once. `shipped` are mutants that are in files.

    `jobs` processes share the work, None stands for all processors. What they find is the same, but
    trials of one base come in another order.
    """
    rules = Rulebook.load()
    allowed = tuple(load_allowances() if allowances is None else allowances)
    grounds = tuple(_JudgedBase(base, rules) for base in bases)
    trials = _MatrixRun(rules, allowed)

    every = _judge_parts(trials, grounds, operators, jobs)
    judged = [trial for number in sorted(every) for trial in every[number]]
    judged.extend(trials.client_trials(each.base for each in grounds))
    judged.extend(judge_shipped(base, rules) for base in shipped)
    unused = (n for n in range(len(allowed)) if n not in trials.used)
    late = {n for n in unused if trials.is_used(allowed[n], grounds, operators)}
    return Matrix(
        operators=tuple(operators),
        rules=tuple(rule.id for rule in rules.rules),
        bases=tuple(each.base.name for each in grounds),
        trials=tuple(judged),
        allowances=allowed,
        used=frozenset(trials.used | late),
    )
