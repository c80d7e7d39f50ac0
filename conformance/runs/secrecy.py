"""The run's own keys, and all that looks like one, taken out of lines for people."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.cassette import Redactor
from conformance.cassette.redaction.own_keys import remember_keys


class Secrecy:
    """Takes keys out of lines. `secrets` are headers with credentials, by dialect.

    No text that leaves this process will hold them from now on.
    """

    def __init__(self, secrets: Mapping[str, Mapping[str, str]]) -> None:
        remember_keys(value for headers in secrets.values() for value in headers.values())
        self._redactor = Redactor(opaque=False)

    def clean_line(self, text: str) -> str:
        """A line for people."""
        return self._redactor.text(text)
