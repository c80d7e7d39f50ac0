"""Requests to a played model besides its calls: look-ups, paths that no API has, what is no HTTP.

Who configured a wrong path, a wrong API or TLS sees here what it sent. All of it comes from
outside: names are redacted, cut and counted, and past a bound only counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from msgspec import Struct, field

from conformance.core.excerpts import redacted
from conformance.report.printable import visible

_MOST: Final = 50  # different ones that are kept apart
_LONGEST: Final = 120  # characters of one
_SHOWN: Final = 5
_NOT_FOUND: Final = 404


class StrayRequests(Struct):
    """How often each request came, by its name; the sentence begins with what is not served."""

    unknown: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    others: int = 0

    def note_request(self, method: str, path: str, status: int) -> None:
        """Takes a request that was no call of a model, and how it was answered."""
        names = self.unknown if status == _NOT_FOUND else self.known
        self._count(names, f"{visible(redacted(f'{method} {path}'), _LONGEST)} (HTTP {status})")

    def note_refusal(self, why: str) -> None:
        """Takes what came on a connection and could not be answered."""
        self._count(self.unknown, f"what was refused ({visible(redacted(why), _LONGEST)})")

    def _count(self, names: Counter[str], name: str) -> None:
        if name in names or len(self.unknown) + len(self.known) < _MOST:
            names[name] += 1
        else:
            self.others += 1

    def sentence(self, *, unknown: bool = False) -> str:
        """`3 times POST /v2/chat (HTTP 404), GET /v1/models (HTTP 200)`; empty where none came.

        With `unknown` only what is not served.
        """
        found = [*self.unknown.most_common(), *([] if unknown else self.known.most_common())]
        counted = [f"{number} times {name}" if number > 1 else name for name, number in found]
        more = sum(number for _, number in found[_SHOWN:]) + self.others
        rest = f" and {more} more" if more else ""
        return f"{', '.join(counted[:_SHOWN])}{rest}"
