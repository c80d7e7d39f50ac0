"""Secrets and names of people or organisations that a recording should not show.

Shapes and key names only: what a redactor puts in place of a secret has the same shape, so the
cassette's own count of redactions distinguishes the two.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from conformance.cassette import Header
from conformance.cassette.redaction.credentials import find_credentials
from conformance.core.events import Request

_FIELD: Final = re.compile(
    rb'"(safety_identifier|user|user_id|organization|organization_id)"\s{0,8}:\s{0,8}"([^"\\]{1,400})"'
)
_ACCOUNT: Final = re.compile(rb"(?<![A-Za-z0-9_-])(org-|proj_|user-)[A-Za-z0-9]{16,64}")
_EMAIL: Final = re.compile(
    rb"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,4}[A-Za-z]{2,24}"
)
# Domains of https://www.rfc-editor.org/rfc/rfc2606 are reserved: no mail arrives.
_NOBODY: Final = re.compile(rb"(?:@|\.)(?:example(?:\.com|\.net|\.org)?|invalid|test|localhost)$")
_BLANKED: Final = re.compile(rb"redact|placeholder|anonym|example|\A(.)\1*\Z", re.IGNORECASE)
_TELLING: Final = frozenset(
    {
        *("authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key"),
        *("cookie", "set-cookie", "openai-organization", "openai-project"),
    }
)


class PrivateLeftover(NamedTuple):
    """What was found, from which 0-based byte on. `certain` is False where it may be mere text."""

    start: int
    what: str
    certain: bool = True


class PrivacyScanner:
    """Looks through the texts of one recording; remembers which stand-ins were counted already."""

    def __init__(self, header: Header, trailer: Mapping[str, int]) -> None:
        self._replaced = Counter({each.rule: each.count for each in header.redactions})
        self._replaced.update(trailer)
        self._personal_data = header.origin != "synthetic"  # a synthetic one names nobody

    def text(self, text: bytes) -> Iterator[PrivateLeftover]:
        """Leftovers in a body, or in a request as JSON; each once, in no order."""
        for found in find_credentials(text):
            if self._replaced[found.rule]:
                self._replaced[found.rule] -= 1
            else:
                yield PrivateLeftover(found.start, f"a secret ({found.rule})")
        if self._personal_data:
            yield from _personal_data(text)

    def head(self, headers: tuple[tuple[str, str], ...]) -> Iterator[PrivateLeftover]:
        for name, value in headers:
            if name.lower() in _TELLING and value and not _BLANKED.search(value.encode()):
                yield PrivateLeftover(0, f"a value of header {name.lower()!r}")

    def request(self, request: Request) -> Iterator[PrivateLeftover]:
        yield from self.head(request.headers)
        shown = json.dumps([request.path, request.json], ensure_ascii=False)
        yield from self.text(shown.encode("utf-8", "replace"))


def _personal_data(text: bytes) -> Iterator[PrivateLeftover]:
    fields = ((match[1], match) for match in _FIELD.finditer(text) if _is_name(match[2]))
    first: dict[bytes, re.Match[bytes]] = {}
    for name, match in fields:
        first.setdefault(name, match)
    for name, match in first.items():
        yield PrivateLeftover(match.start(), f"an identifier in {name.decode()!r}")
    account = next((m for m in _ACCOUNT.finditer(text) if not _BLANKED.search(m[0])), None)
    if account and not first:
        yield PrivateLeftover(account.start(), f"an account id ({account[1].decode()}...)")
    email = next((m for m in _EMAIL.finditer(text) if not _NOBODY.search(m[0].lower())), None)
    if email:
        yield PrivateLeftover(email.start(), "an e-mail address", certain=False)


def _is_name(value: bytes) -> bool:
    return not _BLANKED.search(value)
