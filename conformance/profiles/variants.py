"""Variants: how a system speaks where a request says so, as profiles of their own.

    variants:
      - profile: groq-raw
        request: {reasoning_format: [raw, {absent: true}]}
        because: ...
        seen: ...

The first whose conditions all hold takes the place of the profile, once; where no request was
recorded none does. It is a profile that extends the one it stands for, or is extended by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Request
from conformance.rules.node import Node
from conformance.rules.paths import getter
from conformance.rules.patterns import NO_REQUEST, PatternError, compile_value, probe

_KEYS: Final = frozenset({"profile", "request", "because", "seen"})


class Variant(Struct, frozen=True):
    """The profile that holds where a request fits, with its reason and its evidence."""

    profile: str
    request: tuple[tuple[str, Any], ...]
    because: str
    seen: str

    def fits(self, request: Request | None) -> bool:
        """Whether the request asks for these ways."""
        if request is None or not isinstance(request.json, Mapping):
            return False
        body = request.json
        return all(
            compile_value(pattern, {})(getter(path)(body), body, NO_REQUEST)
            for path, pattern in self.request
        )


def asked_variant(variants: Iterable[Variant], request: Request | None) -> Variant | None:
    """The first variant that a request asks for."""
    return next((each for each in variants if each.fits(request)), None)


def read_variants(root: Node) -> tuple[Variant, ...]:
    """The variants in a profile's document. Raises `SpecError` at the mistake."""
    node = root.get("variants")
    return tuple(_read_variant(entry) for entry in node.sequence()) if node else ()


def _read_variant(node: Node) -> Variant:
    node.mapping(known=_KEYS)
    conditions = node.required("request").mapping()
    return Variant(
        node.required("profile").string(),
        tuple((path, _pattern(each)) for path, each in conditions.items()),
        node.required("because").string(),
        node.required("seen").string(),
    )


def _pattern(node: Node) -> Any:
    pattern = node.plain()
    try:
        probe(pattern)
    except PatternError as err:
        raise node.error(str(err)) from err
    return pattern
