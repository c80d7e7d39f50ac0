"""Conversations whose exchanges are in several recordings: linked when all of those are judged.

Rule 1: recordings are brought together by what their answers are known by and what their requests
repeat. What many answers have (a greeting) links none of them.
Rule 2: such recordings are read again, all of one conversation at a time, and linked as one would
be, earlier turns first. What is in one of them was judged there; a fault of a history that several
of them repeat is one of the first.
Rule 3: a conversation in files of more than MOST_BYTES is not read again, and a note says so.
Recordings of a run are no conversation of a target: the run arranged it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import Recording, locate, open_recording
from conformance.core.errors import CassetteError, ConformanceError
from conformance.core.events import Exchange
from conformance.evidence.expectations import stated_run
from conformance.evidence.links.exchanges import LinkedExchanges, may_link
from conformance.evidence.links.finder import MOST_ALIKE
from conformance.evidence.links.keys import LinkKeys
from conformance.evidence.links.places import ExchangePlaces
from conformance.evidence.links.requests import RepeatedTalk
from conformance.evidence.links.turns import with_turns
from conformance.judging.consequences import withdraw_followers
from conformance.judging.fast.joined import read_joined
from conformance.judging.ledger import Ledger
from conformance.judging.result import CarriedAnswer, Finding, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgeSetting
from conformance.recordings.choices import CheckChoices
from conformance.recordings.redacted_result import without_sent_secrets
from conformance.recordings.settings import RecordingSettings
from conformance.rules.verdicts import Verdict, combine

MOST_BYTES: Final = 256 * 1024 * 1024
NAME: Final = "linked files"
_REDACTED: Final = "redaction replaced what the rule reads"
_DECIDED: Final = frozenset(
    {Verdict.PASS, Verdict.FAIL, Verdict.UNTESTABLE, Verdict.INCONCLUSIVE, Verdict.ERROR}
)

FileOutcome = list[StreamResult] | str | None


class LinkedRecording(Struct, frozen=True):
    """A recording that others may continue: its name, how it is read again, and judged by what.

    `size` is in bytes; `is_file` says that its name is a path in which lines can be found.
    """

    name: str
    read: Callable[[], Recording]
    choices: CheckChoices
    size: Callable[[], int] = int
    is_file: bool = False

    def placed(self, finding: Finding) -> Finding:
        """The finding with the line of the answer, where that is in a file."""
        event = finding.upstream
        if not self.is_file or event is None or event.byte is None:
            return finding
        (line,) = locate(event.file, event.exchange, [event.byte])
        return replace(finding, upstream=replace(event, line=line))


class _FiledExchange(Struct, frozen=True):
    """An exchange of one of the recordings; `file` is the place of that among all of them."""

    file: int
    setting: JudgeSetting
    exchange: Exchange

    @property
    def turns(self) -> int:
        """How much its request repeats."""
        talk = RepeatedTalk.of(self.exchange, self.setting.dialect)
        return len(talk.entries) if talk is not None else 0


def link_files(
    paths: Sequence[Path], found: list[FileOutcome], rulebook: Rulebook, choices: CheckChoices
) -> tuple[str, ...]:
    """Writes into the results what came of links between files.

    Gives notes of what was not done.
    """
    files = [
        LinkedRecording(
            str(path),
            partial(open_recording, path, dialect=choices.dialect),
            choices,
            partial(_file_size, path),
            is_file=True,
        )
        for path in paths
    ]
    return link_recordings(files, found, rulebook)


def _file_size(path: Path) -> int:
    return path.stat().st_size


def link_recordings(
    recordings: Sequence[LinkedRecording], found: list[FileOutcome], rulebook: Rulebook
) -> tuple[str, ...]:
    """As `link_files`, of recordings that stand anywhere."""
    notes = []
    for places in _linked_groups(found):
        try:
            _expect_size([recordings[each] for each in places])
            _link_conversation(places, recordings, found, rulebook)
            if all(recordings[each].is_file for each in places):
                _state_turns(
                    [outcome for each in places if isinstance(outcome := found[each], list)]
                )
        except ConformanceError as err:
            first = Path(recordings[places[0]].name).name
            which = f"{len(places)} files that continue each other, {first} among them"
            notes.append(f"{which}, are not linked: {err}")
    for outcome in found:
        if isinstance(outcome, list):
            outcome[:] = [
                each if each.keys is None else replace(each, keys=None) for each in outcome
            ]
    return tuple(notes)


def _expect_size(recordings: Sequence[LinkedRecording]) -> None:
    """Rule 3."""
    size = sum(each.size() for each in recordings)
    if size > MOST_BYTES:
        raise CassetteError(f"they have {size:,} bytes, more than {MOST_BYTES:,}")


def _linked_groups(found: Sequence[FileOutcome]) -> list[list[int]]:
    """Rule 1: groups of files, each with more than one."""
    holders: dict[bytes, list[int]] = defaultdict(list)
    for file, keys in _keys_of(found):
        for key in keys.said:
            if len(holders[key]) <= MOST_ALIKE and holders[key][-1:] != [file]:
                holders[key].append(file)
    groups = _Groups()
    for file, keys in _keys_of(found):
        for key in keys.repeated:
            others = holders.get(key, ())
            if len(others) <= MOST_ALIKE:
                for other in others:
                    groups.join(file, other)
    return groups.several()


def _keys_of(found: Sequence[FileOutcome]) -> Iterator[tuple[int, LinkKeys]]:
    for file, outcome in enumerate(found):
        for result in outcome if isinstance(outcome, list) else ():
            if isinstance(result.keys, LinkKeys):
                yield file, result.keys


def _keys_at(outcome: FileOutcome, exchange: int) -> LinkKeys | None:
    results = outcome if isinstance(outcome, list) else ()
    keys = (each.keys for each in results if each.exchange == exchange and each.view == "wire")
    return next((each for each in keys if isinstance(each, LinkKeys)), None)


class _Groups:
    """Files that belong together."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}

    def _head(self, file: int) -> int:
        while (above := self._above.setdefault(file, file)) != file:
            self._above[file] = self._above[above]
            file = above
        return file

    def join(self, one: int, other: int) -> None:
        """Two files are of one conversation."""
        first, last = sorted((self._head(one), self._head(other)))
        self._above[last] = first

    def several(self) -> list[list[int]]:
        """Groups of more than one file, in the order of the files."""
        found: dict[int, list[int]] = defaultdict(list)
        for file in sorted(self._above):
            found[self._head(file)].append(file)
        return [files for files in found.values() if len(files) > 1]


