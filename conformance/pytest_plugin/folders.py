"""Where the recordings of a test lie, and how new ones take their place.

Rule 1: a test has its own folder, `cassettes/<module>/<test>/`, so that processes of
a parallel run never write the same file.
Rule 2: new recordings are written in a folder next to it and moved when they are complete.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.cassette import discover, read, write
from conformance.cassette.recording import is_named_recording
from conformance.core.errors import CassetteError, Place
from conformance.core.events import Exchange
from conformance.targets.replay.matching import ExchangeIndex
from conformance.targets.replay.options import ReplayOptions
from conformance.targets.replay.tape import load_exchanges
from conformance.wire.requests import HttpRequest, sent_body

_UNFIT: Final = re.compile(r"[^A-Za-z0-9_.,=+-]+")
_LONGEST: Final = 80
_DIGEST: Final = 8
_SUFFIX: Final = ".cassette.jsonl"
_NUMBER: Final = re.compile(r"^\d{4,9}-")


def folder_name(test: str) -> str:
    """A test's name as the name of a folder: `test_x[a/b]` is `test_x-a-b-<digest>`.

    Whatever had to be changed or shortened gets a digest, so that no two tests share a folder.
    """
    plain = _UNFIT.sub("-", test).strip("-.") or "test"
    if plain == test and len(plain) <= _LONGEST:
        return plain
    digest = hashlib.sha256(test.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{plain[: _LONGEST - _DIGEST - 1]}-{digest}"


class CassetteFolder(Struct, frozen=True):
    """The folder of one test. It need not exist."""

    path: Path

    def files(self) -> tuple[Path, ...]:
        """Its recordings, sorted, known by their names alone, for here files are deleted."""
        found = discover(self.path) if self.path.is_dir() else ()
        return tuple(path for path in found if is_named_recording(path))

    @contextmanager
    def temporary_sibling(self) -> Iterator[Path]:
        """An empty folder for new recordings, on the same disk; it is gone afterwards."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            made = Path(tempfile.mkdtemp(prefix=f".{self.path.name}-", dir=self.path.parent))
        except OSError as err:
            reason = (err.strerror or str(err)).lower()
            raise CassetteError(
                f"cannot be written: {reason}", place=Place(str(self.path))
            ) from err
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def add(self, fresh: Path) -> tuple[Path, ...]:
        """Moves new recordings in, after those that are there."""
        moved = []
        for path in sorted(fresh.glob(f"*{_SUFFIX}")):
            self.path.mkdir(parents=True, exist_ok=True)
            moved.append(path.replace(self.path / self._next_name(path.name)))
        return tuple(moved)

    def clear(self) -> None:
        """Takes away all recordings."""
        for path in self.files():
            path.unlink()

    def drop_recorded_again(self, fresh: Path, options: ReplayOptions) -> None:
        """Takes away exchanges that the new recordings in `fresh` hold anew."""
        again = discover(fresh)
        if not again:
            return
        index = ExchangeIndex(load_exchanges(again), options)
        for path in self.files():
            if not path.name.endswith(_SUFFIX):
                continue
            kept = [each for each in read(path).exchanges if not _holds_request(index, each)]
            _keep_exchanges(path, kept)

    def _next_name(self, name: str) -> str:
        taken = [found[0] for each in self.files() if (found := _NUMBER.match(each.name))]
        highest = max((int(number.rstrip("-")) for number in taken), default=0)
        return f"{highest + 1:04}-{_NUMBER.sub('', name)}"


def _holds_request(index: ExchangeIndex, exchange: Exchange) -> bool:
    """Whether the recorded request, sent again, has an answer here."""
    request = exchange.request
    if request is None:
        return False
    body = sent_body(request)
    wanted = HttpRequest(request.method, request.path, request.headers, body)
    return bool(index.matching_numbers(index.request_key(wanted, request.path)))


def _keep_exchanges(path: Path, kept: Sequence[Exchange]) -> None:
    cassette = read(path)
    if len(kept) == len(cassette.exchanges):
        return
    if not kept:
        path.unlink()
        return
    numbers = {each.number for each in kept}
    loose = (each if each.after in numbers else replace(each, after=None) for each in kept)
    write(path, replace(cassette, exchanges=tuple(loose)))
