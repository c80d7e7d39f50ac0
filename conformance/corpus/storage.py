"""Where a source lies: a local path, or what `pyarrow.fs` or fsspec opens (`s3://`, `gs://`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from conformance.cassette.search import MUTANTS
from conformance.core.errors import CassetteError, Place, UsageError
from conformance.corpus.arrow import load_module

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_USER: Final = re.compile(r"://[^/@]*@")
ABOUT: Final = "corpus.json"
"""The file by which an output folder is known."""
_HIDDEN: Final = ("_", ".")  # marks of engines (`_SUCCESS`) and unfinished files
_BLOCK: Final = 1 << 20  # bytes
_NOT_UTF8: Final = "cannot be read: the name of a file is not UTF-8"


class StoredFile(NamedTuple):
    """A file of a source: its path from the root, its size in bytes, when it was changed (ns).

    Where the root is a file, the path is its name.
    """

    path: str
    size: int
    changed: int

    @property
    def name(self) -> str:
        """Its last part, in lower case."""
        return self.path.rpartition("/")[2].lower()


class Storage:
    """The root of a source. Raises UsageError where it is not there or cannot be opened."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.is_local = not _SCHEME.match(source)
        self.filesystem, self.root = _open_filesystem(source, is_local=self.is_local)
        try:
            self._info = self.filesystem.get_file_info(self.root)
        except UnicodeError as err:
            raise self.error(_NOT_UTF8) from err
        except OSError as err:
            raise self.error(f"cannot be read: {reason_of(err)}") from err
        if self._info.type.name == "NotFound":
            raise self.error("no such file or folder")

    def error(self, message: str, path: str = "") -> UsageError:
        return UsageError(message, place=Place(self.shown(path)))

    def shown(self, path: str = "") -> str:
        """A path below the root, as a reader knows it; without a user's name and password."""
        source = _without_secrets(self.source)
        return source if not path or self.is_file else f"{source.rstrip('/')}/{path}"

    @property
    def is_file(self) -> bool:
        return bool(self._info.type.name == "File")

    def files(self) -> Iterator[StoredFile]:
        """Every file, folder by folder, sorted within each; one folder's names at a time."""
        if self.is_file:
            yield _as_stored_file(self._info, self.root.rpartition("/")[2])
        else:
            yield from self._files_below("")

    def _files_below(self, folder: str) -> Iterator[StoredFile]:
        where = f"{self.root}/{folder}".rstrip("/")
        selector = load_module("pyarrow.fs").FileSelector(where)
        try:
            found = self.filesystem.get_file_info(selector)
            found.sort(key=lambda each: str(each.base_name))
        except UnicodeError as err:
            raise self.error(_NOT_UTF8, folder) from err
        except OSError as err:
            raise self.error(f"cannot be read: {reason_of(err)}", folder) from err
        if folder and any(info.base_name == ABOUT for info in found):
            return  # what an earlier check wrote
        for info in found:
            path = f"{folder}/{info.base_name}".lstrip("/")
            if info.base_name.startswith(_HIDDEN):
                continue
            if info.type.name == "File":
                yield _as_stored_file(info, path)
            elif info.type.name == "Directory" and info.base_name != MUTANTS:
                yield from self._files_below(path)

    def full_path(self, path: str) -> str:
        return self.root if self.is_file else f"{self.root}/{path}"

    def open_file(self, path: str) -> Any:
        """The file, to be read anywhere. Raises CassetteError."""
        try:
            return self.filesystem.open_input_file(self.full_path(path))
        except OSError as err:
            raise CassetteError(
                f"cannot be read: {reason_of(err)}", place=Place(self.shown(path))
            ) from err

    @contextmanager
    def local_copy(self, path: str, most: int | None = None) -> Iterator[Path]:
        """The file as one on this machine; a remote one is fetched, and gone afterwards.

        With `most`, only so many bytes of a remote one.
        """
        if self.is_local:
            yield Path(self.full_path(path))
            return
        with TemporaryDirectory() as folder:
            copy = Path(folder) / path.rpartition("/")[2]
            with self.open_file(path) as stored, copy.open("wb") as local:
                while most is None and (block := stored.read(_BLOCK)):
                    local.write(block)
                if most is not None:
                    local.write(stored.read(most))
            yield copy


def _without_secrets(source: str) -> str:
    """A URL without a user's name and password, and without its parameters."""
    return _USER.sub("://", source.partition("?")[0])


def absolute_source(source: str) -> str:
    """The source as a worker in another folder finds it."""
    return source if _SCHEME.match(source) else str(Path(source).absolute())


def reason_of(error: OSError) -> str:
    """What the system says, in one line."""
    return (error.strerror or str(error).partition("\n")[0] or type(error).__name__).lower()


def _as_stored_file(info: Any, path: str) -> StoredFile:
    return StoredFile(path, int(info.size or 0), int(info.mtime_ns or 0))


def _open_filesystem(source: str, *, is_local: bool) -> tuple[Any, str]:
    """The filesystem, and the root on it."""
    arrow = load_module("pyarrow")
    systems = load_module("pyarrow.fs")
    if is_local:
        return systems.LocalFileSystem(), str(Path(source).absolute())
    place = Place(_without_secrets(source))
    try:
        filesystem, root = systems.FileSystem.from_uri(source)
    except arrow.ArrowInvalid:
        return _by_fsspec(source, place)
    except OSError as err:
        raise UsageError(f"cannot be opened: {reason_of(err)}", place=place) from err
    return filesystem, str(root).rstrip("/")


def _by_fsspec(source: str, place: Place) -> tuple[Any, str]:
    systems = load_module("pyarrow.fs")
    try:
        filesystem, root = load_module("fsspec").core.url_to_fs(source)
    except (ImportError, ValueError, OSError) as err:
        raise UsageError(f"cannot be opened: {err}", place=place) from err
    handler = systems.FSSpecHandler(filesystem)
    return systems.PyFileSystem(handler), str(root).rstrip("/")
