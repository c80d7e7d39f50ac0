"""Fingerprints: what a file may say, and what is met among events."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.core.errors import SpecError
from conformance.core.events import Event
from conformance.profiles import fingerprints as module
from conformance.profiles.fingerprints import Fingerprint, Signs, Watch, read
from conformance.profiles.load import load_profile
from conformance.profiles.lookup import available, fingerprints
from conformance.rules.document import parse

DIALECT = "openai.chat"


def declared(text: str, dialect: str = DIALECT) -> tuple[Fingerprint, ...]:
    return read(parse(f"fingerprints: [{text}]", "p.yaml"), "p", dialect)


def chunk(**data: object) -> Event:
    return Event("chat.chunk", data, 1, "wire")


SIGN = "{says: s, event: {type: chat.chunk, x: {absent: false}}}"


def test_fingerprint_names_unless_it_is_weak() -> None:
    strong, weak = declared(f"{SIGN}, {{weak: true, {SIGN[1:]}")
    assert (strong.profile, strong.says, strong.is_weak) == ("p", "s", False)
    assert weak.is_weak


def test_fingerprint_of_a_gateway_and_its_evidence_are_read() -> None:
    (plain,), (gateway,) = declared(SIGN), declared(f"{{gateway: true, seen: 2 of 2, {SIGN[1:]}")
    assert (plain.is_gateway, plain.seen) == (False, "")
    assert (gateway.is_gateway, gateway.seen) == (True, "2 of 2")


def test_every_shipped_fingerprint_has_evidence() -> None:
    for dialect in {dialect for _, dialect, _ in available()}:
        for found in fingerprints(dialect):
            counted = re.search(r"[0-9]+ of [0-9]+ .*; elsewhere [0-9]+ of [0-9]+", found.seen)
            assert counted or found.seen.startswith(("its ", "The source of ")), found


def test_profile_without_any_has_none() -> None:
    assert read(parse("profile: p", "p.yaml"), "p", DIALECT) == ()


WRONG = (
    ("{event: chat.chunk}", "1:16: key 'says' is missing"),
    ("{says: s}", "1:16: key 'event' is missing"),
    ("{says: s, event: chat.chunk, strong: true}", "1:45: unknown key 'strong'"),
    ("{says: s, event: chat.chunk, weak: maybe}", "1:51: expected true or false, got 'maybe'"),
    ("{says: s, event: chat.chnk}", "1:33: unknown event type 'chat.chnk'"),
    ("{says: s, event: thinking.delta}", "1:33: a fingerprint is an event of the wire"),
    ("{says: s, event: {type: {not: chat.chunk}}}", "1:33: a fingerprint is an event of the wire"),
    ("{says: s, event: {type: chat.chunk, x: {pattern: '(?=a)'}}}", "1:55: no JSON Schema"),
)


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_mistake_is_reported_where_it_stands(text: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        declared(text)
    assert str(caught.value).startswith(f"p.yaml:{message}")


MET = (
    ("{type: chat.chunk, x: {absent: false}}", chunk(x=None), True),
    ("{type: chat.chunk, x: {absent: false}}", chunk(y=1), False),
    ("{type: chat.chunk, a.b: 1}", chunk(a={"b": 1}), True),
    ("{type: chat.chunk, a.b: 1}", chunk(a=[1]), False),
    ("{type: chat.chunk, id: {type: string, pattern: ^gen_}}", chunk(id="gen_1"), True),
    ("{type: chat.chunk, id: {type: string, pattern: ^gen_}}", chunk(id=7), False),
    ("{type: [chat.chunk, chat.completion], x: 1}", chunk(x=1), True),
    ("{type: chat.completion, x: 1}", chunk(x=1), False),
)


@pytest.mark.parametrize(("event", "came", "is_met"), MET)
def test_sign_is_met_by_what_fits(event: str, came: Event, is_met: bool) -> None:
    watch = Watch(Signs(declared(f"{{says: s, event: {event}}}")))
    watch.see(came)
    assert [found.says for found in watch.met] == ["s"] * is_met


def test_sign_may_be_the_order_of_keys() -> None:
    (ordered,) = declared("{says: s, keys: [b, a], event: {type: chat.chunk, a: 1}}")
    assert ordered.keys == ("b", "a")
    for data, is_met in (({"b": 0, "a": 1}, True), ({"a": 1, "b": 0}, False), ({"b": 0}, False)):
        watch = Watch(Signs([ordered]))
        watch.see(chunk(**data))
        assert bool(watch.met) is is_met


def test_sign_is_met_once() -> None:
    watch = Watch(Signs(declared("{says: s, event: {type: [chat.chunk, chat.completion], x: 1}}")))
    for came in (chunk(x=1), chunk(x=1, y=1), Event("chat.completion", {"x": 1}, 2, "wire")):
        watch.see(came)
    assert len(watch.met) == 1


def test_signs_serve_several_watches() -> None:
    signs = Signs(declared("{says: s, event: {type: chat.chunk, x: 1}}"))
    for _ in range(2):
        watch = Watch(signs)
        watch.see(chunk(x=1))
        assert len(watch.met) == 1


def test_shape_seen_before_is_not_looked_at_again() -> None:
    watch = Watch(Signs(declared("{says: s, event: {type: chat.chunk, x: 1}}")))
    watch.see(chunk(x=2))
    watch.see(chunk(x=1))
    assert watch.met == []
    watch.see(chunk(x=1, delta={"y": 1}))
    assert len(watch.met) == 1


def test_shapes_beyond_the_cap_are_always_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SHAPES", 1)
    watch = Watch(Signs(declared("{says: s, event: {type: chat.chunk, x: 1}}")))
    for came in (chunk(), chunk(x=2), chunk(x=1)):
        watch.see(came)
    assert len(watch.met) == 1


def test_comments_are_always_looked_at() -> None:
    watch = Watch(Signs(declared("{says: s, event: {type: sse.comment, text: ping}}")))
    for text in ("pong", "ping"):
        watch.see(Event("sse.comment", {"text": text}, 1, "transport"))
    assert len(watch.met) == 1


def test_fingerprints_are_not_inherited(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        f"profile: a\ndialect: {DIALECT}\nfingerprints: [{SIGN}]\n", encoding="utf-8"
    )
    (tmp_path / "b.yaml").write_text(
        f"profile: b\ndialect: {DIALECT}\nextends: a\n", encoding="utf-8"
    )
    assert len(load_profile(tmp_path / "a.yaml").fingerprints) == 1
    assert load_profile(tmp_path / "b.yaml").fingerprints == ()
    assert "a" in {found.profile for found in fingerprints(DIALECT, [tmp_path])}


def test_signs_of_a_dialect_differ_in_what_they_say() -> None:
    for dialect in {dialect for _, dialect, _ in available()}:
        named = [(found.profile, found.says) for found in fingerprints(dialect)]
        assert len(named) == len(set(named))


@pytest.mark.parametrize("dialect", ["openai.chat", "openai.responses"])
def test_no_two_systems_have_the_same_sign(dialect: str) -> None:
    named = [
        (found.event.types, found.event.conditions, found.keys)
        for found in fingerprints(dialect)
        if not found.is_weak
    ]
    assert all(named.count(each) == 1 for each in named)
