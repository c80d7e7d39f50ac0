"""Values made of shipped YAML files when the wheel was built: they load in a tenth of the time.

Rule 1: YAML is the source. A value counts only for the version of the package that made it, and
while the files it was made of hold the same bytes as then; else there is none, and YAML is read.
Rule 2: a checkout has no such values: its YAML files may change at any time.
Rule 3: the file is as much a part of the package as its bytecode, and trusted as much. It lies in
the package's own folder, and nothing else is unpickled.
"""

from __future__ import annotations

import io
import pickle  # rule 3
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from sys import intern
from typing import Any, Final

from msgspec import Struct

from conformance.core.shipped import specs
from conformance.core.version import __version__

FILE_NAME: Final = "built_values.pickle"
_PROTOCOL: Final = 5

_Source = tuple[str, int, int]  # a file's path below the specs, its size and its checksum
_Built = Mapping[tuple[str, str], tuple[tuple[_Source, ...], bytes]]


class SpecValue(Struct, frozen=True):
    """The value built from the shipped file at `path`, and from `others` that it refers to."""

    kind: str
    path: Path
    value: Any
    others: tuple[Path, ...] = ()


def write_values(file: Path, values: Iterable[SpecValue]) -> None:
    """Write values of shipped files to a file; `built_value` finds it next to the specs."""
    folder = specs()
    built: _Built = {
        (each.kind, _path_below(folder, each.path)): (
            tuple(_source_of(folder, path) for path in (each.path, *each.others)),
            _pickle_value(each.value, folder),
        )
        for each in values
    }
    file.write_bytes(pickle.dumps((__version__, built), _PROTOCOL))


def built_value(kind: str, path: Path) -> Any | None:
    """The value that was built of a file; None where there is none, or where it no longer holds."""
    folder = specs()
    built = _read_values(folder)
    found = built.get((kind, _path_below(folder, path))) if built else None
    if found is None or not all(_still_holds(folder, source) for source in found[0]):
        return None
    return _Unpickler(found[1], folder).load()


@cache
def _read_values(folder: Path) -> _Built:
    try:
        version, built = pickle.loads(folder.with_name(FILE_NAME).read_bytes())  # noqa: S301  # rule 3
    except FileNotFoundError:
        return {}
    return built if version == __version__ else {}


def _path_below(folder: Path, path: Path) -> str:
    return path.as_posix().removeprefix(f"{folder.as_posix()}/")


def _source_of(folder: Path, path: Path) -> _Source:
    data = path.read_bytes()
    # An attacker who can change the file can change the values: the checksum catches mistakes only.
    return _path_below(folder, path), len(data), zlib.crc32(data)


def _still_holds(folder: Path, source: _Source) -> bool:
    try:
        return _source_of(folder, folder / source[0]) == source
    except OSError:
        return False


def _pickle_value(value: Any, folder: Path) -> bytes:
    stream = io.BytesIO()
    _Pickler(stream, folder).dump(value)
    return stream.getvalue()


class _Pickler(pickle.Pickler):
    """Names files by their path below the folder of specs: it lies elsewhere once installed."""

    def __init__(self, stream: io.BytesIO, folder: Path) -> None:
        super().__init__(stream, _PROTOCOL)
        self._below = f"{folder}/"

    def persistent_id(self, value: Any) -> str | None:
        is_file = isinstance(value, str) and value.startswith(self._below)
        return value.removeprefix(self._below) if is_file else None

    def reducer_override(self, value: Any) -> Any:
        # Called with its fields, a frozen dataclass loads in half the time of its own reduction.
        if not is_dataclass(value) or isinstance(value, type):
            return NotImplemented
        return type(value), tuple(getattr(value, each.name) for each in fields(value))


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, folder: Path) -> None:
        super().__init__(io.BytesIO(data))
        self._below = f"{folder}/"

    def persistent_load(self, name: str) -> str:
        return intern(self._below + name)
