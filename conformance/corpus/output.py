"""The output folder of a corpus check: its description, and a file per fragment and table.

`corpus.json` names the judged source and the options. `verdicts/NAME.parquet` is the last of a
fragment's files to be written: if it exists, the fragment is done. Files are written under another
name and then moved, so none is ever incomplete.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from conformance.core.errors import Place, UsageError
from conformance.corpus.arrow import load_module
from conformance.corpus.fragments import Fragment
from conformance.corpus.judge import JudgeChoices
from conformance.corpus.storage import ABOUT, reason_of
from conformance.corpus.tables import IS_WHOLE, STAMP, TABLES, table_schema

FORM: Final = 1
ID_COLUMNS: Final = ("id", "view", "exchange")
_DRAFT: Final = ".draft"
_SUFFIX: Final = ".parquet"
_LOCK: Final = ".lock"
# What a check leaves that ended before it had written what it is of: another one goes on there.
_BEGUN: Final = frozenset({_LOCK, f".{ABOUT}{_DRAFT}"})


class CorpusAbout(Struct, frozen=True):
    """What an output folder is of: `toolkit` is its version, `rules` a hash of those that judged.

    `corpus` is the version of the folder's form.
    """

    source: str
    choices: JudgeChoices
    toolkit: str
    rules: str
    is_complete: bool = False
    corpus: int = FORM


class CorpusOutput:
    """An output folder, for one check at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: int | None = None

    def begin(self, about: CorpusAbout) -> None:
        """Makes the folder, or continues in it. Raises UsageError where it is of another corpus."""
        try:
            if (self.folder / ABOUT).exists():
                self._expect_same(read_about(self.folder), about)
            elif self.folder.is_dir() and {each.name for each in self.folder.iterdir()} - _BEGUN:
                raise self._error("the folder is not empty, and no output of a corpus")
            self.folder.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            self._write_about(about)
            for table in TABLES:
                (self.folder / table).mkdir(exist_ok=True)
                for draft in (self.folder / table).glob(f"*{_DRAFT}"):
                    draft.unlink(missing_ok=True)
        except OSError as err:
            self.close()
            raise self._error(_write_fault(err)) from err

    def finish(self, about: CorpusAbout, names: Collection[str]) -> int:
        """Says that all is there; takes away files of fragments that the source has no more."""
        stale = [
            file
            for table in reversed(TABLES)
            for file in (self.folder / table).glob(f"*{_SUFFIX}")
            if file.stem not in names
        ]
        for file in stale:
            file.unlink(missing_ok=True)
        try:
            self._write_about(msgspec.structs.replace(about, is_complete=True))
        except OSError as err:
            raise self._error(_write_fault(err)) from err
        return sum(file.parent.name == TABLES[0] for file in stale)

    def is_done(self, fragment: Fragment) -> bool:
        """Whether the fragment was judged as a whole, and its source has not changed since."""
        file = self._file(TABLES[0], fragment.name)
        if not file.exists():
            return False
        arrow = load_module("pyarrow")
        try:
            about = load_module("pyarrow.parquet").read_schema(file).metadata or {}
        except (arrow.ArrowInvalid, OSError):
            return False
        return about.get(STAMP) == fragment.stamp.encode() and about.get(IS_WHOLE) == b"1"

    def write_fragment(self, fragment: Fragment, tables: Mapping[str, bytes]) -> None:
        """Writes what came of a fragment, the verdicts last. Raises UsageError."""
        try:
            for table in reversed(TABLES):
                file = self._file(table, fragment.name)
                if table in tables:
                    self._write(file, tables[table])
                else:
                    file.unlink(missing_ok=True)
        except OSError as err:
            raise self._error(_write_fault(err)) from err

    def _file(self, table: str, name: str) -> Path:
        return self.folder / table / f"{name}{_SUFFIX}"

    def _write_about(self, about: CorpusAbout) -> None:
        self._write(self.folder / ABOUT, msgspec.json.format(msgspec.json.encode(about)))

    def _write(self, file: Path, data: bytes) -> None:
        draft = file.with_name(f".{file.name}{_DRAFT}")
        try:
            with draft.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            draft.replace(file)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def _take_lock(self) -> None:
        """The folder is written by one process at a time; the lock goes with the process."""
        try:
            import fcntl  # noqa: PLC0415  # not on Windows
        except ImportError:
            return
        self._lock = os.open(self.folder / _LOCK, os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as err:
            self.close()
            if err.errno in (errno.EAGAIN, errno.EACCES):
                raise self._error("another check is writing there") from err

    def close(self) -> None:
        """Lets another check have the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _expect_same(self, known: CorpusAbout, wanted: CorpusAbout) -> None:
        for name, before, now in (
            ("source", known.source, wanted.source),
            ("options", known.choices, wanted.choices),
            ("version", known.toolkit, wanted.toolkit),
            ("rules", known.rules, wanted.rules),
        ):
            if before != now:
                difference = f"of {before}" if name == "source" else f"by other {name}"
                hint = "name another folder"
                raise UsageError(
                    f"holds the verdicts of another corpus: {difference}",
                    place=self._place(),
                    hint=hint,
                )

    def _error(self, message: str) -> UsageError:
        return UsageError(message, place=self._place())

    def _place(self) -> Place:
        return Place(str(self.folder))


def read_about(folder: Path) -> CorpusAbout:
    """The description of a folder. Raises UsageError if it is not the output of a corpus check."""
    file = folder / ABOUT
    try:
        about = msgspec.json.decode(file.read_bytes(), type=CorpusAbout)
    except (FileNotFoundError, NotADirectoryError) as err:
        place = Place(str(folder))
        raise UsageError("is no output of a corpus: it has no corpus.json", place=place) from err
    except OSError as err:
        raise UsageError(f"cannot be read: {reason_of(err)}", place=Place(str(file))) from err
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        message = f"is no output of a corpus that this version reads: {err}"
        raise UsageError(message, place=Place(str(file))) from err
    if about.corpus != FORM:
        message = f"is of form {about.corpus}, this version reads {FORM}"
        raise UsageError(message, place=Place(str(file)))
    return about


def table_files(folder: Path, table: str) -> Iterator[Path]:
    """The files of a table, of fragments that are done, sorted."""
    for verdicts in sorted((folder / TABLES[0]).glob(f"*{_SUFFIX}")):
        file = folder / table / verdicts.name
        if table == TABLES[0] or file.exists():
            yield file


def read_table(folder: Path, table: str, columns: Collection[str]) -> Any:
    """Some columns of a table, of all fragments that are done.

    Words are strings: dictionaries of many files are grouped badly. Kept columns are words.
    """
    arrow = load_module("pyarrow")
    parquet = load_module("pyarrow.parquet")
    kinds = {each.name: each.type for each in table_schema(table)}
    is_word = load_module("pyarrow.types").is_dictionary
    schema = arrow.schema(
        [
            (name, arrow.string() if name not in kinds or is_word(kinds[name]) else kinds[name])
            for name in columns
        ]
    )
    parts = [
        parquet.read_table(file, columns=list(columns), partitioning=None)
        for file in table_files(folder, table)
    ]
    whole = [part.replace_schema_metadata(None).cast(schema) for part in parts]
    return arrow.concat_tables(whole) if whole else schema.empty_table()


def _write_fault(error: OSError) -> str:
    return f"cannot be written: {reason_of(error)}"


def repeated_ids(verdicts: Any) -> tuple[tuple[str, int], ...]:
    """Ids that several rows of the source have, and how many; an exchange counts once.

    Equal ids would make a corpus ambiguous.
    """
    compute = load_module("pyarrow.compute")
    first = compute.and_(
        compute.equal(verdicts["view"], "wire"), compute.equal(verdicts["exchange"], 1)
    )
    counted = compute.value_counts(verdicts["id"].filter(first))
    several = counted.filter(compute.greater(counted.field(1), 1))
    return tuple(sorted((each["values"], each["counts"]) for each in several.to_pylist()))
