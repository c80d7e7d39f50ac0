"""The examples of rules, judged: `keeps` has to pass its rule, `breaks` has to fail it.

Rule 1: a stream that the rule never looked at proves nothing: of `keeps` only PASS counts.
Rule 2: an example is judged by all rules of its file, and nothing that ships: what others find in
it is shown, and decides nothing.
Rule 3: a path stays in the folder of the rule's file, wherever links lead, and what it names is
small, by itself and together with what the others name. A recording excuses itself from nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers.kept_end import missing_end
from conformance.cassette.payloads import Payload, reframe, sends_lines
from conformance.cassette.recording import Recording, open_recording
from conformance.core.errors import ConformanceError, SpecError
from conformance.core.events import Chunk, Exchange, Fidelity, Request, Response
from conformance.core.excerpts import redacted
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.core.regular_file import expect_regular
from conformance.judging.checker import YAML_SUFFIXES
from conformance.judging.result import Finding, StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_untrusted
from conformance.recordings.choices import CheckChoices, UnknownDialectError
from conformance.recordings.in_memory import InMemory
from conformance.recordings.redacted_result import redact_result
from conformance.rules.model import Rule, Suite
from conformance.rules.stream_example import StreamExample
from conformance.rules.verdicts import COMBINING, Verdict

MOST_BYTES: Final = 1024 * 1024
"""Of a file that an example names."""
MOST_IN_ALL: Final = 64 * 1024 * 1024
"""Of what the files of one suite's examples hold, unpacked."""
_JSON: Final = (("content-type", "application/json"),)


class JudgedExample(Struct, frozen=True):
    """What came of one example: the verdict of its rule, and which other rules found something.

    `stream` is that in which the rule's finding stands, else the first.
    """

    rule: str
    example: StreamExample
    verdict: Verdict
    reason: str
    finding: Finding | None
    others: tuple[str, ...]
    stream: StreamResult

    @property
    def holds(self) -> bool:
        """Whether the rule does what the example says (rule 1)."""
        wanted = Verdict.PASS if self.example.expected == "keeps" else Verdict.FAIL
        return self.verdict is wanted


ExampleOutcome = JudgedExample | ConformanceError
"""An error is a mistake in the example, with its place."""


class ExampleJudge:
    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._rulebook = Rulebook([suite])
        self._own = frozenset(rule.id for rule in suite.rules)
        self._read = 0

    def outcomes(self, rules: Iterable[Rule]) -> Iterator[tuple[Rule, ExampleOutcome]]:
        """What comes of every example of these rules, in the order of the file."""
        for rule in rules:
            for example in rule.examples:
                try:
                    yield rule, self.judge(rule, example)
                except ConformanceError as err:
                    yield rule, err

    def judge(self, rule: Rule, example: StreamExample) -> JudgedExample:
        """What comes of one example. Raises SpecError with the place of what is wrong with it."""
        try:
            return self._judged(rule, example)
        except SpecError:
            raise
        except ConformanceError as err:
            hint = "name it under `dialect`" if isinstance(err, UnknownDialectError) else err.hint
            raise SpecError(err.message, place=example.place, hint=hint) from err

    def _judged(self, rule: Rule, example: StreamExample) -> JudgedExample:
        choices = CheckChoices(
            example.dialect or (rule.dialects[0] if len(rule.dialects) == 1 else None),
            _example_profile(example, self._suite.file),
        )
        recording = self._recording(example, choices.dialect)
        checked = check_untrusted(recording, self._rulebook, choices)
        results = [redact_result(each, redacted) for each in checked]
        judged = [result for result in results if rule.id in result.verdicts]
        if not judged:
            spoken = ", ".join(sorted({result.dialect for result in results}))
            message = f"the rule never judges {spoken}, which the stream speaks"
            raise SpecError(message, place=example.place)
        verdict = min((r.verdicts[rule.id] for r in judged), key=COMBINING.index)
        decided = next(each for each in judged if each.verdicts[rule.id] is verdict)
        found = (f for r in results for f in r.findings if f.rule == rule.id)
        failed = {f.rule for r in results for f in r.findings if f.rule in self._own}
        return JudgedExample(
            rule=rule.id,
            example=example,
            verdict=verdict,
            reason=decided.reasons.get(rule.id, ""),
            finding=next(found, None),
            others=tuple(sorted(failed - {rule.id})),
            stream=decided,
        )

    def _recording(self, example: StreamExample, dialect: str | None) -> Recording:
        if example.file and self._read > MOST_IN_ALL:
            message = f"the files of the examples hold more than {MOST_IN_ALL} bytes"
            raise SpecError(message, place=example.place)
        recording = example_recording(example, self._suite.file, dialect)
        self._read += sum(len(c.data) for e in recording.exchanges for c in e.chunks)
        return recording


def example_recording(example: StreamExample, rule_file: str, dialect: str | None) -> Recording:
    """The example as a recording. Raises ConformanceError."""
    if example.file:
        return open_recording(_path_within(example, example.file, rule_file), dialect=dialect)
    body, fidelity = example_body(example, dialect)
    request = None if example.request is None else Request("POST", "", _JSON, example.request)
    exchange = Exchange(
        request=request, response=Response(), chunks=(Chunk(body),), dialect=dialect
    )
    header = Header(origin="imported", fidelity=fidelity, dialect=dialect)
    return InMemory(Path(rule_file), "example", Cassette(header, (exchange,)))


def example_body(example: StreamExample, dialect: str | None) -> tuple[bytes, Fidelity]:
    """The bytes of an example that is written in the rule's file, and how exact they are."""
    if example.text:
        text = example.text.encode()
        return text + missing_end(text), "bytes"
    frames = [each.encode() for each in example.frames]
    if sends_lines(dialect):
        return b"".join(frame + b"\n" for frame in frames), "bytes"
    payloads = [Payload.of(n, each, _json_value(each)) for n, each in enumerate(frames, 1)]
    return reframe(payloads, whole=False).body, "events"


def _json_value(text: bytes) -> object:
    found = decode_json(text.decode())
    return None if found is NOT_JSON else found


def _example_profile(example: StreamExample, rule_file: str) -> str | None:
    if example.profile.endswith(YAML_SUFFIXES):
        return str(_path_within(example, example.profile, rule_file))
    return example.profile or None


def _path_within(example: StreamExample, name: str, rule_file: str) -> Path:
    """Rule 3."""
    folder = Path(rule_file).parent
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            message = "leads out of the folder of this file"
            raise SpecError(f"{name!r} {message}", place=example.place)
        expect_regular(path)
        size = path.stat().st_size
    except (OSError, ValueError) as err:
        reason = getattr(err, "strerror", None) or str(err)
        raise SpecError(f"cannot read {name!r}: {reason}", place=example.place) from err
    if not path.is_file() or size > MOST_BYTES:
        what = f"larger than {MOST_BYTES} bytes" if path.is_file() else "no file"
        raise SpecError(f"{name!r} is {what}", place=example.place)
    return path
