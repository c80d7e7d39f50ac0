"""What a release demanded stays what it demanded: `--rules-as-of` means the same for ever."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from conformance import __version__
from conformance.core.errors import UsageError
from conformance.judging.rulebook import Rulebook
from conformance.rules.model import Rule
from conformance.rules.verdicts import Level

FROZEN = sorted((Path(__file__).parent / "frozen").glob("*.txt"))
STRICTNESS = (Level.MAY, Level.SHOULD, Level.MUST)


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def breaches(listed: Iterable[str], rules: Iterable[Rule], frozen: str) -> list[str]:
    """Listed rules that are gone, or stricter though their `since` did not move on."""
    now = {rule.id: rule for rule in rules}
    found: list[str] = []
    for line in listed:
        id_, level = line.split()
        rule = now.get(id_)
        if rule is None:
            found.append(f"{id_} is gone: an id is never taken back")
        elif version(rule.since) <= version(frozen) and _is_stricter(rule.level, Level(level)):
            found.append(f"{id_} was {level}, is {rule.level}: move its `since` on")
    return found


def _is_stricter(now: Level, before: Level) -> bool:
    return STRICTNESS.index(now) > STRICTNESS.index(before)


def rules() -> tuple[Rule, ...]:
    return Rulebook.load().rules


@pytest.mark.parametrize("path", FROZEN, ids=lambda path: str(path.stem))
def test_a_frozen_set_is_kept(path: Path) -> None:
    assert breaches(path.read_text(encoding="utf-8").splitlines(), rules(), path.stem) == []


@pytest.mark.parametrize("path", FROZEN, ids=lambda path: str(path.stem))
def test_a_frozen_set_does_not_grow_after_its_release(path: Path) -> None:
    # Until the release the set may grow; `python -m tests.frozen.write VERSION` writes it again.
    listed = {line.split()[0] for line in path.read_text(encoding="utf-8").splitlines()}
    added = {rule.id for rule in Rulebook.load(as_of=path.stem).rules} - listed
    assert not added or version(path.stem) >= version(__version__)


def test_there_is_a_frozen_set_for_every_release() -> None:
    assert __version__ in {path.stem for path in FROZEN}


def test_a_breach_is_found() -> None:
    rule, *_ = (rule for rule in rules() if rule.level is Level.MUST)
    assert breaches([f"{rule.id} MUST"], [rule], "0.1.0") == []
    assert breaches([f"{rule.id} SHOULD"], [rule], "0.0.9") == []
    assert "move its `since` on" in breaches([f"{rule.id} SHOULD"], [rule], rule.since)[0]
    assert "is gone" in breaches([f"{rule.id} MUST"], [], "0.1.0")[0]


def test_newer_rules_are_left_out_and_counted() -> None:
    before, whole = Rulebook.load(as_of="0.0.9"), Rulebook.load(as_of="0.1.0")
    assert before.rules == ()
    assert before.notes == (f"{len(rules())} rules are newer than 0.0.9 and left out",)
    assert {rule.since for rule in whole.rules} == {"0.1.0"}
    assert Rulebook.load().notes == ()


@pytest.mark.parametrize(
    "text", ["1", "0.1", "0.1.0a", "", "v0.1.0", "\u0660.1.0", "1" * 5000 + ".0.0"]
)
def test_a_version_has_three_numbers(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected a version like 0\.1\.0"):
        Rulebook.load(as_of=text)
