"""Fingerprints: what one system puts on the wire and others do not.

Rule 1: a fingerprint is an event that the system sends: a comment, a key of its own, the shape of
an id, the order of its keys. That a stream breaks few of its rules is none.
Rule 2: one that is not `weak` names the system by itself; a weak one is a hint, as another system
may well send the same.
Rule 3: a `gateway` passes on what names the system behind it: of signs that name several systems
its own decide.
Rule 4: a profile's fingerprints are its own; what extends it does not inherit them.
Rule 5: the host of the request is one (`hosts`), and names the system by itself: nothing that its
answers leave out can hide it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Event
from conformance.dialects import SUPPORTED
from conformance.rules.alias import Alias
from conformance.rules.names import Names
from conformance.rules.node import Node
from conformance.rules.paths import getter
from conformance.rules.patterns import NO_REQUEST, compile_value

MOST_SHAPES: Final = 1024

_HOST: Final = "its address"

_KEYS: Final = frozenset({"says", "weak", "gateway", "event", "keys", "seen"})


class Fingerprint(Struct, frozen=True):
    """A sign of one profile: `says` names it for people, `event` is what is looked for.

    `keys` are those that the event begins with, in that order; empty where any order will do.
    `seen` is its evidence: in how many recordings of the system, and in how many of others.
    """

    profile: str
    says: str
    is_weak: bool
    event: Alias
    is_gateway: bool = False
    keys: tuple[str, ...] = ()
    seen: str = ""


def read(root: Node, profile: str, dialect: str) -> tuple[Fingerprint, ...]:
    """Give the fingerprints in a profile's document. Raises `SpecError` at the mistake."""
    node = root.get("fingerprints")
    spoken = SUPPORTED.get(dialect)
    names = Names(spoken.vocabulary if spoken else None)
    entries = node.sequence() if node else ()
    found = tuple(_read_fingerprint(entry, profile, names) for entry in entries)
    return (*found, *_host_signs(root.get("hosts"), profile))


def _host_signs(hosts: Node | None, profile: str) -> Iterator[Fingerprint]:
    if hosts is None:
        return
    is_gateway = False
    if hosts.kind == "mapping":
        hosts.mapping(known=frozenset({"names", "gateway"}))
        hosts, is_gateway = hosts.required("names"), _is_true(hosts, "gateway")
    yield from (_host_sign(each, profile, is_gateway=is_gateway) for each in hosts.sequence())


def _host_sign(node: Node, profile: str, *, is_gateway: bool) -> Fingerprint:
    """The host of a recorded URL; `*` stands for any name before a domain."""
    host = node.string()
    pattern = re.escape(host).replace(r"\*", "[a-z0-9.-]*").replace(r"\-", "-")
    conditions = (("host", {"type": "string", "pattern": f"^{pattern}$"}),)
    event = Alias("event", "http.request", conditions, "transport")
    return Fingerprint(profile, f"host {host}", False, event, is_gateway, seen=_HOST)


def _read_fingerprint(node: Node, profile: str, names: Names) -> Fingerprint:
    node.mapping(known=_KEYS)
    event = node.required("event")
    names.declare("event", event)
    alias = names.aliases["event"]
    if not alias.types or alias.layer == "semantic":
        # What a correct client would see is alike for every system: that is its purpose.
        raise event.error("a fingerprint is an event of the wire or of its frames, by type")
    return Fingerprint(
        profile,
        node.required("says").string(),
        _is_true(node, "weak"),
        alias,
        _is_true(node, "gateway"),
        tuple(key.string() for key in keys.sequence()) if (keys := node.get("keys")) else (),
        seen.string() if (seen := node.get("seen")) else "",
    )


def _is_true(node: Node, key: str) -> bool:
    flag = node.get(key)
    return bool(flag and flag.boolean())


class Signs:
    """Fingerprints made ready to be looked for, for any number of watches."""

    def __init__(self, fingerprints: Iterable[Fingerprint]) -> None:
        by_type: dict[str, list[_Matcher]] = {}
        for fingerprint in fingerprints:
            matcher = _Matcher(fingerprint)
            for kind in fingerprint.event.types:
                by_type.setdefault(kind, []).append(matcher)
        self._by_type = by_type

    def awaited(self) -> dict[str, list[_Matcher]]:
        """What is looked for, by type of event."""
        return {kind: list(matchers) for kind, matchers in self._by_type.items()}


class Watch:
    """Looks for fingerprints among the events of one exchange; one that was met is let go.

    A wire event of the same shape (keys and types, two levels deep) as one before it is not looked
    at again: a stream is thousands of deltas alike.
    """

    def __init__(self, signs: Signs) -> None:
        self.met: list[Fingerprint] = []
        self._shapes: set[tuple[Any, ...]] = set()
        self._awaited = signs.awaited()

    def awaits(self, kind: str) -> bool:
        """Whether an event of this type may still tell something."""
        return bool(self._awaited.get(kind))

    def see(self, event: Event) -> None:
        awaited = self._awaited.get(event.type)
        if not awaited or (event.layer == "wire" and self._is_known(event)):
            return
        for matcher in [each for each in awaited if each.fits(event.data)]:
            self.met.append(matcher.fingerprint)
            for kind in matcher.fingerprint.event.types:
                self._awaited[kind].remove(matcher)

    def _is_known(self, event: Event) -> bool:
        shape = (event.type, *_payload_shape(event.data))
        if shape in self._shapes:
            return True
        if len(self._shapes) < MOST_SHAPES:
            self._shapes.add(shape)
        return False

    def met_by(self, profile: str, *, weak: bool) -> Iterator[str]:
        """What the met fingerprints of a profile say."""
        return (f.says for f in self.met if f.profile == profile and f.is_weak is weak)


def _payload_shape(data: Mapping[str, Any]) -> Iterator[Any]:
    for name, value in data.items():
        yield name
        yield type(value)
        if isinstance(value, dict):
            yield tuple(value)
            yield tuple(map(type, value.values()))


class _Matcher:
    """One fingerprint, compiled; `fits` says of an event's data whether it is there."""

    __slots__ = ("fingerprint", "fits")

    def __init__(self, fingerprint: Fingerprint) -> None:
        self.fingerprint = fingerprint
        self.fits = _beginning(fingerprint.keys, _conjunction(fingerprint.event.conditions))


def _beginning(
    keys: tuple[str, ...], fits: Callable[[Mapping[str, Any]], bool]
) -> Callable[[Mapping[str, Any]], bool]:
    """The test, only of data that begins with these keys."""
    if not keys:
        return fits
    return lambda data: tuple(islice(data, len(keys))) == keys and fits(data)


def _conjunction(conditions: Sequence[tuple[str, Any]]) -> Callable[[Mapping[str, Any]], bool]:
    if not conditions:
        return lambda _data: True
    (path, pattern), *others = conditions
    get, test, rest = getter(path), compile_value(pattern, {}), _conjunction(others)
    if not others:
        return lambda data: test(get(data), data, NO_REQUEST)
    return lambda data: test(get(data), data, NO_REQUEST) and rest(data)
