"""Which model to ask for, where the user does not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from conformance.core.errors import RemoteError, UsageError
from conformance.core.events import Exchange, Request
from conformance.core.excerpts import beginning
from conformance.core.json_values import decode_json
from conformance.dialects import SUPPORTED, get
from conformance.dialects.base import Reading
from conformance.runs.refusals import elsewhere, error_words, not_let_in, path_of, status_of
from conformance.targets.server import LiveServer

_OK: Final = 200
_SHOWN: Final = 5
_SHOWN_LENGTH: Final = 80
_HINT: Final = "name one with --model"


async def only_model(
    server: LiveServer,
    secrets: Mapping[str, Mapping[str, str]],
    dialects: Sequence[str] = (),
    *,
    unlisted: str = "",
) -> str:
    """The one model that the server lists, in any of the dialects (default: all).

    `unlisted` is the one where it lists none, as many gateways do. Raises UsageError where there is
    none else, or several, RemoteError where no list comes to its end, and where no API answers.
    """
    names, answers = await _ask_for_names(server, secrets, dialects or tuple(SUPPORTED))
    if len(names) == 1:
        return names[0]
    if not names and unlisted:
        return unlisted
    if not names:
        _refuse_answers(server, answers)
        failed = [each for each in answers.values() if status_of(each) != _OK]
        statuses = (f"HTTP {status_of(each)} at {path_of(each)}" for each in failed)
        reason = ", ".join(dict.fromkeys(statuses))
        raise UsageError(f"{server.url} lists no model{reason and ': '}{reason}", hint=_HINT)
    shown = ", ".join(beginning(name, _SHOWN_LENGTH, "") for name in names[:_SHOWN])
    if names[_SHOWN:]:
        shown = f"{len(names):,} models: {shown}, ..."
    raise UsageError(f"{server.url} lists {shown}", hint=_HINT)


def _refuse_answers(server: LiveServer, answers: Mapping[str, Exchange]) -> None:
    """Raises RemoteError where the answers show why there is no list: no key, or no API at all."""
    url = str(server.url)
    for exchange in answers.values():
        if error := not_let_in(exchange, url, error_words(exchange, Reading())):
            raise error
    for exchange in answers.values():
        if strayed := elsewhere(exchange, url):
            raise strayed


async def _ask_for_names(
    server: LiveServer, secrets: Mapping[str, Mapping[str, str]], dialects: Sequence[str]
) -> tuple[list[str], dict[str, Exchange]]:
    """The names of the first list that has any, and else what came instead, by path."""
    answers: dict[str, Exchange] = {}
    fault = ""
    for dialect in dialects:
        listing = get(dialect).models
        if listing is None or listing.path in answers:
            continue
        fetched = await server.fetch(Request("GET", listing.path), secrets.get(dialect))
        # An answer that broke off is not a list, however much it looks like one.
        body = b"" if fetched.fault else fetched.exchange.body
        if names := listing.names(decode_json(body.decode("utf-8", "replace"))):
            return names, answers
        answers[listing.path] = replace(fetched.exchange, dialect=dialect)
        fault = fault or fetched.fault
    if fault:
        raise RemoteError(f"{server.url} broke off its list of models: {fault}", hint=_HINT)
    return [], answers
