"""Every kind of file that holds recorded streams, in the order in which they are tried.

Kinds with characteristic first bytes come first, then those known by name; one JSON value is an
answer if no other kind takes it. Rows of `conformance.yaml` and kinds of other distributions come
after ours. Each is loaded only when its turn comes: a check of cassettes needs no other kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec.structs import replace

from conformance.cassette.cassette_kind import CASSETTE
from conformance.cassette.content import described_content
from conformance.cassette.importers import (
    ForeignFile,
    ImportedRecording,
    Importer,
    NothingJudgedError,
)
from conformance.core.errors import CassetteError


def read_file(file: ForeignFile) -> ImportedRecording:
    """What the first kind makes of the file that takes it. Raises CassetteError.

    Where none takes it, that is the fault of the first that called it broken. A recorder of ours
    that finds nothing to judge leaves the file to the rows of users, who know its shape better.
    """
    fault: CassetteError | None = None
    _ = file.data  # once, and its first bytes with it
    for kind in _candidate_kinds(file):
        if fault is not None and _is_last_resort(kind):
            break  # it would take broken files, too
        if isinstance(fault, NothingJudgedError) and _is_own(kind):
            continue
        try:
            found = kind.read(file)
        except CassetteError as err:
            if isinstance(err, NothingJudgedError) and _is_own(kind):
                fault = err
            elif _is_own(kind) and _is_of(kind, file):
                raise  # any later kind would know less about it
            else:
                fault = fault or err
            continue
        if found is not None:
            return replace(found, kind=kind.name)
    raise fault or _unknown_kind(file)


class Recognition(Enum):
    """What a look into a file says of it."""

    NO = "no recording"
    OF_NO_API = "a recording without an answer of an API that is judged"
    YES = "a recording"


def known_as(file: ForeignFile) -> Recognition:
    """What the kinds that are looked for in folders make of a file. Raises nothing.

    A file on which our own code fails is taken for a recording: who reads it says so.
    """
    found = Recognition.NO
    try:
        for kind in _candidate_kinds(file, in_folders=True):
            if kind.in_folders:
                try:
                    if kind.recognises(file):
                        return Recognition.YES
                except NothingJudgedError:
                    found = Recognition.OF_NO_API
    except CassetteError:
        return found
    except Exception:  # noqa: BLE001  # as above
        return Recognition.YES
    return found


def _is_own(kind: Importer) -> bool:
    from conformance.cassette.own_kinds import OWN  # noqa: PLC0415  # what a cassette does without

    return kind in OWN


def _is_last_resort(kind: Importer) -> bool:
    from conformance.cassette.importers.bodies import ANSWER  # noqa: PLC0415  # as above

    return kind is ANSWER


def _is_of(kind: Importer, file: ForeignFile) -> bool:
    try:
        return kind.recognises(file)
    except NothingJudgedError:
        return True


def all_kinds() -> tuple[Importer, ...]:
    """Ours, then those of other distributions."""
    from conformance.cassette.importers.bodies import ANSWER  # noqa: PLC0415  # as above
    from conformance.cassette.importers.registry import load_importers  # noqa: PLC0415  # 20 ms that few files need
    from conformance.cassette.own_kinds import OWN  # noqa: PLC0415  # as above

    return (*OWN, ANSWER, *_own_rows(), *load_importers())


def _candidate_kinds(file: ForeignFile, *, in_folders: bool = False) -> Iterator[Importer]:
    yield CASSETTE
    from conformance.cassette.importers.bodies import ANSWER  # noqa: PLC0415  # as above
    from conformance.cassette.own_kinds import OWN  # noqa: PLC0415  # as above

    yield from (kind for kind in OWN if kind is not CASSETTE and kind.may_read(file))
    if in_folders:
        yield ANSWER  # loading foreign kinds costs 20 ms, so only if no other kind knows the file
    from conformance.cassette.importers.registry import load_importers  # noqa: PLC0415  # as above

    others = (*_own_rows(), *load_importers())
    yield from (kind for kind in others if kind.may_read(file))
    yield ANSWER


def _own_rows() -> tuple[Importer, ...]:
    from conformance.cassette.importers.recorders.own_rows import own_importers  # noqa: PLC0415  # YAML

    return own_importers()


def _unknown_kind(file: ForeignFile) -> CassetteError:
    of_name = [kind for kind in all_kinds() if file.name.endswith(_own_suffixes(kind))]
    if expected := " or ".join(kind.expects for kind in of_name if kind.expects):
        return file.error(f"expected {expected}", line=1)
    if (found := described_content(file.data)) is not None:
        error = file.error(f"no answer of a model, but {found}")
        error.hint = "conformance list files says what is read"
        return error
    names = dict.fromkeys(suffix for kind in all_kinds() for suffix in _own_suffixes(kind))
    known = ", ".join(names)
    unknown = file.error(f"unknown kind of recording, expected {known}")
    unknown.hint = "conformance list files says what is read"
    return unknown


def _own_suffixes(kind: Importer) -> tuple[str, ...]:
    return tuple(suffix for suffix in kind.suffixes if suffix)
