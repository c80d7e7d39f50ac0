"""Values made of shipped YAML files when a wheel is built, or by make: they load ten times faster.

Rule 1: YAML is the source. A value counts only for the version of the package that made it, and
while the files it was made of hold the same bytes as then; else there is none, and YAML is read.
Rule 2: a wheel's file is as much a part of the package as its bytecode, and trusted as much: it
lies in the package's own folder.
Rule 3: in a checkout, code may change as well. There values also count only while the modules and
the Python that made them are the same, and the file must be this user's (`value_file.py`).
Rule 4: reading makes values of our own types and nothing else, and runs no other code.
"""

from __future__ import annotations

import io
import pickle  # rule 4
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from sys import intern
from typing import Any, Final

from msgspec import Struct

from conformance.core import shipped, value_file
from conformance.core.version import __version__

_PACKAGE_NAME: Final = __name__.partition(".")[0]
_PROTOCOL: Final = 5

_Source = tuple[str, bytes]  # a file's path below some folder, and the digest of its bytes
_Built = Mapping[tuple[str, str], tuple[tuple[_Source, ...], bytes]]
_Maker = tuple[str, str, tuple[_Source, ...]]  # package, Python, and modules where they may change


class SpecValue(Struct, frozen=True):
    """The value built from the shipped file at `path`, and from `others` that it refers to."""

    kind: str
    path: Path
    value: Any
    others: tuple[Path, ...] = ()


def write_values(file: Path, values: Iterable[SpecValue]) -> None:
    """Write values of shipped files to a file, which a wheel has next to its specs."""
    packed = pickle.dumps((_maker(()), _built_of(values)), _PROTOCOL)
    file.write_bytes(value_file.sealed(packed))


def write_checkout_values(values: Iterable[SpecValue]) -> None:
    """Write them for this checkout, whole or not at all. Raises OSError.

    Nothing is written where a file changed meanwhile: its value may be of what it held before.
    """
    file, folder, began = shipped.values_file(), shipped.specs(), time.time()
    file.unlink(missing_ok=True)  # nothing is built from what was built before
    built = _built_of(values)
    modules = _loaded_modules(folder.parent)  # those that made the values are among them by now
    used = [folder / name for sources, _ in built.values() for name, _ in sources]
    used += [folder.parent / name for name, _ in modules]
    if all(path.stat().st_mtime < began for path in used):
        packed = pickle.dumps((_maker(modules), built), _PROTOCOL)
        value_file.replace(file, value_file.sealed(packed))


def _built_of(values: Iterable[SpecValue]) -> _Built:
    folder = shipped.specs()
    return {
        (each.kind, _path_below(folder, each.path)): (
            tuple(_source_of(folder, path) for path in (each.path, *each.others)),
            _pickle_value(each.value, folder),
        )
        for each in values
    }


def built_value(kind: str, path: Path) -> Any | None:
    """The value that was built of a file; None where there is none, or where it no longer holds."""
    folder = shipped.specs()
    built = _read_values(folder)
    found = built.get((kind, _path_below(folder, path))) if built else None
    if found is None or not all(_still_holds(folder, source) for source in found[0]):
        return None
    return _Unpickler(found[1], folder).load()


@cache
def _read_values(folder: Path) -> _Built:
    in_checkout = not shipped.is_in_wheel(folder)
    packed = value_file.unsealed(shipped.values_file(), only_own=in_checkout)
    if packed is None:
        return {}
    try:
        maker, built = _Unpickler(packed, folder).load()
        as_now = maker == _maker(maker[2]) and bool(maker[2]) is in_checkout
        as_now &= all(_still_holds(folder.parent, module) for module in maker[2])
    except (pickle.UnpicklingError, EOFError, LookupError, TypeError, ValueError):
        return {}  # other code wrote it, in another layout
    return built if as_now else {}


def _maker(modules: tuple[_Source, ...]) -> _Maker:
    return __version__, sys.version if modules else "", modules


def _loaded_modules(root: Path) -> tuple[_Source, ...]:
    """The imported modules of this package that are in its own folder."""
    loaded = (module.__file__ for name, module in sys.modules.items() if _is_own(name))
    files = sorted({Path(file) for file in loaded if file})
    return tuple(_source_of(root, file) for file in files if file.is_relative_to(root))


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == _PACKAGE_NAME


def _path_below(folder: Path, path: Path) -> str:
    return path.as_posix().removeprefix(f"{folder.as_posix()}/")


def _source_of(folder: Path, path: Path) -> _Source:
    return _path_below(folder, path), _digest_of(str(path))


def _still_holds(folder: Path, source: _Source) -> bool:
    try:
        return _digest_of(f"{folder}/{source[0]}") == source[1]
    except OSError:
        return False


def _digest_of(path: str) -> bytes:
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123  # hundreds of files at each start
        return sha256(stream.read()).digest()


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

    def find_class(self, module: str, name: str) -> Any:
        return _value_type(module, name)


@cache
def _value_type(module: str, name: str) -> type:
    """A class of this package that holds values, not one that a module imports from elsewhere."""
    found = getattr(import_module(module), name, None) if _is_own(module) else None
    if isinstance(found, type) and _is_own(found.__module__) and _holds_values(found):
        return found
    raise pickle.UnpicklingError(f"{module}.{name} is no type of values")


def _holds_values(found: type) -> bool:
    return is_dataclass(found) or issubclass(found, Struct | Enum)
