"""The words that all renderers share: places, sentences, authorities, warnings, the summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.core.shipped import cassettes as shipped_cassettes
from conformance.judging.group_id import group_id
from conformance.judging.groups import FindingGroup, FindingPlace
from conformance.judging.result import AnswerError, CarriedAnswer, Finding, Report, StreamResult
from conformance.report.printable import visible
from conformance.rules.verdicts import COMBINING, Level, Verdict

_SUFFIX: Final = ".cassette.jsonl"
_MOST_REPAIRED: Final = 5  # entries to delete that one line names
_ANSWERS: Final = 5  # numbers of answers that one line names
_VALUE: Final = 80  # characters of one slice value
_REASONS: Final = 3  # why rules were silenced: so many are reported in the summary
_TYPES: Final = 4000  # characters of a whole first set: long, since it is the answer


def finding_place(file: str, finding: Finding) -> str:
    """`file:line (turn 2, event 8, byte 2641)`, as far as each is known."""
    named = recording_name(file) if finding.line is None else f"{file}:{finding.line}"
    where = visible(named)
    what = f"event {finding.event}" if finding.event else "request or response head"
    what = f"{answers_of(finding)}, {what}" if finding.unit else what
    return f"{where} ({what})" if finding.byte is None else f"{where} ({what}, byte {finding.byte})"


def place_in_group(place: FindingPlace) -> str:
    """One place of several; without a line it has the step of its run instead."""
    stream, finding = place.stream, place.finding
    where = finding_place(stream.file or stream_title(stream), finding)
    if finding.line is not None or not stream.file:
        return where
    return f"{where}, {step_of(stream) or f'exchange {stream.exchange}'}"


def answers_of(finding: Finding) -> str:
    """`turn 3`, or `turns 1, 3 and 4`, of an exchange that holds several."""
    first, *more = map(str, finding.answers[:_ANSWERS])
    if not more:
        return f"{finding.unit} {first}"
    others = finding.in_answers - _ANSWERS
    last = f"{others} more" if others > 0 else more.pop()
    return f"{finding.unit}s {', '.join((first, *more))} and {last}"


def link_sentence(link: CarriedAnswer) -> str:
    where = f" in {visible(link.history)}.{', '.join(map(str, link.entries))}"
    numbers = (link.exchange, *link.others)
    files = (link.file, *link.other_files) if link.file else ("",) * len(numbers)
    named = [_exchange_of(*each) for each in zip(numbers, files, strict=False)]
    others = f", or of exchange {', '.join(named[1:])}" if named[1:] else ""
    answer = f"exchange {named[0]}{others}{where if link.entries else ''}"
    return f"continues the answer of {answer} (evidence: {visible(link.evidence)})"


def carried_sentence(links: Sequence[CarriedAnswer]) -> str:
    """All answers that a request continues: the latest with its evidence, then the others."""
    if not links:
        return ""
    latest, *others = sorted(links, key=lambda link: -link.exchange)
    numbers = dict.fromkeys(_exchange_of(e.exchange, e.file) for e in others)
    earlier = f", and of exchange {', '.join(numbers)}" if numbers else ""
    return f"{link_sentence(latest)}{earlier}"


def _exchange_of(number: int, file: str) -> str:
    return f"{number} of {visible(Path(file).name)}" if file else str(number)


def related_label(finding: Finding) -> str:
    """A label for the other event of a finding: the upstream, or the answer that came back."""
    return finding.upstream.side if finding.upstream is not None else "upstream"


def upstream_lines(finding: Finding) -> Iterator[str]:
    """The provider's event where both hops were compared: its place, then its type and data."""
    event = finding.upstream
    if event is not None:
        where = visible(event.file) if event.line is None else f"{visible(event.file)}:{event.line}"
        turn = [f"turn {event.turn}"] if event.turn else []
        byte = [] if event.byte is None else [f"byte {event.byte}"]
        facts = [f"exchange {event.exchange}", *turn, f"event {event.event}", *byte]
        yield f"{where} ({', '.join(facts)})"
        yield f"{visible(event.type, _TYPES)}  {visible(event.text)}".rstrip()


def recording_name(file: str) -> str:
    """A recording as a whole, by name: one that ships by its short name."""
    shipped = f"{shipped_cassettes()}/"
    if not file.startswith(shipped):
        return file
    return f"shipped:{file.removeprefix(shipped).removesuffix(_SUFFIX)}"


def alternatives(expected: Sequence[str]) -> str:
    """List alternatives: `a, b or c`."""
    *names, last = [visible(name) for name in expected] or [""]
    return visible(f"{', '.join(names)} or {last}" if names else last, _TYPES)


def finding_sentence(finding: Finding) -> str:
    """The finding in one line: the message, and the facts that it leaves out."""
    message = visible(finding.message)
    facts = (
        ("expected", finding.expected, alternatives(finding.expected)),
        ("after", (finding.after,), visible(finding.after)),
        ("got", (finding.got,), visible(finding.got)),
    )
    missing = [
        f"{label} {text}"
        for label, words, text in facts
        if text and not _mentions_words(message, words)
    ]
    return "; ".join(part for part in (message, ", ".join(missing)) if part)


