from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from conformance.core.errors import Place
from conformance.profiles.profile import KnobReason, Override, Profile
from conformance.report.silences import Silence, rule_silences
from conformance.rules.forms.fold import Fold
from conformance.rules.model import Applies, Rule
from conformance.rules.verdicts import Level
from tests.report.made import rule as make_rule


def rule(dialect: str | None = "openai.chat", **profile: Any) -> Rule:
    return make_rule(
        source=(),
        applies=Applies(profile=tuple(profile.items())),
        dialects=(dialect,) if dialect else (),
    )


def profile(*, promises: tuple[str, ...] = (), level: Level | None = None, **knobs: Any) -> Profile:
    off = Override(level or "off", "it never sends one", "2 of 2", Place("p.yaml", 9))
    return Profile(
        name="acme",
        dialect="openai.chat",
        title="",
        fields={},
        promises=promises,
        knobs={"done": "required", **knobs},
        reasons={name: KnobReason(f"{name} differs", "8 of 8") for name in knobs},
        overrides={"wire/chat/done": off} if level else {},
        extends="strict",
        file="p.yaml",
        declared={},
    )


CASES: list[tuple[dict[str, Any], dict[str, Any], list[tuple[str, str, str]]]] = [
    # what the rule's applies wants of the profile, the profile, what is silences
    ({}, {"done": "forbidden"}, []),
    ({"done": "required"}, {}, []),
    ({"done": "required"}, {"done": "never"}, [("done: never", "done differs", "8 of 8")]),
    ({"done": ["required", "optional"]}, {"done": "optional"}, []),
    ({"done": {"not": "never"}}, {"done": "never"}, [("done: never", "done differs", "8 of 8")]),
    ({"overlap": False}, {"overlap": True}, [("overlap: true", "overlap differs", "8 of 8")]),
    ({"promises.last-usage": True}, {}, []),
    ({"promises.last-usage": True}, {"promises": ("last-usage",)}, []),
    ({}, {"level": Level.SHOULD}, [("level: SHOULD", "it never sends one", "2 of 2")]),
]


@pytest.mark.parametrize(("wants", "knobs", "silences"), CASES)
def test_a_silence_is_reported_with_its_reason(
    wants: dict[str, Any], knobs: dict[str, Any], silences: list[tuple[str, str, str]]
) -> None:
    expected = tuple(Silence("acme", "openai.chat", *each) for each in silences)
    assert rule_silences(rule(**wants), [profile(**knobs)]) == expected


def test_a_knob_in_the_form_is_reported_where_a_profile_sets_it() -> None:
    masked = replace(rule(), form=Fold({"done": "item"}, "list", minus="$mask"))
    found = rule_silences(masked, [profile(), profile(mask=["id", "status"])])
    assert found == (Silence("acme", "openai.chat", "mask: id, status", "mask differs", "8 of 8"),)


def test_what_is_inherited_is_not_reported_for_every_profile() -> None:
    assert rule_silences(rule(done="never"), [profile()]) == ()


def test_profiles_of_another_dialect_do_not_matter() -> None:
    muted = profile(done="never")
    assert rule_silences(rule("openai.responses", done="required"), [muted]) == ()
    assert len(rule_silences(rule(None, done="required"), [muted])) == 1
