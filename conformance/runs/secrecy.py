"""The run's own keys, taken out of whatever a server echoes.

The redaction of cassettes knows keys by their published shapes; a key of any other shape is known
only to who sends it. Its stand-in is as long, so that chunks keep their lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from conformance.cassette import Redactor
from conformance.core.events import Chunk, Exchange, Response

_LEAST: Final = 6  # characters; what is shorter stands in texts by chance


class Secrecy:
    """Takes keys out of exchanges and lines. `secrets` are headers with credentials, by dialect."""

    def __init__(self, secrets: Mapping[str, Mapping[str, str]]) -> None:
        values = {v for headers in secrets.values() for v in headers.values()}
        keys = {value.removeprefix("Bearer ") for value in values}
        self._keys = sorted((key for key in keys if len(key) >= _LEAST), key=len, reverse=True)
        self._redactor = Redactor(opaque=False)

    def clean_line(self, text: str) -> str:
        """A line for people, also without keys of known shapes."""
        return self._redactor.text(self._mask_keys(text))

    def clean_exchange(self, exchange: Exchange) -> Exchange:
        """The exchange without the run's own keys."""
        if not self._keys:
            return exchange
        response = exchange.response
        return replace(
            exchange,
            response=response and self._clean_response(response),
            chunks=self._clean_chunks(exchange.chunks),
        )

    def _clean_response(self, response: Response) -> Response:
        headers = tuple((name, self._mask_keys(value)) for name, value in response.headers)
        return replace(response, headers=headers)

    def _clean_chunks(self, chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
        """As one text, so that a key that came in two chunks is found."""
        whole = tuple(chunks)
        body = b"".join(chunk.data for chunk in whole)
        clean = body
        for key in self._keys:
            clean = clean.replace(key.encode(), b"*" * len(key.encode()))
        if clean == body:
            return whole
        cut: list[Chunk] = []
        at = 0
        for chunk in whole:
            cut.append(Chunk(clean[at : at + len(chunk.data)], chunk.ms))
            at += len(chunk.data)
        return tuple(cut)

    def _mask_keys(self, text: str) -> str:
        for key in self._keys:
            text = text.replace(key, "*" * len(key))
        return text
