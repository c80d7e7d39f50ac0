"""Thinking between markers in the visible text is taken in runs, and that changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

import pytest

from conformance.core.events import Chunk
from conformance.judging.rulebook import Rulebook
from conformance.profiles.lookup import available, find
from conformance.profiles.profile import reading
from tests.fuzz.both import setting_for
from tests.fuzz.cutting import cut
from tests.fuzz.dialogues import stream
from tests.fuzz.recorded import frames_in_runs
from tests.judging.test_running import alike

CHAT: Final = "openai.chat"
RULEBOOK: Final = Rulebook.load()
MARKED: Final = [
    name
    for name, dialect, _ in available()
    if dialect == CHAT and reading(find(name, dialect)).markers
]
PLAIN: Final = (" so", " the sea", ".", "\n\n", " ", "4")
RARE: Final = (
    *("<think>", "</think>", "<th", "ink>", "</", "think>", "<", "[THINK]", "[/THINK]"),
    *(" 1 < 2", "[", "a ◁ b"),
)


def words(source: Random, count: int) -> list[str]:
    """Long stretches without a character that a marker begins with, and then some."""
    said: list[str] = []
    while len(said) < count:
        said += source.choices(PLAIN, k=source.randint(1, 60))
        said += source.choices(RARE, k=source.randint(0, 3))
    return said


def encoded(said: Sequence[str], source: Random) -> bytes:
    pieces = stream(CHAT, [], [text for text in said if text], source)
    return b"".join(piece.encode() for piece in pieces)


@pytest.mark.parametrize("profile", MARKED)
def test_marked_streams_under_any_cutting(profile: str) -> None:
    setting = setting_for(CHAT, profile, RULEBOOK)
    for seed in range(5):
        source = Random(f"{profile} {seed}")
        opened = source.choice(("<think>", "<think>\n", "", "[THINK]"))
        closed = source.choice(("</think>", "</think>\n\n", "", "[/THINK]"))
        data = encoded([opened, *words(source, 120), closed, *words(source, 60)], source)
        alike(setting, cut(data, source, clock=source.random() < 0.5, size=4096))


@pytest.mark.parametrize("profile", MARKED)
def test_marked_thinking_is_taken_in_runs(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (opened, closed), *_ = reading(find(profile, CHAT)).markers
    counts = frames_in_runs(monkeypatch)
    data = encoded([opened, *[" so", " it is"] * 300, closed, " Yes."], Random(1))
    alike(setting_for(CHAT, profile, RULEBOOK), [Chunk(data)])
    assert sum(counts) >= 2 * 560
