"""Bytes that another profile judged: what is joined equals what is judged anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import open_recording
from conformance.core.shipped import cassettes
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import profile_values
from conformance.recordings.check import check_untrusted
from conformance.recordings.choices import CheckChoices
from conformance.recordings.settings import RecordingSettings
from conformance.rules.compiled import compile_rule
from conformance.rules.reads import knobs_read
from tests.rulebooks import rulebook

SETS = (
    ("openai.chat", "openai"),  # changes no rule
    ("openai.chat", "openrouter"),
    ("openai.responses", "openai"),
    ("anthropic.messages", "anthropic"),
)


def results(path: Path) -> list[StreamResult]:
    return check_untrusted(open_recording(path), rulebook(), CheckChoices())


def paths() -> Iterator[Path]:
    """Recordings by a profile of their own: right ones, and ones that break a rule."""
    every = sorted(cassettes().rglob("*.cassette.jsonl"))
    yield from (each for each in every[::5] if open_recording(each).header.profile != "strict")


SHORTCUTS = {"leaves_as_open": 30, "reread": 15}  # and how often each is taken, at least


def test_is_what_is_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = Counter[str]()
    for name in SHORTCUTS:
        monkeypatch.setattr(RecordingSettings, name, counted(name, taken))
    given = [results(path) for path in paths()]
    assert not [name for name, least in SHORTCUTS.items() if taken[name] < least], taken
    for name in SHORTCUTS:
        monkeypatch.setattr(RecordingSettings, name, lambda *_: None)
    assert given == [results(path) for path in paths()]


def counted(name: str, taken: Counter[str]) -> Callable[..., Any]:
    shortcut = getattr(RecordingSettings, name)

    def call(self: RecordingSettings, *args: Any) -> Any:
        found = shortcut(self, *args)
        taken[name] += bool(found)
        return found

    return call


@pytest.mark.parametrize(("dialect", "profile"), SETS)
def test_only_rules_that_a_profile_changes_read_again(dialect: str, profile: str) -> None:
    book = rulebook()
    by_profile, strict = (book.bound(book.profile(name, dialect)) for name in (profile, "strict"))
    changed = book.changed(by_profile, strict)
    assert len(changed.rules) < len(strict.rules.rules) / 8
    assert book.changed(by_profile, strict) is changed
    assert not book.changed(strict, strict).rules


class Looked(dict[str, Any]):
    """Knobs that remember which of them were looked at."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


def test_a_rule_reads_no_other_knobs() -> None:
    book = rulebook()
    for dialect in {each for rule in book.rules for each in rule.dialects}:
        strict = book.bound(book.profile("strict", dialect))
        for each in strict.rules.rules:
            looked = Looked(profile_values(strict.profile))
            compile_rule(each.rule, looked)
            assert looked.names <= knobs_read(each.rule), each.rule.id
