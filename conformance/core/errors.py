"""Errors whose type says whose fault it is.

A finding about the implementation under test is a value, never an exception. What is raised:

`SpecError`      a rule, profile or scenario file is wrong: the author of the YAML fixes it.
`CassetteError`  a recording cannot be read: the maker of the file fixes it.
`UsageError`     the call names something that does not exist or does not fit.
`HarnessError`   our own fault, or an adapter's: never blamed on the implementation under test.
`AdapterError`   a `HarnessError`: an adapter broke the protocol; its author fixes it.
`RemoteError`    the implementation under test could not be reached, refused, or went silent.

Every message is one line that starts with the place if it is known:
`file:line:column: what was expected, what came`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file with 1-based line and column, or a byte offset (0-based)."""

    file: str
    line: int | None = None
    column: int | None = None
    byte: int | None = None

    def __str__(self) -> str:
        numbers = [str(n) for n in (self.line, self.column) if n is not None]
        place = ":".join([self.file, *numbers])
        return place if self.byte is None else f"{place} (byte {self.byte})"


class ConformanceError(Exception):
    """Base of everything the toolkit raises on purpose."""

    def __init__(
        self, message: str, *, place: Place | None = None, text: str = "", hint: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.text = text  # the offending line, as it is in the file
        self.hint = hint

    def __str__(self) -> str:
        line = f"{self.place}: {self.message}" if self.place else self.message
        return f"{line} ({self.hint})" if self.hint else line


class SpecError(ConformanceError):
    """A rule, profile, scenario or baseline file is wrong."""


class CassetteError(ConformanceError):
    """A recording cannot be read."""


class UsageError(ConformanceError):
    """The call names something that does not exist or does not fit together."""


class HarnessError(ConformanceError):
    """The toolkit or an adapter failed; says nothing about the implementation under test."""


class AdapterError(HarnessError):
    """An adapter wrote a line that does not belong to the protocol."""


class RemoteError(ConformanceError):
    """The implementation under test could not be reached, refused, or went silent."""
