"""Conversations on disk: JSON lines, one turn each, thinking beside text and tool calls.

A line is written with one call and flushed to the disk. Where a crash tears the last line, the
next turn begins on a line of its own, and reading skips what is torn and says so.
The file is for its owner alone: it holds what people asked, and opaque data.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .likeness import Form
from .payload import decode
from .record import record_of, turn_of
from .turn import Turn

MOST_BYTES: Final = 64 * 1024 * 1024


class StoreError(Exception):
    """A store cannot be read or written; the message starts with its path."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a store holds; `torn` are the numbers, from 1, of lines that hold no turn."""

    turns: tuple[Turn, ...]
    torn: tuple[int, ...]


class Store:
    """One conversation in one file, made when the first turn is written, in any form."""

    def __init__(self, path: Path, form: Form = "whole") -> None:
        self._path = path
        self._form = form

    def read(self) -> Stored:
        """Everything that was written; nothing where there is no file yet. Raises StoreError."""
        try:
            if self._path.stat().st_size > MOST_BYTES:
                raise StoreError(f"{self._path}: longer than {MOST_BYTES} bytes")
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return Stored((), ())
        except OSError as err:
            raise StoreError(f"{self._path}: {err.strerror}") from err
        records = [decode(line.decode("utf-8", "replace")) if line else "" for line in lines]
        turns = tuple(turn_of(each) for each in records if isinstance(each, dict))
        torn = [
            at for at, each in enumerate(records, 1) if each != "" and not isinstance(each, dict)
        ]
        return Stored(turns, tuple(torn))

    def append(self, turns: Iterable[Turn]) -> None:
        """Write turns behind what is there. Raises StoreError."""
        lines = "".join(f"{json.dumps(record_of(turn, self._form))}\n" for turn in turns).encode()
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                _write(file, lines if _is_whole(file) else b"\n" + lines)
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as err:
            raise StoreError(f"{self._path}: {err.strerror}") from err


def _is_whole(file: int) -> bool:
    """Whether the file ends with a line end."""
    size = os.fstat(file).st_size
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
