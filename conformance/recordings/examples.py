"""A rule's example: the shipped stream that breaks it, and the same place in one that keeps it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from conformance.cassette import Recording, discover, open_recording
from conformance.core import shipped
from conformance.core.errors import ConformanceError, HarnessError
from conformance.core.events import Exchange
from conformance.judging.result import Finding, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.rules.forms.compare import Compare
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

_SUFFIX: Final = ".cassette.jsonl"
_BLANK_LINE: Final = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_BEFORE: Final = 5  # lines shown before the one that breaks the rule
_WIDTH: Final = 140  # characters of a line
_HEAD: Final = 44  # at most so many of a long line's beginning; the rest is its end
_NUMBER: Final = re.compile(r"\d+")
_MOST_TRIED: Final = 12  # streams judged in search of one that passes
_MOST_BYTES: Final = 256 * 1024  # of a recording worth reading for an example


class RuleExample(Struct, frozen=True):
    """Lines of a stream that passes and of one that fails, clipped; the last one decides."""

    passing: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    finding: Finding | None = None


class ExampleStreams(Struct, frozen=True):
    """The shipped stream that breaks a rule, with its finding, and one that keeps the rule."""

    rules: tuple[Rule, ...]  # the rule, as it was judged
    finding: Finding
    failing: JudgedRecording
    passing: JudgedRecording | None


def rule_example(rule_id: str, width: int = _WIDTH) -> RuleExample | None:
    """The shipped example of a rule; None where none was shipped or nothing was found in it.

    `width` is the most characters of a line, not counting two marks where it was cut.
    """
    streams = example_streams(rule_id)
    return None if streams is None else _clipped_example(streams, width)


def example_streams(rule_id: str) -> ExampleStreams | None:
    """The recordings that a rule's example is taken from; None as above."""
    try:
        root = shipped.cassettes()
    except HarnessError:
        return None
    path = root / "mutants" / f"{rule_id}{_SUFFIX}"
    if not path.is_file():
        return None
    rulebook = Rulebook.load((), [rule_id])
    broken = JudgedRecording.read(path, rulebook)
    finding = broken.finding(rule_id) if broken else None
    if broken is None or finding is None:
        return None
    kept = _passing_recording(root, broken, rulebook, rule_id)
    return ExampleStreams(tuple(rulebook.rules), finding, broken, kept)


def _clipped_example(streams: ExampleStreams, width: int) -> RuleExample:
    finding, broken, kept = streams.finding, streams.failing, streams.passing
    failing, at = broken.lines_at(finding)
    passing = kept.lines_like(broken, finding) if kept else []
    if any(isinstance(rule.form, Compare) for rule in streams.rules):
        # Its finding stands nowhere in particular.
        at = min(_shared_lines(passing, failing), len(failing) - 1)
    end = _aligned_line(passing, failing, at)
    return RuleExample(
        passing=_excerpt_lines(passing, end, failing[at] if failing else "", width),
        failing=_excerpt_lines(failing, at, passing[end] if passing else "", width),
        finding=finding,
    )


class JudgedRecording(Struct, frozen=True):
    """A recording, and what came of one rule in its exchanges."""

    recording: Recording
    results: tuple[StreamResult, ...]

    @classmethod
    def read(cls, path: Path, rulebook: Rulebook) -> JudgedRecording | None:
        """None for a recording that cannot be judged: an example is worth no failure."""
        try:
            recording = open_recording(path)
            own = shipped.cassettes() / "profiles"  # profiles that only cassettes need
            choices = CheckChoices(folders=(own,) if own.is_dir() else ())
            return cls(recording, tuple(check_recording(recording, rulebook, choices)))
        except ConformanceError:
            return None

    def finding(self, rule_id: str) -> Finding | None:
        found = (f for result in self.results for f in result.findings if f.rule == rule_id)
        return next(found, None)

    def passes_rule(self, rule_id: str) -> bool:
        verdicts = {result.verdicts.get(rule_id) for result in self.results}
        return Verdict.PASS in verdicts and Verdict.FAIL not in verdicts

    def lines_at(self, finding: Finding) -> tuple[list[str], int]:
        """The text that the finding is about, by lines, and which of them it is in."""
        result = next(r for r in self.results if finding in r.findings)
        exchange = self.exchange_numbered(result.exchange)
        lines = _exchange_lines(exchange, finding, result.view)
        if result.view == "client":
            return lines, min(max(finding.event - 1, 0), len(lines) - 1)
        if finding.byte is None:
            return lines, len(lines) - 1
        body = exchange.body
        if finding.byte >= len(body):
            return lines, len(lines) - 1
        ends = _BLANK_LINE.search(body, finding.byte)
        return lines, max(len(_nonblank_lines(body[: ends.start() if ends else None])) - 1, 0)

    def lines_like(self, other: JudgedRecording, finding: Finding) -> list[str]:
        """The lines of the same kind in the exchange of the same number, or in the first."""
        theirs = next(r for r in other.results if finding in r.findings)
        return _exchange_lines(self.exchange_numbered(theirs.exchange), finding, theirs.view)

    def exchange_numbered(self, number: int) -> Exchange:
        exchanges = self.recording.exchanges
        return next((e for e in exchanges if e.number == number), exchanges[0])