def _link_conversation(
    places_of: Sequence[int],
    recordings: Sequence[LinkedRecording],
    found: list[FileOutcome],
    rulebook: Rulebook,
) -> None:
    """Rule 2."""
    filed = [e for file in places_of for e in _exchanges_in(file, recordings[file], rulebook)]
    filed.sort(key=lambda each: each.turns)  # stable: else in the order of the files
    numbered = {
        n: replace(e, exchange=replace(e.exchange, number=n)) for n, e in enumerate(filed, 1)
    }
    places = {
        n: (recordings[each.file].name, each.exchange.number) for n, each in enumerate(filed, 1)
    }
    carried = {
        n: keys.carried
        for n, each in enumerate(filed, 1)
        if (keys := _keys_at(found[each.file], each.exchange.number)) is not None
    }
    linked = LinkedExchanges(ExchangePlaces("", places, carried), by=NAME)
    for each in numbered.values():
        read_into(linked, each.setting, each.exchange)
    ledgers = {n: Ledger(StreamResult("", n, "", "", False, {}, ())) for n in numbered}
    linked.write(ledgers, [e.exchange for e in numbered.values()], lambda _: False, trusted=False)
    for number, each in numbered.items():
        home, results = recordings[each.file], found[each.file]
        at = _place_of(results, places[number][1])
        if isinstance(results, list) and at is not None:
            written = _linked_result(results[at], linked, each.exchange, ledgers[number], home)
            if written is not None:
                sent = each.exchange.request
                results[at] = without_sent_secrets(rulebook.narrowed(written), sent)


