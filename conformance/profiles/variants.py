"""Variants: how a system speaks where a request says so, or spoke once, as profiles of their own.

    variants:
      - profile: groq-raw
        request: {reasoning_format: [raw, {absent: true}]}
        because: ...
        seen: ...
      - profile: google-early
        until: 2025-03
        because: ...
        seen: ...

The first whose conditions all hold takes the place of the profile, once. A condition on a request
holds for none that was not recorded, `until` (a month, itself included) for no answer whose date
is not known. It is a profile that extends the one it stands for, or is extended by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from conformance.core.events import Request
from conformance.rules.names import pattern_at
from conformance.rules.node import Node
from conformance.rules.paths import Getter, getter
from conformance.rules.patterns import NO_REQUEST, Test, compile_value

_KEYS: Final = frozenset({"profile", "request", "until", "because", "seen"})
_MONTH: Final = re.compile(r"20[0-9]{2}-(0[1-9]|1[0-2])")


class Variant(Struct, frozen=True, dict=True):
    """The profile that holds where a request or a date fits, with its reason and its evidence.

    `until` is a month, `2025-03`; empty for no end.
    """

    profile: str
    request: tuple[tuple[str, Any], ...]
    because: str
    seen: str
    until: str = ""

    def fits(self, request: Request | None, month: str = "") -> bool:
        """Whether an answer of that month to this request has these ways."""
        if self.until and not (month and month <= self.until):
            return False
        return not self.request or self._fits_request(request)

    def _fits_request(self, request: Request | None) -> bool:
        if request is None or not isinstance(request.json, Mapping):
            return False
        body = request.json
        return all(test(get(body), body, NO_REQUEST) for get, test in self._request_tests)

    @cached_property
    def _request_tests(self) -> Sequence[tuple[Getter, Test]]:
        """What the request holds, compiled once for the answers of a run."""
        return [(getter(path), compile_value(pattern, {})) for path, pattern in self.request]


def variant_for(
    variants: Iterable[Variant], request: Request | None, month: str = ""
) -> Variant | None:
    """The first variant that fits a request, and the month of its answer where that is known."""
    return next((each for each in variants if each.fits(request, month)), None)


def read_variants(root: Node) -> tuple[Variant, ...]:
    """The variants in a profile's document. Raises `SpecError` at the mistake."""
    node = root.get("variants")
    return tuple(_read_variant(entry) for entry in node.sequence()) if node else ()


def _read_variant(node: Node) -> Variant:
    node.mapping(known=_KEYS)
    until, wanted = node.get("until"), node.get("request")
    if until is None and wanted is None:
        raise node.error("expected `request`, `until` or both")
    return Variant(
        node.required("profile").string(),
        tuple((path, pattern_at(each)) for path, each in wanted.mapping().items())
        if wanted
        else (),
        node.required("because").string(),
        node.required("seen").string(),
        _month(until) if until else "",
    )


def _month(node: Node) -> str:
    month = node.string()
    if not _MONTH.fullmatch(month):
        raise node.error(f"expected a month such as 2025-03, got {month[:40]!r}")
    return month