def _mentions_words(message: str, words: Sequence[str]) -> bool:
    # As whole words: `response.done.extra` does not mention `response.done`.
    return all(
        re.search(rf"(?<![\w.]){re.escape(visible(word))}(?!\w|\.\w)", message) for word in words
    )


def group_spread(group: FindingGroup) -> str:
    """How often a group came, and where alone: `16 of 22 streams, 40 findings, only streamed ...`.

    Empty where there was one finding in the one stream that was judged.
    """
    streams = [f"{group.streams} of {group.judged} streams"] if group.judged > 1 else []
    number = len(group.places)
    several = [count(number, "finding")] if number > group.streams else []
    return ", ".join([*streams, *several, *map(visible, group.circumstances)])


def following_sentence(group: FindingGroup, other: FindingGroup, limit: int) -> tuple[str, str]:
    """Whether a group that follows came `also`, by then, or `then` later, and what it found."""
    found = other.first
    is_earlier = other.stream == group.stream and found.event <= group.first.event
    within = f" [{slice_of(found)}]" if found.slice else ""
    where = f" (in {spread})" if (spread := group_spread(other)) else ""
    sentence = f"{visible(finding_sentence(found), limit)}{within}{where}"
    return "also" if is_earlier else "then", sentence


def slice_of(finding: Finding) -> str:
    """`output_index=0, summary_index=1`; empty where the rule has no slice."""
    return ", ".join(
        f"{visible(name)}={visible(str(value), _VALUE)}" for name, value in finding.slice.items()
    )


