"""Frames of a run that come one to a chunk: only what differs waits, the outcome is the same."""

from __future__ import annotations

from random import Random

import pytest

from conformance.core.events import Chunk, Exchange
from conformance.judging.fast.running import RunningView
from conformance.judging.fast.template import Template, template
from conformance.judging.fast.waiting_rows import MOST_ROW_BYTES, MOST_ROWS, WaitingRows
from tests.fuzz.both import difference, fast, slow
from tests.fuzz.dialogues import stream
from tests.fuzz.generated import perturbed
from tests.fuzz.perturbations import PERTURBATIONS
from tests.fuzz.user_rules import shipped_setting, user_setting

FRAME = b'data: {"choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n'
PAYLOAD = {"choices": [{"index": 0, "delta": {"content": "a"}}]}
DIALECTS = ("openai.chat", "openai.responses", "anthropic.messages")


def like(first: bytes = FRAME % b"a") -> Template:
    data = first.decode().removeprefix("data: ").removesuffix("\n\n")
    found = template(None, data, PAYLOAD, ("choices.0.delta.content",))
    assert found is not None
    return found


def test_one_frame_of_the_template_leaves_its_row() -> None:
    waiting = WaitingRows(like())
    assert waiting.add(FRAME % b"word", 1.0)
    assert waiting.add(FRAME % b"", 2.0)
    rows, times = waiting.take()
    assert (rows, times) == ([b'"word"', b'""'], [1.0, 2.0])
    assert [waiting.frame(row) for row in rows] == [FRAME % b"word", FRAME % b""]
    assert waiting.take() == ([], [])


@pytest.mark.parametrize(
    "chunk",
    [
        FRAME % b"a" + FRAME % b"b",
        (FRAME % b"a")[:-1],
        (FRAME % b"a")[1:],
        FRAME % b'a"}}]}\n\ndata: {"choices":[{"index":0,"delta":{"content":"b',
        FRAME.replace(b"content", b"refusal"),
        b"",
        b"data: ",
        b'"}}]}\n\n',
    ],
)
def test_another_chunk_does_not_wait(chunk: bytes) -> None:
    waiting = WaitingRows(like())
    assert not waiting.add(chunk, None)
    assert waiting.rows == []


def test_a_beginning_is_reported_from_another_frame() -> None:
    waiting = WaitingRows(like())
    assert all(waiting.begins((FRAME % b"a")[:size]) for size in range(len(FRAME)))
    assert not waiting.begins(b"data: [DONE]\n\n")
    assert not waiting.begins(b"d:")


def test_chunks_with_a_clock_stay_apart_from_others() -> None:
    waiting = WaitingRows(like())
    assert waiting.add(FRAME % b"a", 1.0)
    assert not waiting.add(FRAME % b"b", None)
    waiting.take()
    assert waiting.add(FRAME % b"b", None)
    assert not waiting.add(FRAME % b"a", 1.0)


def test_few_rows_wait() -> None:
    waiting = WaitingRows(like())
    for number in range(MOST_ROWS):
        assert waiting.is_full is (number >= MOST_ROWS)
        waiting.add(FRAME % b"a", None)
    assert waiting.is_full
    waiting.take()
    waiting.add(FRAME % (b"a" * MOST_ROW_BYTES), None)
    assert waiting.is_full


@pytest.mark.one_in(6)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("clock", [True, False])
def test_single_frames_are_judged_the_same(dialect: str, seed: int, clock: bool) -> None:
    source = Random(seed)
    words = [
        source.choice(["a", " so", "\\", '"', "</thi", "nk>", "\u8c46", ""]) for _ in range(90)
    ]
    pieces = stream(dialect, words[:40], words[40:], source)
    names = [source.choice(sorted(PERTURBATIONS)) for _ in range(seed % 3)]
    *frames, last = perturbed(pieces, names, source).split(b"\n\n")
    frames = [*(frame + b"\n\n" for frame in frames), last]
    chunks = [Chunk(frame, source.choice((0.0, 5.0)) if clock else None) for frame in frames]
    for setting in (shipped_setting(dialect), user_setting(dialect, "fold-lacks")):
        assert not difference(slow(setting, chunks), fast(setting, chunks))


def test_what_waits_is_smaller_than_its_frames() -> None:
    view = RunningView(shipped_setting("openai.chat"), Exchange())
    for _ in range(60):
        view.feed(FRAME % b"word", None)
    assert view._run is not None
    assert view._run.waiting.rows == [b'"word"'] * len(view._run.waiting.rows)
    assert len(view._run.waiting.rows) > 20


def test_after_a_run_that_paid_the_next_one_begins_at_once() -> None:
    view = RunningView(shipped_setting("openai.chat"), Exchange())
    thought = FRAME.replace(b"content", b"reasoning_content")
    in_run: list[bool] = []
    for frame, count in ((thought, 3), (thought, 57), (FRAME, 3), (thought, 3)):
        for _ in range(count):
            view.feed(frame % b"word", None)
        in_run.append(view._run is not None)
    assert in_run == [False, True, True, False]  # the run of text was short