def _passing_recording(
    root: Path, broken: JudgedRecording, rulebook: Rulebook, rule_id: str
) -> JudgedRecording | None:
    for path in _candidate_paths(root, broken.recording):
        judged = JudgedRecording.read(path, rulebook)
        if judged is not None and judged.passes_rule(rule_id):
            return judged
    return None


def _candidate_paths(root: Path, broken: Recording) -> Iterator[Path]:
    """The recording that the broken one was made from, then others of its dialect."""
    base = broken.header.extra.get("base")
    named = root / str(base).removesuffix(_SUFFIX) if base else None
    if named is not None and named.resolve().is_relative_to(root.resolve()):
        path = named.with_name(f"{named.name}{_SUFFIX}")
        yield from (path,) if path.is_file() else ()
    folder = root / (broken.header.dialect or "none")
    others = discover(folder) if folder.is_dir() else ()
    small = (path for path in others if path.stat().st_size <= _MOST_BYTES)
    yield from (path for path, _ in zip(small, range(_MOST_TRIED), strict=False))


def _exchange_lines(exchange: Exchange, finding: Finding, view: str) -> list[str]:
    if view == "client":
        return [_json_line(event) for event in exchange.seen or ()]
    if finding.byte is None:
        return head_lines(exchange)
    return [*_nonblank_lines(exchange.body), f"(end of stream: {exchange.end})"]


def head_lines(exchange: Exchange) -> list[str]:
    """Request and response head, a line each; the body of the request is one, too."""
    request, response = exchange.request, exchange.response
    lines: list[str] = []
    if request is not None:
        lines += [f"{request.method} {request.path}", *_header_lines(request.headers)]
        lines += [_json_line(request.json)] if request.json is not None else []
    if response is not None and response.status is not None:
        lines += [f"HTTP/{response.http} {response.status}", *_header_lines(response.headers)]
    return lines


def _header_lines(headers: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from (f"{name}: {value}" for name, value in headers)


def _json_line(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _nonblank_lines(body: bytes) -> list[str]:
    """Lines that are not blank, by every line end of the standard."""
    text = body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return [line for line in text.split("\n") if line]


def _shared_lines(passing: list[str], failing: list[str]) -> int:
    """How many lines both begin with, whatever their numbers: one edit renumbers what follows."""
    pairs = zip(passing, failing, strict=False)
    alike = (_NUMBER.sub("0", mine) == _NUMBER.sub("0", theirs) for mine, theirs in pairs)
    return next((i for i, equal in enumerate(alike) if not equal), min(len(passing), len(failing)))


def _aligned_line(passing: list[str], failing: list[str], at: int) -> int:
    """The line of the passing stream that is where line `at` of the failing one does."""
    same = _shared_lines(passing, failing)
    rest = min(len(passing), len(failing)) - same
    tail = min(_shared_lines(passing[::-1], failing[::-1]), rest)
    after = len(failing) - 1 - at
    changed = len(passing) - tail  # the line after the change
    if at < same:
        return at
    if after < tail and len(passing) - 1 - after - _BEFORE <= same:
        return len(passing) - 1 - after
    if same < changed <= same + _BEFORE:
        return changed - 1  # the lines that the failing stream lacks are shown
    return max(len(passing) - 1 - after if after < tail else min(at, len(passing) - 1), 0)


def _excerpt_lines(lines: list[str], at: int, compared: str, width: int) -> tuple[str, ...]:
    shown = lines[max(0, at - _BEFORE) : at + 1]
    return (
        *(_clip_line(line, "", width) for line in shown[:-1]),
        *(_clip_line(e, compared, width) for e in shown[-1:]),
    )


def _clip_line(line: str, compared: str, width: int) -> str:
    """A long line's beginning and end, or the part in which it first differs from `beside`."""
    if len(line) <= width:
        return line
    head = min(_HEAD, width // 3)
    rest = width - head
    pairs = enumerate(zip(line, compared, strict=False))
    differs = next((i for i, (mine, theirs) in pairs if mine != theirs), len(line))
    last = len(line) - rest
    start = last if differs < head else max(head, min(differs - rest // 2, last))
    end = start + rest
    gap = "…" if start > head else ""
    return f"{line[:head]}{gap}{line[start:end]}{'…' if end < len(line) else ''}"
