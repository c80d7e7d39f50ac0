"""Sealed reasoning: text that only the server that wrote it can read back, and nobody can alter.

It serves `encrypted_content`, `signature` and `redacted_thinking`: opaque data that a client has
to carry unmodified. The key is made at start unless one is given, so seals die with the process.

The construction is encrypt-then-MAC from the standard library alone: BLAKE2b keyed per purpose,
in counter mode as the keystream, and as the tag. It keeps a demonstration honest; it has had no
review, so do not guard secrets with it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import Final

_NONCE: Final = 16
_TAG: Final = 16
_BLOCK: Final = 64


class BrokenSeal(ValueError):  # noqa: N818 - names the fact
    """The data was altered, cut, or sealed by somebody else."""


class Seal:
    """Seals texts for one purpose. Data sealed for another purpose does not open."""

    def __init__(self, key: bytes, purpose: str) -> None:
        derived = hashlib.blake2b(purpose.encode(), key=key, digest_size=64).digest()
        self._stream_key, self._tag_key = derived[:32], derived[32:]

    def seal(self, text: str) -> str:
        """Opaque URL-safe characters; another seal each time."""
        nonce = secrets.token_bytes(_NONCE)
        hidden = self._mixed(text.encode(), nonce)
        return base64.urlsafe_b64encode(nonce + hidden + self._tag(nonce + hidden)).decode()

    def open(self, data: str) -> str:
        """The text that was sealed. Raises BrokenSeal."""
        try:
            raw = base64.b64decode(data.encode("ascii"), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError) as err:
            raise BrokenSeal("not the characters of a seal") from err
        # Base64 has spellings that decode alike; a seal has one.
        if base64.urlsafe_b64encode(raw).decode() != data:
            raise BrokenSeal("not spelt as it was sealed")
        body, tag = raw[:-_TAG], raw[-_TAG:]
        if len(body) < _NONCE or not hmac.compare_digest(tag, self._tag(body)):
            raise BrokenSeal("the seal does not fit the data")
        return self._mixed(body[_NONCE:], body[:_NONCE]).decode()

    def _tag(self, body: bytes) -> bytes:
        return hashlib.blake2b(body, key=self._tag_key, digest_size=_TAG).digest()

    def _mixed(self, data: bytes, nonce: bytes) -> bytes:
        blocks = range(0, len(data), _BLOCK)
        stream = b"".join(self._block(nonce, at // _BLOCK) for at in blocks)[: len(data)]
        mixed = int.from_bytes(data) ^ int.from_bytes(stream)
        return mixed.to_bytes(len(data))

    def _block(self, nonce: bytes, number: int) -> bytes:
        return hashlib.blake2b(
            nonce + number.to_bytes(8), key=self._stream_key, digest_size=_BLOCK
        ).digest()
