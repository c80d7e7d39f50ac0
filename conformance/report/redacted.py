"""A report without the secrets that a stream may have held.

Every text of a stream passes through here on its way into a report: a key that a server echoed may
be in messages, contexts and errors. Stand-ins have the alphabet and the length of the secrets that
they replace; ids, rules, places and verdicts stay, and so does opaque reasoning data: rules quote
it, and it opens no door.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from conformance.cassette import Redactor
from conformance.cassette.redaction.redact import REDACTED
from conformance.core.errors import CassetteError
from conformance.core.events import Exchange
from conformance.core.excerpts import redacted
from conformance.judging.result import JudgedCall, Report
from conformance.recordings.redacted_result import Clean, redact_result

_HEADERS: Final = frozenset({"-H", "--header"})
_JOINED_HEADER: Final = re.compile(r"^((?:-H|--header=)[^:]*:).*", re.DOTALL)
_MOST_REMEMBERED: Final = 1 << 12
_USER: Final = re.compile(r"(\w+://)[^/@\s]+@")


def redact_report(report: Report, clean: Clean | None = None) -> Report:
    """The report with every text of a stream passed through `clean` (default: `redacted`)."""
    # Thousands of streams share a few reasons and messages.
    passed = lru_cache(maxsize=_MOST_REMEMBERED)(clean or redacted)
    return replace(
        report,
        streams=tuple(redact_result(each, passed) for each in report.streams),
        errors=tuple(map(passed, report.errors)),
        notes=tuple(map(passed, report.notes)),
        call=_redact_call(report.call, passed),
    )


def _redact_call(call: JudgedCall | None, passed: Clean) -> JudgedCall | None:
    """The call without the values of headers."""
    if call is None:
        return None
    command = list(call.command)
    for at, (option, _) in enumerate(pairwise(command), 1):
        if option in _HEADERS:
            name, colon, _ = command[at].partition(":")
            command[at] = f"{name}: {REDACTED}" if colon else REDACTED
    shown = tuple(passed(_without_values(each)) for each in command)
    return replace(call, command=shown, target=passed(_without_values(call.target)))


def _without_values(argument: str) -> str:
    """Without the value of a header in one argument, and without who is in front of a host."""
    return _USER.sub(rf"\1{REDACTED}@", _JOINED_HEADER.sub(rf"\1 {REDACTED}", argument))


def without_secrets(exchange: Exchange) -> Exchange:
    """The exchange without secrets that it sent, or that have a shape; opaque data stays.

    A request or a client's report that cannot be redacted is left out. Raises CassetteError.
    """
    redactor = Redactor(opaque=False)
    try:
        redactor.exchange(replace(exchange, response=None, chunks=()))
    except CassetteError:
        exchange = replace(exchange, request=None, seen=None, user_choices=None)
    if (response := exchange.response) is not None:
        # A body is drawn as received, whatever encoding it declared.
        plain = (each for each in response.headers if each[0].lower() != "content-encoding")
        exchange = replace(exchange, response=replace(response, headers=tuple(plain)))
    return redactor.exchange(exchange)
