"""A secret that a model spells out over events is found, and said alike wherever it is repeated."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from conformance.cassette import BodyRedactor, Cassette, Redactor, open_recording, redact, write
from conformance.core.errors import ConformanceError
from conformance.core.events import Chunk, Response
from conformance.recordings.check import check_recording
from conformance.recordings.choices import CheckChoices
from conformance.recordings.redaction import redact_evidence
from conformance.rules.verdicts import Verdict
from tests.cassette.redaction.secret_shapes import SHAPES
from tests.each import each
from tests.rulebooks import rulebook
from tests.sampled import of_every_kind

EVENT = '{"type":"response.output_text.delta","output_index":%d,"delta":"%s"}'
DONE = '{"type":"response.output_text.done","output_index":0,"text":"%s"}'
OTHER = '{"type":"response.output_text.delta","output_index":1,"delta":"and "}'
DELTA = re.compile(rb'"output_index":0,"delta":"((?:[^"\\]|\\.)*)"')
TEXT = re.compile(rb'"text":"((?:[^"\\]|\\.)*)"')
ARGUMENT = '{\\"api_key\\": \\"no-shape-at-all-7\\", \\"city\\": \\"Paris\\"}'


def pieces(raw: str, rng: random.Random, longest: int) -> list[str]:
    """The inside of a JSON string, cut anywhere but in an escape."""
    units = re.findall(r"\\u....|\\.|.", raw)
    cut = []
    while units:
        size = rng.randint(1, longest)
        cut.append("".join(units[:size]))
        units = units[size:]
    return cut


def stream(raw: str, rng: random.Random, longest: int) -> list[bytes]:
    """The text in deltas, another text between them, and the first one again in one piece."""
    lines = []
    for piece in pieces(raw, rng, longest):
        lines.append(EVENT % (0, piece))
        lines += [OTHER] * (rng.random() < 0.3)
    return [f"data: {line}\n\n".encode() for line in (*lines, DONE % raw)]


def redacted(events: list[bytes]) -> bytes:
    streaming = BodyRedactor(Redactor())
    done = [one for event in events for one in streaming.feed(Chunk(event, 1.0))]
    done += streaming.close()
    assert [len(one.data) for one in done] == [len(event) for event in events]
    return b"".join(one.data for one in done)


@pytest.mark.slow
@each(SHAPES, (1, 4, 30))
def test_a_secret_over_events_becomes_one_stand_in(name: str, longest: int) -> None:
    rng = random.Random(f"{name}{longest}")
    secret = SHAPES[name].replace("\\n", "\n")
    for before, after in (("", ""), ("my key is ", ", keep it!"), ("a\n", "\n\nThat's it.")):
        raw = json.dumps(before + secret + after)[1:-1]
        clean = redacted(stream(raw, rng, longest))
        text = b"".join(DELTA.findall(clean))
        assert text != raw.encode()
        assert json.dumps(secret)[1:-1].encode() not in text
        assert text == TEXT.findall(clean)[0]
        assert len(text) == len(raw)


@pytest.mark.parametrize("longest", [1, 3, 50])
def test_a_secret_argument_over_events_is_found(longest: int) -> None:
    clean = redacted(stream(ARGUMENT, random.Random(longest), longest))
    text = b"".join(DELTA.findall(clean))
    assert text == TEXT.findall(clean)[0]
    assert b"no-shape-at-all-7" not in text
    assert b"Paris" in text


def test_text_without_secrets_stays_and_waits_for_little() -> None:
    words = ("The", "user's", "task-force", "asks:", "B", "or", "sk-learn?", "h\\u00e9", "eyJust")
    events = [f"data: {EVENT % (0, word + ' ')}\n\n".encode() for word in words * 20]
    streaming = BodyRedactor(Redactor())
    done = 0
    for number, event in enumerate(events, 1):
        out = streaming.feed(Chunk(event, 1.0))
        assert [one.data for one in out] == events[done : done + len(out)]
        done += len(out)
        assert number - done <= 1
    assert not streaming.close()


def test_a_text_that_does_not_go_on_lets_events_go() -> None:
    streaming = BodyRedactor(Redactor())
    assert not streaming.feed(Chunk(b'data: {"index":7,"content":"sk-"}\n\n', 1.0))
    held = 1
    for _ in range(100):
        held += 1 - len(streaming.feed(Chunk(b'data: {"index":8,"content":"fine "}\n\n', 1.0)))
    assert held == 0


def test_a_stand_in_over_events_is_known_again() -> None:
    rng = random.Random(3)
    raw = SHAPES["anthropic"]
    clean = redacted(stream(raw, rng, 4))
    assert redacted([event + b"\n\n" for event in clean.split(b"\n\n")[:-1]]) == clean


@pytest.mark.parametrize("piece", ["s", "sk-", "a", '\\"', '\\"api_key\\": \\"', "://", "Bearer "])
def test_hostile_deltas_wait_for_a_bounded_time(piece: str) -> None:
    event = f"data: {EVENT % (0, piece)}\n\n".encode()
    streaming = BodyRedactor(Redactor())
    held = 0
    for _ in range(3000):
        held += 1 - len(streaming.feed(Chunk(event, 1.0)))
        assert held <= 2100


def test_a_secret_over_lines_becomes_a_stand_in() -> None:
    secret = "sk-proj-" + "Ab3dEf6hIj9k" * 4
    lines = [(EVENT % (0, part)).encode() + b"\n" for part in ("is ", secret[:9], secret[9:], ".")]
    response = Response(headers=(("content-type", "application/x-ndjson"),))
    streaming = BodyRedactor(Redactor(), response)
    # All in one chunk: an end of a line is what tells the deltas apart.
    done = [*streaming.feed(Chunk(b"".join(lines), 1.0)), *streaming.close()]
    clean = b"".join(one.data for one in done)
    text = b"".join(DELTA.findall(clean))
    assert len(clean) == len(b"".join(lines))
    assert text.startswith(b"is ")
    assert secret[:20].encode() not in text


@pytest.mark.parametrize("before", ["1", "-", "_", "\\\\\\\\", "say: "])
def test_a_token_over_events_is_found_whatever_stands_before_its_word(before: str) -> None:
    token = "n0-Shape-4t-a11-" * 2
    parts = (before + "Bea", "rer " + token[:9], token[9:])
    clean = redacted([f"data: {EVENT % (0, part)}\n\n".encode() for part in parts])
    assert b"Bearer " in b"".join(DELTA.findall(clean))
    assert token.encode() not in b"".join(DELTA.findall(clean))


SHIPPED = of_every_kind()


def verdicts(cassette: Cassette, path: Path) -> Sequence[Mapping[str, Verdict]]:
    write(path, cassette, seal=False)
    results = check_recording(open_recording(path), rulebook(), CheckChoices())
    return [stream.verdicts for stream in results]


def compare(paths: Sequence[Path], folder: Path) -> None:
    target = folder / "a.cassette.jsonl"
    for path in paths:
        try:
            original = open_recording(path).cassette
            clean = redact_evidence(original)
            if clean == original:
                continue  # the same recording has the same verdicts
            expected = verdicts(original, target)
        except ConformanceError:
            continue  # of a dialect that nobody knows
        touched = {rule for exchange in clean.exchanges for rule in exchange.touched}
        for before, after in zip(expected, verdicts(clean, target), strict=True):
            differ = {rule for rule in before if before[rule] is not after[rule]}
            assert differ <= touched, path
            assert not {after[rule] for rule in differ} & {Verdict.PASS, Verdict.FAIL}, path
        assert [each.chunks for each in redact(clean).exchanges] == [
            each.chunks for each in clean.exchanges
        ], path


@pytest.mark.one_in(9)
@pytest.mark.parametrize("part", range(9))
def test_all_shipped_cassettes_keep_their_verdicts(part: int, tmp_path: Path) -> None:
    compare(SHIPPED[part::9], tmp_path)


@pytest.mark.captures
@pytest.mark.one_in(9)
@pytest.mark.parametrize("part", range(9))
@pytest.mark.skipif(
    "CONFORMANCE_CAPTURES" not in os.environ, reason="CONFORMANCE_CAPTURES is not set"
)
def test_real_recordings_keep_their_verdicts(part: int, tmp_path: Path) -> None:
    folder = Path(os.environ["CONFORMANCE_CAPTURES"])
    compare(sorted([*folder.rglob("*.sse"), *folder.rglob("*.jsonl")])[part::9], tmp_path)