def _linked_result(
    result: StreamResult,
    linked: LinkedExchanges,
    exchange: Exchange,
    of_links: Ledger,
    home: LinkedRecording,
) -> StreamResult | None:
    """The result of an exchange with what came of its links; None where nothing did."""
    links = linked.links.get(exchange.number, ())
    kept = Ledger(replace(result, links=(*result.links, *links)))
    if links or of_links.verdicts:
        withdraw_followers(_merge_verdicts(kept, of_links, exchange, home), NAME)
    linked.withdraw_repeated({exchange.number: kept}, [exchange])
    is_same = not links and not of_links.verdicts and len(kept.findings) == len(result.findings)
    return None if is_same else kept.result()


def _place_of(results: FileOutcome, exchange: int) -> int | None:
    """Where the result of an exchange, as it was on the wire, is among those of its file."""
    stated = enumerate(results if isinstance(results, list) else ())
    return next((n for n, r in stated if (r.exchange, r.view) == (exchange, "wire")), None)


def _state_turns(outcomes: Sequence[list[StreamResult]]) -> None:
    """The turns of a conversation that is in several files."""
    stated = iter(with_turns([result for results in outcomes for result in results]))
    for results in outcomes:
        results[:] = [next(stated) for _ in results]


def _exchanges_in(
    file: int, linked: LinkedRecording, rulebook: Rulebook
) -> Iterator[_FiledExchange]:
    recording = linked.read()
    if stated_run(recording.header) is not None:
        return
    settings = RecordingSettings(recording, rulebook, linked.choices)
    for exchange in recording.judged:
        yield _FiledExchange(file, settings.of_exchange(exchange), exchange)


def _merge_verdicts(
    kept: Ledger, ledger: Ledger, exchange: Exchange, home: LinkedRecording
) -> Ledger:
    """The verdicts of links between files, and those of links in the file itself."""
    for rule, verdict in ledger.verdicts.items():
        if "*" in exchange.touched or rule in exchange.touched:
            kept.add(rule, Verdict.UNTESTABLE, _REDACTED, by=NAME)
            continue
        was = kept.verdicts.get(rule)
        both = combine((was, verdict)) if was in _DECIDED and was is not None else verdict
        reason = ledger.reasons.get(rule, "") if both is verdict else kept.reasons.get(rule, "")
        findings = [home.placed(each) for each in ledger.findings if each.rule == rule]
        kept.add(rule, both, reason, findings, by=NAME)
    return kept


def read_into(linked: LinkedExchanges, setting: JudgeSetting, exchange: Exchange) -> bool:
    """Shows an exchange to the links; False where nothing of it can be continued."""
    listener = linked.listener(setting, exchange)
    if listener is None:
        return False
    for joined in read_joined(exchange, setting.dialect, setting.bound.reading):
        listener(joined.events)
    return True


def carried_answers(recording: Recording) -> Mapping[int, tuple[CarriedAnswer, ...]]:
    """By exchange the answers that its request continues, as a check finds them.

    An exchange of no known dialect carries nothing on, and nothing continues from it.
    """
    if not may_link(recording.judged):
        return {}
    settings = RecordingSettings(recording, Rulebook.load(()), CheckChoices())
    linked = LinkedExchanges(ExchangePlaces(str(recording.path)))
    for exchange in recording.judged:
        try:
            read_into(linked, settings.of_exchange(exchange), exchange)
        except ConformanceError:  # `check` says what is wrong with it
            continue
    linked.write({}, recording.judged, lambda _: False, trusted=False)
    return linked.links
