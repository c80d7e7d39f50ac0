"""The file that a cassette is written to: whole or not at all, or line by line as it happens.

Nothing is written that no reader takes: lines, their number and the whole have the reader's caps.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, Self

from conformance.cassette.source import MAX_BYTES, MAX_LINE, MAX_LINES
from conformance.core.errors import CassetteError, Place
from conformance.core.new_files import create_file

# Legal in JSON, but they break lines, reorder or hide text in editors and terminals.
_UNFIT: Final = re.compile("[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")

_LONG_KINDS: Final = frozenset({"request", "response", "seen", "cassette", "end", "redactions"})
# `json.dumps` makes an encoder for each call.
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class TargetFile:
    """A file next to `path` that takes its place when it is closed; a context manager.

    With `append` it is `path` itself, which must not be there, and a crash leaves what was flushed.
    Who may read it says `core.new_files`.
    Raises CassetteError wherever the file cannot be written, or could not be read again.
    """

    def __init__(self, path: Path, *, append: bool = False) -> None:
        self._path = path
        self._append = append
        self._size = self._lines = 0
        name = f".{path.name}.{secrets.token_hex(4)}"
        self._target = path if append else path.with_name(name)
        self._stream = self._open_target()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not self._append:
            self.discard()
        else:
            self.close()

    def put(self, data: bytes, lines: int = 1) -> None:
        """Writes lines. Raises CassetteError where they cannot be, or could not be read again."""
        self._size += len(data)
        self._lines += lines
        if self._size > MAX_BYTES or self._lines > MAX_LINES:
            most = f"{MAX_BYTES:,} bytes and {MAX_LINES:,} lines"
            raise CassetteError(f"it would have more than {most}", place=Place(str(self._path)))
        with self._as_cassette_errors():
            self._stream.write(data)

    def flush(self) -> None:
        """What a recorder wrote so far is safe from its crash."""
        if self._append:
            with self._as_cassette_errors():
                self._stream.flush()

    def close(self) -> None:
        """The file is complete; a second call does nothing."""
        if self._stream.closed:
            return
        try:
            with self._as_cassette_errors():
                self._stream.close()
                if not self._append:
                    with self._target.open("rb+") as written:
                        os.fsync(written.fileno())
                    self._target.replace(self._path)
        except CassetteError:
            if not self._append:
                self.discard()
            raise

    def discard(self) -> None:
        """Nothing is left of it."""
        with suppress(OSError):  # on a full disk nothing is left to be flushed
            self._stream.close()
        self._target.unlink(missing_ok=True)

    @contextmanager
    def _as_cassette_errors(self) -> Iterator[None]:
        """Reports a full disk as an error of the file, not of the toolkit."""
        try:
            yield
        except OSError as err:
            reason = (err.strerror or str(err)).lower()
            place = Place(str(self._path))
            raise CassetteError(f"cannot be written: {reason}", place=place) from err

    def _open_target(self) -> IO[bytes] | gzip.GzipFile:
        place = Place(str(self._path))
        suffix = self._path.suffix.lower()
        if suffix == ".zst":
            raise CassetteError("expected a plain or .gz target, got .zst", place=place)
        try:
            replaced = None if self._append else self._path
            plain = create_file(self._target, in_place_of=replaced, exclusive=True)
        except OSError as err:
            reason = (err.strerror or str(err)).lower()
            raise CassetteError(f"cannot be written: {reason}", place=place) from err
        return _GzipFile(plain) if suffix == ".gz" else plain


class _GzipFile(gzip.GzipFile):
    """A gzip stream that closes the file below it; equal content gives equal files."""

    def __init__(self, plain: IO[bytes]) -> None:
        # No name and no time inside.
        super().__init__(filename="", mode="wb", fileobj=plain, mtime=0)
        self._plain = plain

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._plain.close()


def encode_line(fields: Mapping[str, Any], file: str) -> bytes:
    """The line that holds these fields. Raises CassetteError for one that no reader takes."""
    try:
        text = _JSON.encode(fields)
        fit = text.isascii() and "\x7f" not in text
        line = (text if fit else _UNFIT.sub(_escape_character, text)).encode() + b"\n"
    except (ValueError, TypeError, RecursionError) as err:
        kinds = "/".join(sorted(set(fields)))
        message = f"cannot be written as JSON ({kinds}): {err}"
        raise CassetteError(message, place=Place(file)) from err
    if len(line) > MAX_LINE:
        kinds = "/".join(sorted(set(fields) & _LONG_KINDS))
        message = f"a line of more than {MAX_LINE:,} bytes ({kinds}) is none that can be read"
        raise CassetteError(message, place=Place(file))
    return line


def _escape_character(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
