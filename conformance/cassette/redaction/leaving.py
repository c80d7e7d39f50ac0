"""The one function that every text passes on its way out of the process.

A report, an error, a note, a line of a log or of a terminal: what it quotes is redacted whole, and
whoever shows only a part of it cuts afterwards (`core/excerpts.py`).
Rule 1: keys that the user gave, what our side sent in the current exchange, and what has a shape or
is under a telling name, are secrets. Opaque reasoning data is none: rules quote it.
Rule 2: equal secrets get equal stand-ins everywhere, as long as the process lives.
Rule 3: a shape is found in any spelling that `spellings` decodes.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Final

from conformance.cassette.redaction.own_keys import own_keys
from conformance.cassette.redaction.placeholders import Placeholders
from conformance.cassette.redaction.redact import Redactor, stated_model
from conformance.core.errors import CassetteError
from conformance.core.events import Request
from conformance.core.excerpts import sent_request

_Sent = tuple[tuple[tuple[str, str], ...], str, str | None]  # headers, path, model
_STAND_INS: Final = Placeholders()
_LONGEST_REMEMBERED: Final = 1 << 12
MOST_SHOWN: Final = 4  # characters in a row of a key


def redacted(text: str, *, is_open: bool = False) -> str:
    """The text without secrets; as many characters, and as many bytes, as before.

    With `is_open` it may end in the middle of one.
    """
    request = sent_request()
    sent = None if request is None else (request.headers, request.path, stated_model(request))
    if is_open:
        redactor = _redactor(own_keys(), sent)
        clean = redactor.text(text).encode("utf-8", "surrogatepass")
        return redactor.ending(clean, MOST_SHOWN + 1).decode("utf-8", "surrogatepass")
    cleaned = _remembered if len(text) <= _LONGEST_REMEMBERED else _clean_text
    return cleaned(text, own_keys(), sent)


def _clean_text(text: str, keys: tuple[str, ...], sent: _Sent | None) -> str:
    return _redactor(keys, sent).text(text)


_remembered: Final = lru_cache(maxsize=1 << 12)(_clean_text)  # streams give the same few reasons


@lru_cache(maxsize=16)
def _redactor(keys: tuple[str, ...], sent: _Sent | None) -> Redactor:
    del keys  # what a redactor is made with
    redactor = Redactor(opaque=False, placeholders=_STAND_INS)
    if sent is not None:
        headers, path, model = sent
        # What is too much to be remembered is refused by whoever records it.
        with suppress(CassetteError):
            redactor.learn_request(Request("POST", path, headers, {"model": model}))
    return redactor
