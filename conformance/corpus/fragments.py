"""Fragments of a source, each judged by one worker: their places, never their content.

Rule 1: a Parquet file is split into its row groups, JSON lines into ranges of bytes, folders of
recordings into some files each; a file that is compressed as a whole is one fragment.
Rule 2: the fragments depend on the source alone, and each has a unique name.
Rule 3: fragments are found in sequence: work on the first begins before the last is known.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from conformance.cassette.recording import holds_recording, is_named_recording
from conformance.core.errors import CassetteError, ConformanceError, Place
from conformance.corpus.arrow import load_module
from conformance.corpus.columns import ColumnNames
from conformance.corpus.json_rows import holds_rows, is_compressed, is_json_rows
from conformance.corpus.storage import Storage, StoredFile

FragmentKind = Literal["parquet", "json", "files"]

RANGE_BYTES: Final = 32 << 20  # of JSON lines
FILES_BYTES: Final = 16 << 20
FILES_MOST: Final = 1000
PARQUET: Final = (".parquet", ".pq")
_BEGINNING: Final = 1 << 16  # bytes by which a remote file is known
_UNFIT: Final = re.compile(r"[^A-Za-z0-9.=-]+")
_STEM: Final = 80  # characters


class Fragment(Struct, frozen=True):
    """A part of a source. `part` is the row group, or the first byte; `size` is in bytes.

    `files` are the paths of recordings, from the root; `path` is the first of them. `stamp` shows
    whether the source changed. `fault` says why it cannot be read, empty where it can.
    """

    kind: FragmentKind
    path: str
    part: int = 0
    size: int = 0
    files: tuple[str, ...] = ()
    stamp: str = ""
    fault: str = ""

    @property
    def name(self) -> str:
        """A name that no other fragment of the source has, fit for a file."""
        described = "\n".join((self.kind, self.path, str(self.part), *self.files))
        digest = hashlib.blake2b(
            described.encode("utf-8", "surrogateescape"), digest_size=6
        ).hexdigest()
        stem = _UNFIT.sub("-", self.path)[-_STEM:].strip("-.")
        return f"{stem}-{self.part}-{digest}"


def find_fragments(storage: Storage, columns: ColumnNames) -> Iterator[Fragment]:
    """The fragments of a source, in its order. Raises UsageError where a folder cannot be read."""
    pending: list[StoredFile] = []
    for file in storage.files():
        found = list(_row_fragments(storage, file, columns))
        if not found and (storage.is_file or _is_stream_file(storage, file)):
            pending.append(file)
            if len(pending) >= FILES_MOST or sum(each.size for each in pending) >= FILES_BYTES:
                yield _of_files(pending)
                pending = []
        elif found:
            yield from found
    if pending:
        yield _of_files(pending)


def _row_fragments(storage: Storage, file: StoredFile, columns: ColumnNames) -> Iterator[Fragment]:
    """The fragments of a file of rows; none for other files."""
    name = file.name
    stamp = f"{file.size} {file.changed}"
    if name.endswith(PARQUET):
        yield from _row_groups(storage, file, stamp)
        return
    try:
        if not is_json_rows(name) or not holds_rows(storage, file.path, columns):
            return
    except CassetteError as err:
        yield Fragment("json", file.path, 0, file.size, stamp=stamp, fault=err.message)
        return
    if is_compressed(name):
        yield Fragment("json", file.path, 0, file.size, stamp=stamp)
        return
    for first in range(0, max(file.size, 1), RANGE_BYTES):
        size = min(RANGE_BYTES, file.size - first)
        yield Fragment("json", file.path, first, size, stamp=stamp)


def _row_groups(storage: Storage, file: StoredFile, stamp: str) -> Iterator[Fragment]:
    try:
        parquet = open_parquet(storage, file.path)
    except CassetteError as err:
        yield Fragment("parquet", file.path, 0, file.size, stamp=stamp, fault=err.message)
        return
    with parquet:
        for group in range(parquet.metadata.num_row_groups):
            size = parquet.metadata.row_group(group).total_byte_size
            yield Fragment("parquet", file.path, group, size, stamp=stamp)


def open_parquet(storage: Storage, path: str) -> Any:
    """The file. Raises CassetteError where it is none, or is cut short."""
    arrow = load_module("pyarrow")
    file = storage.open_file(path)
    try:
        return load_module("pyarrow.parquet").ParquetFile(file, buffer_size=1 << 20)
    except (
        arrow.ArrowInvalid,
        arrow.ArrowNotImplementedError,
        OSError,
        UnicodeDecodeError,  # the name of a column
    ) as err:
        reason = str(err).partition("\n")[0].strip()
        message = f"no whole Parquet file: {reason}"
        raise CassetteError(message, place=Place(storage.shown(path))) from err


def _is_stream_file(storage: Storage, file: StoredFile) -> bool:
    """Whether a file of a folder is a recording: by its name, else by its first bytes."""
    if is_named_recording(Path(file.name)):
        return True
    try:
        with storage.local_copy(file.path, _BEGINNING) as local:
            return holds_recording(local)
    except ConformanceError:
        return False


def _of_files(files: list[StoredFile]) -> Fragment:
    listed = "\n".join(f"{each.path} {each.size} {each.changed}" for each in files)
    stamp = hashlib.blake2b(listed.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    paths = tuple(each.path for each in files)
    return Fragment("files", paths[0], 0, sum(each.size for each in files), paths, stamp)
