"""Every kind of file that holds recorded streams, in the order in which they are asked.

What has first bytes of its own comes first; then what its name tells; one JSON value is an answer
if nobody else takes it. Kinds of other distributions are asked behind ours, and loaded only then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from conformance.cassette.importers import ForeignFile, ImportedRecording, Importer
from conformance.cassette.importers.bodies import ANSWER, EVENTS, LINES, MESSAGES, PAYLOADS, TEXT
from conformance.cassette.importers.chunk_lists import ARRAY, TIMED
from conformance.cassette.importers.curl_head import IMPORTER as CURL_HEAD
from conformance.cassette.importers.curl_trace import IMPORTER as CURL_TRACE
from conformance.cassette.importers.har import IMPORTER as HAR
from conformance.cassette.importers.mitmproxy import IMPORTER as MITMPROXY
from conformance.cassette.importers.ogx import IMPORTER as OGX
from conformance.cassette.importers.opal import IMPORTER as OPAL
from conformance.cassette.importers.vcr import IMPORTER as VCR
from conformance.cassette.read import read
from conformance.core.errors import CassetteError

_HEADER: Final = b'{"cassette":'
_CERTAIN: Final = (".sse", ".ndjson", ".eventstream", ".eventstream.bin")


def _is_cassette(file: ForeignFile) -> bool:
    """By its name, or by its first line where the name leaves it open. Raises CassetteError."""
    if is_named(file.name):
        return file.name.endswith(CASSETTE.suffixes[0])
    return file.head.lstrip().replace(b" ", b"").startswith(_HEADER)


def _read_cassette(file: ForeignFile) -> ImportedRecording | None:
    return ImportedRecording(read(file.path)) if _is_cassette(file) else None


CASSETTE: Final = Importer(
    "cassette",
    (".cassette.jsonl", ""),
    _is_cassette,
    _read_cassette,
    says="a cassette: exchanges with requests, chunks and times, exact to the byte",
)
OWN: Final = (
    *(CASSETTE, CURL_TRACE, CURL_HEAD, EVENTS, TIMED, LINES, PAYLOADS, MESSAGES),
    *(HAR, VCR, OPAL, OGX, ARRAY, MITMPROXY, TEXT),
)
"""Our own kinds but for the last resort."""


def is_named(name: str) -> bool:
    """Whether a name (in lower case, without `.gz`) says by itself that a file holds streams."""
    return name.endswith((CASSETTE.suffixes[0], *_CERTAIN))


def read_file(file: ForeignFile) -> ImportedRecording:
    """What the first kind makes of the file that takes it. Raises CassetteError.

    Where none takes it, that is the fault of the first that called it broken.
    """
    fault: CassetteError | None = None
    _ = file.data  # once, and its first bytes with it
    for kind in _asked_kinds(file):
        if kind is ANSWER and fault is not None:
            break  # it would take what is broken, too
        try:
            found = kind.read(file)
        except CassetteError as err:
            if kind in OWN and kind.recognises(file):
                raise  # whoever else would take it knows less of it
            fault = fault or err
            continue
        if found is not None:
            return replace(found, kind=kind.name)
    raise fault or _unknown_kind(file)


def is_known(file: ForeignFile) -> bool:
    """Whether a kind that is looked for in folders recognises the file. Raises nothing.

    A file on which our own code fails is taken for one: who reads it says so.
    """
    try:
        return any(
            kind.recognises(file) for kind in _asked_kinds(file, in_folders=True) if kind.in_folders
        )
    except CassetteError:
        return False
    except Exception:  # noqa: BLE001  # as above
        return True


def all_kinds() -> tuple[Importer, ...]:
    """Ours, then those of other distributions."""
    from conformance.cassette.importers.registry import load_importers  # noqa: PLC0415  # 20 ms that few files need

    return (*OWN, ANSWER, *load_importers())


def _asked_kinds(file: ForeignFile, *, in_folders: bool = False) -> Iterator[Importer]:
    yield from (kind for kind in OWN if kind.may_read(file))
    if in_folders:
        yield ANSWER  # for strangers 20 ms are spent where nobody else knows the file
    from conformance.cassette.importers.registry import load_importers  # noqa: PLC0415  # as above

    yield from (kind for kind in load_importers() if kind.may_read(file))
    yield ANSWER


def _unknown_kind(file: ForeignFile) -> CassetteError:
    of_name = [kind for kind in all_kinds() if file.name.endswith(_own_suffixes(kind))]
    if expected := " or ".join(kind.expects for kind in of_name if kind.expects):
        return file.error(f"expected {expected}", line=1)
    names = dict.fromkeys(suffix for kind in all_kinds() for suffix in _own_suffixes(kind))
    known = ", ".join(names)
    unknown = file.error(f"unknown kind of recording, expected {known}")
    unknown.hint = "conformance list files says what is read"
    return unknown


def _own_suffixes(kind: Importer) -> tuple[str, ...]:
    return tuple(suffix for suffix in kind.suffixes if suffix)
