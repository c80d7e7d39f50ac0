"""What our side sends as a secret, and how it is written where it comes back.

A value of a header is split into its parts; each is looked for as itself, in hexadecimal and in
the three alignments of base64.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from conformance.cassette.redaction.key_likeness import is_key_like
from conformance.cassette.redaction.placeholders import is_stand_in

SHORTEST: Final = 8
"""Characters of the shortest text that is a secret without being a key that the user named."""

_PART: Final = re.compile(r"[^\s;,\"]+")
_NAMED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)=\"?(?!=*\Z)(.+)")
_BASIC: Final = re.compile(r"basic\s+([A-Za-z0-9+/_-]+={0,2})\s*\Z", re.IGNORECASE)
# Request headers that say how a client is built or where it is, and hold no secret.
_HARMLESS: Final = re.compile(
    r"accept-.*|content-.*|dnt|expect|forwarded|from|host|if-.*|origin|priority|range|referer|sec-.*"
    r"|te|trailer|upgrade.*|x-forwarded-.*|x-real-ip|x-stainless-.*|anthropic-dangerous-.*"
)
# Names of the protocols themselves: replaced, they would make another stream.
_WORD: Final = re.compile(
    r"(?:api|apikey|application|assistant|basic|bearer|digest|key|choices|completions?|content|delta|encrypted|error|event|finish|format"
    r"|function|messages?|model|object|output|reasoning|redacted|response|role|signature|status|stop"
    r"|stream(?:ing)?|summary|text|think(?:ing)?|tokens?|tools?|type|usage|index|name|input|item|part"
    r"|call|calls|reason|json|block|start|done|added|created|completed|arguments|keep|alive|true"
    r"|false|null|chat|chunk|user|system|developer|details|id|[<>/_.\-])+"
)


def is_harmless(name: str) -> bool:
    """Whether a request header of this name says how a client is built, and holds no secret."""
    return bool(_HARMLESS.fullmatch(name.lower()))


def parts_of(value: str) -> Iterator[str]:
    """The values in a header's value, and the user and password that Basic encodes."""
    for part in _PART.findall(value):
        named = _NAMED.fullmatch(part)
        if named is None:
            yield part
        else:
            yield from (named[1],) if is_key_like(named[1]) else ()
            yield named[2]
    basic = _BASIC.search(value)
    if basic is not None:
        try:
            pair = base64.b64decode(basic[1] + "==", altchars=b"-_").decode()
        except (binascii.Error, UnicodeDecodeError):
            return
        yield pair
        yield pair.partition(":")[2]


@lru_cache(maxsize=1024)
def is_common_text(part: str) -> bool:
    """Whether it is a stand-in, or made of words that every stream has."""
    return is_stand_in(part) or part == "[redacted]" or bool(_WORD.fullmatch(part.lower()))


def forms_of(raw: bytes) -> Iterator[bytes]:
    """How these bytes may be written, escapes apart."""
    yield raw
    if len(raw) < SHORTEST:
        return
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    for before in range(3):
        coded = base64.b64encode(bytes(before) + raw)
        # Characters that bytes before or after have a part in are not known.
        rest = (before + len(raw)) % 3
        inner = coded[(0, 2, 3)[before] : len(coded) - (4 if rest else 0)]
        inner += coded[-4:][:rest]
        yield from dict.fromkeys((inner, inner.translate(bytes.maketrans(b"+/", b"-_"))))
