"""A report without the secrets that a stream may have held.

This is the one place through which text of a stream passes on its way into any report: a key that
a server echoed stands in messages, contexts and errors alike. Stand-ins have the alphabet and the
length of what they replace; ids, rules, places and verdicts stay.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from conformance.cassette import Redactor
from conformance.core.errors import CassetteError
from conformance.core.events import Exchange
from conformance.judging.result import Report
from conformance.recordings.redacted_result import Clean, redact_result


def text_cleaner() -> Clean:
    """Takes keys, tokens and secret fields out of text; equal secrets get equal stand-ins.

    Opaque reasoning data stays: rules quote it, and it opens no door.
    """
    # Thousands of streams give the same few reasons.
    return lru_cache(maxsize=1 << 12)(Redactor(opaque=False).text)


def redact_report(report: Report, clean: Clean | None = None) -> Report:
    """The report with every text of a stream passed through `clean` (default: `text_cleaner()`)."""
    passed = clean or text_cleaner()
    return replace(
        report,
        streams=tuple(redact_result(each, passed) for each in report.streams),
        errors=tuple(map(passed, report.errors)),
        notes=tuple(map(passed, report.notes)),
    )


def with_redacted_heads(exchange: Exchange) -> Exchange:
    """The exchange with request and response head redacted; the body as it is.

    A head that cannot be redacted is left out.
    """
    redactor = Redactor(opaque=False)
    try:
        request = exchange.request and redactor.request(exchange.request)
    except CassetteError:
        request = None
    if (response := exchange.response) is not None:
        # Redaction of a head must not refuse the encoding of a body that it does not touch.
        plain = (each for each in response.headers if each[0].lower() != "content-encoding")
        response = redactor.response(replace(response, headers=tuple(plain)))
    return replace(exchange, request=request, response=response)
