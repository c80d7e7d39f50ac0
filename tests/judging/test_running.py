"""Runs change nothing: verdicts, reasons and findings are those of reading frame by frame."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette import Recording, open_recording
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Ending, Exchange
from conformance.judging.fast import runs
from conformance.judging.fast.running import MOST_WAITING, RunningView
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgeSetting
from conformance.rules.forms import fold_collect, gathered_side
from conformance.rules.verdicts import Verdict
from tests.each import each_in_blocks
from tests.fuzz.both import difference, fast, hasty, slow, usual
from tests.fuzz.cutting import cut
from tests.fuzz.dialogues import DIALECTS, stream, texts
from tests.fuzz.generated import BATCH, generated, perturbed
from tests.fuzz.perturbations import PERTURBATIONS
from tests.fuzz.recorded import (
    frames_in_runs,
    recut,
    three_ways,
)
from tests.fuzz.user_rules import IDS, shipped_setting, user_setting
from tests.sampled import of_every_kind
from tests.tables import read_table

RULEBOOK: Final = Rulebook.load()
BLOCKS: Final = 45
PER_BLOCK: Final = 80
WAYS: Final = 2  # beside frame by frame
ENDS: Final[tuple[Ending, ...]] = ("eof", "eof", "reset", "open")
TABLE: Final = Path(__file__).parent.parent / "captures" / "table.yaml"
OGX: Final = "ogx-1.5.0"
CASSETTES: Final = of_every_kind()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules see runs often, so that streams of a hundred frames cross the border of a batch."""
    monkeypatch.setattr(runs, "MOST_FRAMES", BATCH)
    for window in ("FIRST_WINDOW", "WINDOW"):
        monkeypatch.setattr(runs, window, 1 << 8)


def alike(
    setting: JudgeSetting, chunks: Sequence[Chunk], end: Ending = "eof"
) -> StreamResult | str:
    """What all ways say."""
    wanted = slow(setting, chunks, end)
    for way in (fast, usual):
        where = difference(wanted, way(setting, chunks, end))
        assert not where, f"{way.__name__}: {where}"
    return wanted.result


def drawn(seed: int) -> tuple[JudgeSetting, list[Chunk], Ending]:
    """Everything that one comparison needs, from a seed."""
    source = Random(seed)
    dialect, data = generated(source)
    rule = source.choice((*IDS, *["shipped"] * 8))
    setting = shipped_setting(dialect) if rule == "shipped" else user_setting(dialect, rule)
    return setting, cut(data, source, clock=source.random() < 0.5), source.choice(ENDS)


@pytest.mark.one_in(40)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_generated_streams_under_any_cutting(block: int) -> None:
    for seed in range(block * PER_BLOCK, (block + 1) * PER_BLOCK):
        setting, chunks, end = drawn(seed)
        way = (fast, usual, hasty)[seed % 3]
        where = difference(slow(setting, chunks, end), way(setting, chunks, end))
        assert not where, f"seed {seed}, {way.__name__}: {where}"


@pytest.mark.one_in(60)
@each_in_blocks(60, lambda: CASSETTES)
def test_shipped_cassettes_under_any_cutting(path: Path) -> None:
    wanted, *others = three_ways(recut(open_recording(path), Random(path.name)), RULEBOOK)
    assert others == [wanted, wanted]


