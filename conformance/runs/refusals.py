"""Answers that are not of an API: no key, a web page, a redirect, or nothing there."""

from __future__ import annotations

import re
from html import unescape
from typing import Final

from conformance.core.errors import RemoteError
from conformance.core.events import Exchange
from conformance.core.excerpts import redacted
from conformance.dialects import ENDPOINTS, get
from conformance.dialects.base import Reading
from conformance.dialects.recognition import recognised_dialect
from conformance.evidence.expectations import NOT_LET_IN
from conformance.judging.transcript import is_refusal, read_transcript
from conformance.report.printable import visible
from conformance.wire.origin import shown_url

ABSENT: Final = frozenset({404, 405, 501})
"""Statuses that say that nothing is there."""

_TITLE: Final = re.compile(rb"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_TITLE_WITHIN: Final = 4096
_SHOWN: Final = 200
_BASE: Final = "the URL names the base of an API, often with /v1 at its end"


class NotOfferedError(RemoteError):
    """The target has no such API."""


class PathMissingError(NotOfferedError):
    """The path of the API is not there: `api` is its dialect, `status` what came."""

    def __init__(self, api: str, exchange: Exchange) -> None:
        at = f"HTTP {status_of(exchange)} at {path_of(exchange)}"
        super().__init__(f"{api}: the target has no such API: {at}", hint=_BASE)
        self.api, self.status = api, status_of(exchange)


class NotLetInError(RemoteError):
    """The API is there, but not for us: no key, a wrong one, or no such model."""


def not_let_in(exchange: Exchange, name: str, words: str) -> NotLetInError | None:
    """The error for a missing or wrong key. `name` begins the message."""
    if status_of(exchange) not in NOT_LET_IN:
        return None
    reason = f": {words}" if words else ""
    hint = "name the key's variable with --api-key-env, another header with --api-key-header"
    return NotLetInError(f"{name}: HTTP {status_of(exchange)}{reason}", hint=hint)


def not_offered(exchange: Exchange, name: str) -> NotOfferedError | None:
    """The error for a missing path, by the status alone."""
    if status_of(exchange) not in ABSENT:
        return None
    return PathMissingError(name, exchange)


def elsewhere(exchange: Exchange, name: str) -> NotOfferedError | None:
    """The error for a web page, or for a redirect that is not followed."""
    response = exchange.response
    if response is None:
        return None
    to = response.header("location")
    if 300 <= (response.status or 0) < 400 and to:
        message = f"{name}: HTTP {response.status} redirects to {shown_url(to)}"
        return NotOfferedError(message, hint="name that address with --url")
    if "text/html" not in (response.header("content-type") or ""):
        return None
    found = _TITLE.search(exchange.body[:_TITLE_WITHIN])
    title = unescape(found[1].decode("utf-8", "replace")).strip() if found else ""
    called = f", {visible(redacted(title), _SHOWN)!r}" if title else ""
    message = f"{name}: a web page came, no API's answer (HTTP {response.status}{called})"
    return NotOfferedError(message, hint=_BASE)


def answered_as_refined(exchange: Exchange, dialect: str) -> NotOfferedError | None:
    """The error for an answer in the dialect that this one refines.

    Both use one path, and a server of the other dialect is not a server of this one.
    """
    refined = get(dialect).refines
    if refined is None or recognised_dialect(exchange) != refined.dialect:
        return None
    hint = f"--api {ENDPOINTS[dialect].api} judges it as {dialect} nevertheless"
    return NotOfferedError(f"{dialect}: the target answers as {refined.dialect}", hint=hint)


def refusal(exchange: Exchange, name: str, words: str, model: str) -> RemoteError | None:
    """The error for a missing or wrong key, or for a path or model that does not exist.

    `words` are the server's own, without secrets; `name` begins the message.
    """
    absent = not_offered(exchange, name)
    if absent and model and model in words:
        message = f"{name}: HTTP {status_of(exchange)}: {words}"
        return NotLetInError(message, hint="see --model")
    return not_let_in(exchange, name, words) or absent


def error_words(exchange: Exchange, reading: Reading) -> str:
    """Return the reason of a refusal, as its API states it; empty where it states none."""
    if exchange.dialect is None or not is_refusal(exchange):
        return ""
    errors = read_transcript(exchange, get(exchange.dialect), reading).errors
    words = str(errors[0].get("message") or "") if errors else ""
    return visible(words, _SHOWN)


def path_of(exchange: Exchange) -> str:
    """The path of the request, without secrets."""
    return visible(exchange.request.path.partition("?")[0]) if exchange.request else ""


def status_of(exchange: Exchange) -> int | None:
    return exchange.response.status if exchange.response else None