def authority_lines(source: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """One line per authority: a specification's sentence, an observation, a client that breaks."""
    for entry in source:
        for key, text in entry.items():
            if key == "quote":
                yield f'"{visible(text)}"'
            elif key == "spec":
                yield visible(text)
            else:
                yield f"{visible(key)}: {visible(text)}"


def stream_title(stream: StreamResult) -> str:
    """Which exchange of which file was judged, and as what."""
    file = stream.file if stream.view == "wire" else recording_name(stream.file)
    return visible(f"{file}, {exchange_title(stream)}")


def step_of(stream: StreamResult) -> str:
    return visible("/".join(filter(None, (stream.scenario, stream.role, stream.hop))))


def exchange_title(stream: StreamResult) -> str:
    """Which exchange of its file was judged, and as what."""
    step = step_of(stream)
    exchange = f"exchange {stream.exchange} ({step})" if step else f"exchange {stream.exchange}"
    if stream.merged:
        exchange = f"{count(stream.merged.streams, 'stream')} of a soak ({step})"
    turn = [f"turn {stream.turn}"] if stream.turn else []
    parts = [exchange, *turn, stream.dialect, f"profile {stream.profile}"]
    if stream.view != "wire":
        parts.append(f"{stream.view} view")
    return visible(", ".join(parts))


def error_sentence(error: AnswerError) -> str:
    """`rate_limit_error: Slow down`, as far as each is known."""
    return ": ".join(filter(None, map(visible, (error.code, error.message)))) or "without a word"


def report_warnings(report: Report) -> tuple[str, ...]:
    """Warnings that a reader must know before trusting the verdicts."""
    return (*_broken_answers(report), *_unnamed_profiles(report))


def _broken_answers(report: Report) -> Iterator[str]:
    """A line for each error with which answers broke off, or which is all that came."""
    streams: dict[tuple[str, str], list[tuple[StreamResult, AnswerError]]] = {}
    for stream in report.streams:
        if (error := stream.error) is not None:
            how = "came with nothing but" if error.is_all else "broke off with"
            streams.setdefault((how, error_sentence(error)), []).append((stream, error))
    for (how, sentence), found in streams.items():
        stream, error = found[0]
        where = visible(f"{stream.file}, exchange {stream.exchange}, event {error.event}")
        first = "first in" if found[1:] else "in"
        yield f"{count(len(found), 'answer')} {how} an error: {sentence} ({first} {where})"


def _unnamed_profiles(report: Report) -> tuple[str, ...]:
    """A line for those that were assumed, and one for those that were identified."""
    unnamed = Counter((s.profile, s.dialect) for s in report.streams if not s.named)
    lines: dict[str, list[tuple[str, str]]] = {}
    for (profile, dialect), number in sorted(unnamed.items()):
        # A note shows the signs of an identified one.
        how = "assumed" if profile == "strict" else "identified, not named,"
        counted = (f"{visible(profile)} ({visible(dialect)})", count(number, "stream"))
        lines.setdefault(how, []).append(counted)
    return tuple(_unnamed_line(how, found) for how, found in lines.items())


def _unnamed_line(how: str, found: Sequence[tuple[str, str]]) -> str:
    (first, number), *more = found
    if not more:
        return f"profile {first} was {how} for {number}; name one with --profile"
    listed = ", ".join(f"{name} for {streams}" for name, streams in found)
    return f"profiles were {how.rstrip(',')}: {listed}; name them with --profile"


def summary_line(report: Report) -> str:
    """Write the last line: how many rules over how many streams, and how they ended."""
    errors = [f"{count(len(report.errors), 'file')} could not be judged"] if report.errors else []
    if not report.streams:
        return "; ".join(["nothing was checked", *errors])
    verdicts = report.verdicts
    streams = sum(each.merged.streams if each.merged else 1 for each in report.streams)
    head = f"{count(len(verdicts), 'rule')} over {count(streams, 'stream')}"
    if any(each.answers > 1 for each in report.streams):
        head = f"{head} with {count(sum(each.answers for each in report.streams), 'answer')}"
    found = [_finding_count(report)] if report.findings else []
    old = report.baseline.stale if report.baseline else ()
    silent = [silenced_sentence(report)] if report.silenced else []
    is_wrong = any(each.fitting_calls < each.calls for each in report.streams)
    calls = [calls_sentence(report.streams)] if is_wrong else []
    entries = [f"{len(old)} stale {'entry' if len(old) == 1 else 'entries'}"] if old else []
    counts = f"{head}: {_verdict_counts(report)}" if verdicts else head
    return "; ".join([counts, *found, *calls, *silent, *entries, *errors])


def calls_sentence(streams: Sequence[StreamResult]) -> str:
    """How many calls fit the tools that their requests offer; empty where none was compared."""
    calls = sum(each.calls for each in streams)
    fitting = sum(each.fitting_calls for each in streams)
    return f"{fitting} of {count(calls, 'call')} fit the tools that were offered" if calls else ""


def silenced_sentence(report: Report) -> str:
    """How many rules something else than their own evidence silenced, and what."""
    silenced = report.silenced
    reasons = [f"{len(rules)} by {visible(why)}" for why, rules in silenced.items()]
    if reasons[_REASONS:]:
        reasons[_REASONS:] = [f"more by {count(len(reasons) - _REASONS, 'other reason')}"]
    rules = {rule for each in silenced.values() for rule in each}
    return f"{count(len(rules), 'rule')} silenced ({', '.join(reasons)})"


def soak_lines(report: Report) -> tuple[str, ...]:
    """How a soak went, a line each for load, latencies and failures; none where there was none."""
    soak = report.soak
    if soak is None:
        return ()
    ended = ", interrupted" if soak.interrupted else ""
    load = f"{soak.seconds:.1f} s, {soak.jobs} at a time{ended}"
    times = (("thinking", soak.first_thinking), ("text", soak.first_text))
    failed = ", ".join(f"{each.requests} {visible(each.kind)}" for each in soak.failures)
    return (
        f"{load}: {count(soak.requests, 'request')}, {soak.rate:.1f} per second",
        *(
            f"first {what} after {each.p50:.1f} ms (p50), {each.p99:.1f} ms (p99),"
            f" in {count(each.answers, 'answer')}"
            for what, each in times
            if each
        ),
        f"failed: {failed or 'none'}",
    )


def verdict_changes(stream: StreamResult, rule: str) -> str:
    """How a verdict changed after the judge had closed, by which writer and why; empty if not.

    A rule that was added then, or did not apply before, counts as unchanged.
    """
    changes = [each for each in stream.changes if each.rule == rule]
    unjudged = (None, Verdict.NOT_APPLICABLE)
    shown = [each for each in changes if each.was not in unjudged]
    if not shown:
        return ""
    was = [f"was {shown[0].was}"] if shown[0].was is not shown[-1].verdict else []
    reasons = [f"{each.by}: {each.why}" if each.why else each.by for each in shown]
    return f"({'; '.join([*was, *reasons])})"


def stale_entries(report: Report) -> tuple[str, ...]:
    """Entries of the baseline that no longer describe the run; one line for similar ones."""
    applied = report.baseline
    return (applied.stale_groups or applied.stale) if applied else ()


def repaired_sentence(report: Report) -> str:
    """Which entries of the baseline can go after a repair; empty where none can."""
    applied = report.baseline
    if applied is None or not applied.repaired:
        return ""
    shown = "; ".join(map(visible, applied.repaired[:_MOST_REPAIRED]))
    more = len(applied.repaired) - _MOST_REPAIRED
    rest = f" and {more} more" if more > 0 else ""
    return f"{shown}{rest} (conformance baseline ... -o {visible(applied.file)} --prune)"


def _finding_count(report: Report) -> str:
    groups = len({group_id(finding) for finding in report.findings})
    found = count(len(report.findings), "finding")
    if groups < len(report.findings):
        found = f"{found} in {count(groups, 'group')}"
    if report.baseline is None:
        return found
    return f"{found}, {len(report.findings) - len(report.unexpected)} of them expected"


def _verdict_counts(report: Report) -> str:
    counts = report.summary()
    levels = {finding.rule: finding.level for finding in report.findings}
    by_level = Counter(levels.values())
    violated = ", ".join(f"{by_level[level]} {level}" for level in Level if by_level[level])
    parts = (
        f"{counts[v]} {v} ({violated})" if v is Verdict.FAIL and violated else f"{counts[v]} {v}"
        for v in COMBINING
        if counts[v]
    )
    return ", ".join(parts)


def count(number: int, noun: str) -> str:
    """`1 stream`, `2 streams`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