def test_there_is_enough_of_it() -> None:
    assert BLOCKS * PER_BLOCK + WAYS * len(CASSETTES) >= 5000


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_clean_deltas_are_taken_in_runs(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = frames_in_runs(monkeypatch)
    source = Random(1)
    pieces = stream(dialect, texts(700, source), texts(700, source), source)
    data = b"".join(piece.encode() for piece in pieces)
    found = alike(shipped_setting(dialect), [Chunk(data)])
    assert isinstance(found, StreamResult)
    assert not found.findings
    # Each of the two ways in runs leaves a few frames at the beginning and end of a run.
    assert sum(counts) >= 2 * (1400 - 24)
    assert BATCH <= max(counts) <= BATCH + 8


@pytest.mark.one_in(36)
@pytest.mark.parametrize("name", PERTURBATIONS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_goes_wrong_at_the_border_of_a_batch(dialect: str, name: str) -> None:
    source = Random(name)
    pieces = stream(dialect, [], texts(BATCH + 20, source), source)
    first = next(at for at, piece in enumerate(pieces) if piece.is_delta)
    at = first + BATCH + source.randrange(-3, 8)
    bad = PERTURBATIONS[name](pieces[at], source)
    data = b"".join(bad if n == at else piece.encode() for n, piece in enumerate(pieces))
    alike(shipped_setting(dialect), cut(data, source, clock=False, size=4096))


@pytest.mark.parametrize("at", range(BATCH - 10, BATCH + 10))
def test_a_marker_over_deltas_across_the_border_of_a_batch(at: int) -> None:
    words = ["x"] * (BATCH + 40)
    words[at : at + 8] = "</think>"
    pieces = stream("openai.chat", [], words, Random(1))
    data = b"".join(piece.encode() for piece in pieces)
    found = alike(user_setting("openai.chat", "fold-lacks"), [Chunk(data)])
    assert isinstance(found, StreamResult)
    assert [f.event for f in found.findings] == [at + 9]  # the marker's last character


def test_a_finding_waits_for_few_chunks() -> None:
    words = ["x"] * 300
    words[100:108] = "</think>"
    view = RunningView(user_setting("openai.chat", "fold-lacks"), Exchange())
    fed = 0
    for piece in stream("openai.chat", [], words, Random(1)):
        view.feed(piece.encode(), None)
        fed += 1
        if view.findings:
            break
    (found,) = view.findings
    assert found.event == 109
    assert [line.event for line in found.context] == [106, 107, 108, 109]
    assert found.event <= fed <= found.event + MOST_WAITING


@st.composite
def hostile(draw: st.DrawFn) -> tuple[JudgeSetting, list[Chunk], Ending]:
    """A stream with any perturbations, judged by any rule, in chunks of any sizes."""
    dialect = draw(st.sampled_from(DIALECTS))
    source = draw(st.randoms(use_true_random=False))
    thoughts = draw(st.lists(st.text(max_size=4), max_size=12))
    words = draw(st.lists(st.sampled_from([" so", "is", "</th", "ink>"]) | st.text(), max_size=24))
    names = draw(st.lists(st.sampled_from(sorted(PERTURBATIONS)), max_size=3))
    clean = [text.encode("utf-8", "replace").decode() for text in (*thoughts, *words)]
    pieces = stream(dialect, clean[: len(thoughts)], clean[len(thoughts) :], source)
    data = perturbed(pieces, names, source)
    rule = draw(st.sampled_from(("shipped", *IDS)))
    setting = shipped_setting(dialect) if rule == "shipped" else user_setting(dialect, rule)
    size = draw(st.sampled_from((0, 1, 16, 4096)))
    chunks = cut(data, source, clock=draw(st.booleans()), size=size)
    return setting, chunks, draw(st.sampled_from(ENDS))


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=300)
@given(hostile())
def test_hostile_streams(case: tuple[JudgeSetting, list[Chunk], Ending]) -> None:
    alike(*case)


def test_chunks_that_end_in_another_line_end_keep_their_time() -> None:
    pieces = [p.encode() for p in stream("openai.chat", [], ["a"] * 30, Random(1)) if p.is_delta]
    crlf = [Chunk(piece.replace(b"\n\n", b"\r\n\r\n"), 10_000.0) for piece in pieces[10:20]]
    chunks = [Chunk(b"".join(pieces[:10]), 0.0), *crlf, Chunk(pieces[20], 10_000.0)]
    alike(user_setting("openai.chat", "timing-gap"), chunks)
    alike(shipped_setting("openai.chat"), chunks)


@pytest.mark.parametrize("cap", [30, 60, 100])
@pytest.mark.parametrize("rule", ["fold-concat", "fold-lacks-thinking", "compare-concat"])
def test_cap_is_met_at_the_same_frame(rule: str, cap: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_collect, "MOST_BYTES", cap)
    monkeypatch.setattr(gathered_side, "MOST_BYTES", cap)
    source = Random(1)
    pieces = stream("openai.responses", texts(20, source), texts(40, source), source)
    data = b"".join(piece.encode() for piece in pieces)
    found = alike(user_setting("openai.responses", rule), [Chunk(data)])
    assert isinstance(found, StreamResult)
    if rule == "fold-concat":
        assert found.verdicts["user/fold-concat"] is Verdict.ERROR


@pytest.mark.parametrize("cap", [10, 40])
def test_a_cap_on_parts_is_met_at_the_same_frame(cap: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_collect, "MOST_PARTS", cap)
    pieces = stream("openai.chat", [], ["a"] * 60, Random(1))
    data = b"".join(piece.encode() for piece in pieces)
    for rule in ("fold-count", "fold-concat"):
        found = alike(user_setting("openai.chat", rule), [Chunk(data)])
        assert isinstance(found, StreamResult)
        assert found.verdicts[f"user/{rule}"] is Verdict.ERROR


@pytest.mark.slow
def test_threads_share_a_rulebook() -> None:
    shipped_setting.cache_clear()  # the rule sets are compiled, but no table is filled yet
    work = [drawn(seed) for seed in range(900_000, 900_160)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda case: fast(*case), work))
    assert [difference(slow(*case), one) for case, one in zip(work, results, strict=True)] == [
        ""
    ] * len(work)


def real() -> list[tuple[str, str]]:
    rows: list[dict[str, str]] = read_table(TABLE)
    folder = Path(os.environ.get("CONFORMANCE_CAPTURES", "/nonexistent"))
    ogx = sorted(path.name for path in (folder / OGX).glob("*.sse"))
    return [(r["file"], r["profile"]) for r in rows] + [(f"{OGX}/{name}", "openai") for name in ogx]


@cache
def opened(path: Path) -> Recording | None:
    try:
        return open_recording(path)
    except CassetteError:
        return None


@pytest.mark.captures
@pytest.mark.one_in(24)
@pytest.mark.parametrize("row", real(), ids=lambda row: str(row[0]))
def test_recordings_under_any_cutting(row: tuple[str, str]) -> None:
    file, profile = row
    folder = os.environ.get("CONFORMANCE_CAPTURES")
    if not folder:
        pytest.skip("CONFORMANCE_CAPTURES names no folder of recordings")
    recording = opened(Path(folder) / file)
    if recording is None:
        pytest.skip("no recording of a stream")
    size = sum(len(c.data) for each in recording.exchanges for c in each.chunks)
    source = Random(file)
    for _ in range(3 if size < 50_000 else 2):
        wanted, *others = three_ways(recut(recording, source), RULEBOOK, profile)
        assert others == [wanted, wanted]
